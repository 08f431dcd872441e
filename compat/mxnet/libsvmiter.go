package mxnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// LibSVMParams are the parameters of NewLibSVMIter. ParseLibSVMParams takes
// them under MXNet's names, which are the fields' tags. DefaultLibSVMParams
// returns the defaults.
type LibSVMParams struct {
	// DataLibSVM is a file, or a folder of files, which are read in the order
	// of their names. A line is a row: a label, and for each feature its index
	// from 0 and its value, as in "1.5 0:0.25 7:2". A label's weight (1.5:2), a
	// query (qid:7) and text after # are ignored.
	DataLibSVM string       `mxnet:"data_libsvm"`
	DataShape  tensor.Shape `mxnet:"data_shape"` // one axis: the number of features
	// LabelLibSVM is the same for labels. The features of its rows are the
	// labels, and LabelShape is their number, 2 or more. It must have at least
	// as many rows as the data; more are ignored. Empty or "NULL": the label of
	// a row is that in DataLibSVM, and LabelShape is (1,).
	LabelLibSVM string       `mxnet:"label_libsvm"`
	LabelShape  tensor.Shape `mxnet:"label_shape"`
	// NumParts divides the data into parts, by bytes as dmlc-core does, and
	// PartIndex selects one of them.
	NumParts  int `mxnet:"num_parts"`
	PartIndex int `mxnet:"part_index"`
	BatchSize int `mxnet:"batch_size"`
	// RoundBatch completes the last batch with rows from the beginning of the
	// part. It must be true, as in MXNet.
	RoundBatch bool `mxnet:"round_batch"`
	// PrefetchBuffer is the number of batches read ahead with Context "gpu".
	// Default 4; 0 to 1024.
	PrefetchBuffer int `mxnet:"prefetch_buffer"`
	// Context is "gpu" to read ahead in goroutines, or "cpu" to read within
	// Next.
	Context string       `mxnet:"ctx"`
	DType   tensor.DType `mxnet:"dtype"` // must be Float32 (None is float32)
	// Store opens the files. Default: store.Local. It has no name in MXNet.
	Store store.Opener
}

// DefaultLibSVMParams returns MXNet's defaults: label_shape (1,), round_batch,
// prefetch_buffer 4, ctx gpu. DataLibSVM, DataShape and BatchSize are required.
func DefaultLibSVMParams() LibSVMParams {
	return LibSVMParams{
		LabelLibSVM: "NULL", LabelShape: tensor.Dims(1), NumParts: 1, RoundBatch: true, PrefetchBuffer: 4, Context: "gpu", DType: tensor.Float32,
	}
}

const libSVMIter = "LibSVMIter"

var libSVMParamSet = newParamSet[LibSVMParams](libSVMIter, paramSet{
	required: []string{"data_libsvm", "data_shape", "batch_size"},
	wants: map[string]string{
		"data_libsvm": "a file or a folder", "data_shape": "the number of features, as in (100,)",
		"label_shape": "(1,) without label_libsvm, and otherwise the number of labels, as in (5,), 2 or more",
		"part_index":  wantPart, "round_batch": "True", "ctx": wantContext, "dtype": "None or float32",
	},
	ranges: map[string][2]float64{"batch_size": {1, maxBatch}, "num_parts": {1, 1 << 24}, "prefetch_buffer": {0, maxPrefetch}},
})

// ParseLibSVMParams parses parameters under MXNet's names, in the text forms of
// MXNet's C interface. Missing ones have the defaults of DefaultLibSVMParams.
// Its error is a *ParamError; for an unknown name it suggests the closest known
// one.
func ParseLibSVMParams(kwargs map[string]string) (LibSVMParams, error) {
	p := DefaultLibSVMParams()
	if err := libSVMParamSet.parse(&p, kwargs); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// sparseLabels reports whether the labels are in a file of their own.
func (p *LibSVMParams) sparseLabels() bool { return p.LabelLibSVM != "" && p.LabelLibSVM != "NULL" }

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p LibSVMParams) Validate() error {
	if err := libSVMParamSet.check(p); err != nil {
		return err
	}
	name := ""
	bad := func(s tensor.Shape) bool { return s.Rank() != 1 || s.At(0) < 1 || int64(s.At(0)) > math.MaxInt32 }
	switch {
	case p.DataLibSVM == "":
		name = "data_libsvm"
	case bad(p.DataShape):
		name = "data_shape"
	case bad(p.LabelShape) || p.sparseLabels() != (p.LabelShape.At(0) > 1):
		name = "label_shape"
	case p.PartIndex < 0 || p.PartIndex >= p.NumParts:
		name = "part_index"
	case !p.RoundBatch:
		name = "round_batch"
	case p.Context != "cpu" && p.Context != "gpu":
		name = "ctx"
	case p.DType != tensor.Float32:
		name = "dtype"
	default:
		return nil
	}
	return libSVMParamSet.fail(p, name)
}

// CSR is a matrix of float32 in compressed sparse rows. (MXNet:
// mx.nd.sparse.CSRNDArray.)
type CSR struct {
	Columns int       // of the matrix
	Data    []float32 // the values of all rows
	Indices []int64   // the column of each value, in the order of the file
	// Indptr has one element more than the matrix has rows: row i has the
	// values from Indptr[i] to Indptr[i+1].
	Indptr []int64
}

// Rows returns the number of rows.
func (m *CSR) Rows() int { return max(len(m.Indptr)-1, 0) }

// Dense makes t the matrix as a dense tensor. Of several values in one place
// the last one counts.
func (m *CSR) Dense(t *tensor.Tensor) error {
	if err := t.Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(m.Rows(), m.Columns)}); err != nil {
		return err
	}
	v := tensor.View[float32](t)
	clear(v)
	for i := range m.Rows() {
		row := v[i*m.Columns:][:m.Columns]
		for k := m.Indptr[i]; k < m.Indptr[i+1]; k++ {
			row[m.Indices[k]] = m.Data[k]
		}
	}
	return nil
}

// reset removes all rows.
func (m *CSR) reset() {
	m.Data, m.Indices, m.Indptr = m.Data[:0], m.Indices[:0], append(m.Indptr[:0], 0)
}

// The rows of a dataset hold features as int64: the index in the upper half,
// the bits of the value in the lower one.
func feature(index int64, value float32) int64 { return index<<32 | int64(math.Float32bits(value)) }

// add appends a row of features.
func (m *CSR) add(row []int64) {
	for _, f := range row {
		m.Indices, m.Data = append(m.Indices, f>>32), append(m.Data, math.Float32frombits(uint32(f)))
	}
	m.Indptr = append(m.Indptr, int64(len(m.Data)))
}

// CSRBatch is a batch of sparse rows.
type CSRBatch struct {
	Data   *CSR
	Label  *CSR      // nil without label_libsvm
	Labels []float32 // one for each row; nil with label_libsvm
	Pad    int       // as in DataBatch
	Index  []int64   // of the rows in the part
}

// LibSVMIter iterates over batches of sparse rows in LibSVM files. NextCSR
// returns a batch as MXNet has it. Next returns the same batch as dense
// tensors, which take the memory of all features: batch_size times data_shape.
// Its inputs are "data" and "softmax_label"; without label_libsvm the latter
// has only the batch's axis. (MXNet: mx.io.LibSVMIter.)
type LibSVMIter struct {
	data, label []DataDesc
	size        int
	built       *dataset.Built
	run         Runner
	batch       CSRBatch
	first       CSRBatch // the first rows of the epoch, as many as its last batch may need
	keep        int      // number of them
	dense       DataBatch
	tensors     [2]tensor.Tensor
	ended       error
}

// NewLibSVMIter opens the files and reads them once to index their lines, with
// 8 bytes per row. Numbers are parsed when their row is read. An error of a
// parameter is a *ParamError. An error of data wraps dataset.ErrData and states
// the file and line.
func NewLibSVMIter(ctx context.Context, p LibSVMParams) (*LibSVMIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n, labels := p.DataShape.At(0), p.LabelShape.At(0)
	it := &LibSVMIter{size: p.BatchSize}
	it.data = []DataDesc{{Name: "data", Shape: tensor.Dims(p.BatchSize, n), DType: tensor.Float32, Layout: "NCHW"}}
	it.label = []DataDesc{{Name: "softmax_label", Shape: tensor.Dims(p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}}
	it.batch.Data, it.first.Data = &CSR{Columns: n}, &CSR{Columns: n}
	if p.sparseLabels() {
		it.label[0].Shape = tensor.Dims(p.BatchSize, labels)
		it.batch.Label, it.first.Label = &CSR{Columns: labels}, &CSR{Columns: labels}
	}
	r := &libSVMRows{features: n, labels: labels}
	files := localIfNil(p.Store)
	var err error
	if r.data, err = openLines(ctx, files, libSVMIter, p.DataLibSVM, true); err != nil {
		return nil, err
	}
	if r.from, r.to, err = r.data.part(ctx, files, p.PartIndex, p.NumParts); err != nil {
		return nil, errors.Join(fmt.Errorf("mxnet: %s: %w", libSVMIter, err), r.Close())
	}
	if p.sparseLabels() {
		if r.label, err = openLines(ctx, files, libSVMIter, p.LabelLibSVM, true); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if r.label.len() < r.data.len() {
			return nil, errors.Join(fmt.Errorf("mxnet: %s: %w: %d rows of labels in %s, want at least the %d rows of %s",
				libSVMIter, dataset.ErrData, r.label.len(), p.LabelLibSVM, r.data.len(), p.DataLibSVM), r.Close())
		}
	}
	if short := r.Len() % int64(p.BatchSize); short > 0 {
		it.keep = int(min(int64(p.BatchSize)-short, r.Len()))
	}
	// Build closes r if it fails.
	if it.built, err = dataset.Build(ctx, dataset.From(&source{r}).Batch(p.BatchSize), dataset.Options{}); err != nil {
		return nil, err
	}
	if it.run, err = engineOf(p.Context, p.PrefetchBuffer)(it.built); err != nil {
		return nil, errors.Join(err, it.built.Close())
	}
	return it, nil
}

// ProvideData describes the batches' data, as Next returns them.
func (it *LibSVMIter) ProvideData() []DataDesc { return it.data }

// ProvideLabel describes the batches' labels, as Next returns them.
func (it *LibSVMIter) ProvideLabel() []DataDesc { return it.label }

// NextCSR returns the next batch, as Next does. The batch is valid until the
// next call of Next, NextCSR, Reset or Close.
func (it *LibSVMIter) NextCSR(ctx context.Context) (*CSRBatch, error) {
	if it.ended != nil {
		return nil, it.ended
	}
	if err := ctx.Err(); err != nil { // the run's Next would end it
		return nil, err
	}
	s, err := it.run.Next(ctx)
	if err != nil {
		if err == io.EOF {
			it.ended = err
		}
		return nil, err
	}
	b := &it.batch
	b.Pad, b.Index = 0, append(b.Index[:0], tensor.View[int64](&s.Values[libSVMRow].Tensor)...)
	n := len(b.Index)
	fill := func(m *CSR, values, counts int) {
		all := tensor.View[int64](&s.Values[values].Tensor)
		m.reset()
		for _, c := range tensor.View[int64](&s.Values[counts].Tensor) {
			m.add(all[:c])
			all = all[c:]
		}
	}
	fill(b.Data, libSVMData, libSVMCount)
	if b.Label != nil {
		fill(b.Label, libSVMLabel, libSVMLabels)
	} else {
		b.Labels = append(b.Labels[:0], tensor.View[float32](&s.Values[libSVMLabel].Tensor)...)
	}
	f := &it.first
	for i := 0; i < n && len(f.Index) < it.keep; i++ {
		f.take(b, i)
	}
	for k := 0; len(b.Index) < it.size; k++ {
		b.take(f, k%len(f.Index))
		b.Pad++
	}
	return b, nil
}

// take appends row i of another batch.
func (b *CSRBatch) take(from *CSRBatch, i int) {
	b.Index = append(b.Index, from.Index[i])
	b.Data.take(from.Data, i)
	if b.Label != nil {
		b.Label.take(from.Label, i)
	} else {
		b.Labels = append(b.Labels, from.Labels[i])
	}
}

// take appends row i of another matrix.
func (m *CSR) take(from *CSR, i int) {
	if len(m.Indptr) == 0 {
		m.reset()
	}
	a, b := from.Indptr[i], from.Indptr[i+1]
	m.Indices, m.Data = append(m.Indices, from.Indices[a:b]...), append(m.Data, from.Data[a:b]...)
	m.Indptr = append(m.Indptr, int64(len(m.Data)))
}

// Next returns the next batch as dense tensors; see DataIter.
func (it *LibSVMIter) Next(ctx context.Context) (*DataBatch, error) {
	b, err := it.NextCSR(ctx)
	if err != nil {
		return nil, err
	}
	t := &it.tensors
	if err = b.Data.Dense(&t[0]); err == nil {
		if b.Label != nil {
			err = b.Label.Dense(&t[1])
		} else if err = t[1].Reset(it.label[0].desc()); err == nil {
			copy(tensor.View[float32](&t[1]), b.Labels)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", libSVMIter, err)
	}
	it.dense = DataBatch{Data: []*tensor.Tensor{&t[0]}, Label: []*tensor.Tensor{&t[1]}, Pad: b.Pad, Index: b.Index}
	return &it.dense, nil
}

// Reset starts the next epoch.
func (it *LibSVMIter) Reset() error {
	if it.ended == dataset.ErrClosed {
		return it.ended
	}
	it.ended = nil
	it.first.clear()
	return it.run.NextEpoch()
}

// clear removes all rows.
func (b *CSRBatch) clear() {
	b.Index, b.Labels = b.Index[:0], b.Labels[:0]
	b.Data.reset()
	if b.Label != nil {
		b.Label.reset()
	}
}

// Close ends the iterator.
func (it *LibSVMIter) Close() error {
	if it.ended == dataset.ErrClosed {
		return nil
	}
	it.ended = dataset.ErrClosed
	return errors.Join(it.run.Close(), it.built.Close())
}

// The columns of libSVMRows.
const (
	libSVMData   = iota // features
	libSVMCount         // their number
	libSVMLabel         // a number, or features
	libSVMLabels        // their number, 0 for a number
	libSVMRow           // the row
)

// libSVMRows is the rows of a part, with their labels.
type libSVMRows struct {
	features, labels int
	from, to         int64
	data, label      *lineFiles // label is nil if data has the labels
}

func (r *libSVMRows) Columns() []dataset.Column {
	features := tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(tensor.Unknown)}
	concat := datagraph.Batching{Rule: datagraph.BatchConcat}
	label := dataset.Column{Name: "label", Desc: tensor.Desc{DType: tensor.Float32}}
	if r.label != nil {
		label = dataset.Column{Name: "label", Desc: features, Batch: concat}
	}
	return []dataset.Column{
		{Name: "data", Desc: features, Batch: concat}, {Name: "count", Desc: rowDesc}, label, {Name: "labels", Desc: rowDesc}, {Name: "row", Desc: rowDesc},
	}
}

func (r *libSVMRows) Len() int64 { return r.to - r.from }

func (r *libSVMRows) Close() error {
	err := r.data.close()
	if r.label != nil {
		err = errors.Join(err, r.label.close())
	}
	return err
}

func (r *libSVMRows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= r.Len() {
		return fmt.Errorf("mxnet: %s: %w: row %d of %d", libSVMIter, dataset.ErrParam, i, r.Len())
	}
	i += r.from
	s.Key = r.data.key(i)
	var label float32
	if err := r.data.read(i, func(line []byte) (err error) {
		label, err = parseFeatures(line, r.features, &s.Values[libSVMData], &s.Values[libSVMCount])
		return err
	}); err != nil {
		return err
	}
	if r.label != nil {
		err := r.label.read(i, func(line []byte) (err error) {
			_, err = parseFeatures(line, r.labels, &s.Values[libSVMLabel], &s.Values[libSVMLabels])
			return err
		})
		if err != nil {
			return err
		}
	} else {
		if err := s.Values[libSVMLabel].Reset(tensor.Desc{DType: tensor.Float32}); err != nil {
			return err
		}
		tensor.View[float32](&s.Values[libSVMLabel].Tensor)[0] = label
		if err := setRow(&s.Values[libSVMLabels], 0); err != nil {
			return err
		}
	}
	return setRow(&s.Values[libSVMRow], i-r.from)
}

// parseFeatures parses a line: its label, and its features, of n.
func parseFeatures(line []byte, n int, to, count *dataset.Value) (label float32, err error) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	field, line := cutField(line)
	value, weight, has := bytes.Cut(field, colon)
	if label, err = parseFloat(string(value)); err == nil && has {
		_, err = parseFloat(string(weight))
	}
	if err != nil {
		return 0, fmt.Errorf("label %q, want a number: %w", field, err)
	}
	most := bytes.Count(line, colon)
	if err := to.Reset(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(most)}); err != nil {
		return 0, err
	}
	l := tensor.View[int64](&to.Tensor)
	k := 0
	for i := 1; ; i++ {
		if field, line = cutField(line); len(field) == 0 {
			break
		}
		if i == 1 && bytes.HasPrefix(field, []byte("qid:")) {
			continue
		}
		f, err := parseFeature(field, n)
		if err != nil {
			return 0, fmt.Errorf("field %d: %q, want an index below %d, a colon and a number: %w", i+1, field, n, err)
		}
		l[k] = f
		k++
	}
	if k < most {
		t, err := to.Tensor.Slice(0, 0, k)
		if err != nil {
			return 0, err
		}
		to.Tensor = *t
	}
	return label, setRow(count, int64(k))
}

var colon = []byte(":")

// cutField cuts the first field off a line. Spaces separate fields.
func cutField(line []byte) (field, rest []byte) {
	line = bytes.TrimLeft(line, " \t\f\r")
	if i := bytes.IndexAny(line, " \t\f\r"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

// parseFeature parses an index and a value.
func parseFeature(b []byte, n int) (int64, error) {
	index, value, ok := bytes.Cut(b, colon)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	i, err := strconv.ParseUint(string(index), 10, 32)
	if err != nil {
		return 0, cause(err)
	}
	if i >= uint64(n) {
		return 0, strconv.ErrRange
	}
	v, err := parseFloat(string(value))
	return feature(int64(i), v), err
}
