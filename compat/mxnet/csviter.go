package mxnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// CSVParams are the parameters of NewCSVIter. ParseCSVParams takes them under
// MXNet's names, which are the fields' tags. DefaultCSVParams returns the
// defaults.
type CSVParams struct {
	// DataCSV is a file, or a folder of files, which are read in the order of
	// their names. Each line has one row: numbers separated by commas.
	DataCSV string `mxnet:"data_csv"`
	// DataShape is the shape of a row; every line must have as many numbers.
	DataShape tensor.Shape `mxnet:"data_shape"`
	// LabelCSV is the same for labels. It must have at least as many rows as
	// the data; more are ignored. Empty or "NULL": all labels are 0.
	LabelCSV   string       `mxnet:"label_csv"`
	LabelShape tensor.Shape `mxnet:"label_shape"`
	BatchSize  int          `mxnet:"batch_size"`
	// RoundBatch completes the last batch with rows from the beginning of the
	// data. Otherwise zeros complete it. Pad counts both.
	RoundBatch bool `mxnet:"round_batch"`
	// PrefetchBuffer is the number of batches read ahead with Context "gpu".
	// Default 4; 0 to 1024.
	PrefetchBuffer int `mxnet:"prefetch_buffer"`
	// Context is "gpu" to read ahead in goroutines, or "cpu" to read within
	// Next.
	Context string `mxnet:"ctx"`
	// DType is the type of data and labels: Float32, Int32 or Int64. (None is
	// float32.)
	DType tensor.DType `mxnet:"dtype"`
	// Store opens the files. Default: store.Local. It has no name in MXNet.
	Store store.Opener
}

// DefaultCSVParams returns MXNet's defaults: label_shape (1,), round_batch,
// prefetch_buffer 4, ctx gpu and float32. DataCSV, DataShape and BatchSize are
// required.
func DefaultCSVParams() CSVParams {
	return CSVParams{LabelShape: tensor.Dims(1), RoundBatch: true, PrefetchBuffer: 4, Context: "gpu", DType: tensor.Float32}
}

const csvIter = "CSVIter"

var csvParamSet = newParamSet[CSVParams](csvIter, paramSet{
	required: []string{"data_csv", "data_shape", "batch_size"},
	wants: map[string]string{
		"data_csv": "a file or a folder", "data_shape": wantShape, "label_shape": wantShape,
		"ctx": wantContext, "dtype": wantDType,
	},
	ranges: map[string][2]float64{"batch_size": {1, maxBatch}, "prefetch_buffer": {0, maxPrefetch}},
})

const (
	wantShape   = "the sizes of 1 to 7 axes, as in (3, 2)"
	wantContext = "cpu or gpu"
	wantDType   = "None, float32, int32 or int64"
)

var (
	wantBatch    = fmt.Sprintf("1 to %d", maxBatch)
	wantPrefetch = fmt.Sprintf("0 to %d", maxPrefetch)
)

// maxPrefetch is the most batches that package pipeline prefetches.
const maxPrefetch = 1024

// ParseCSVParams parses parameters under MXNet's names, in the text forms of
// MXNet's C interface. Missing ones have the defaults of DefaultCSVParams. Its
// error is a *ParamError; for an unknown name it suggests the closest known
// one.
func ParseCSVParams(kwargs map[string]string) (CSVParams, error) {
	p := DefaultCSVParams()
	if err := csvParamSet.parse(&p, kwargs); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p CSVParams) Validate() error {
	badShape := func(s tensor.Shape) bool {
		return s.Rank() == 0 || s.Rank() == tensor.MaxRank || s.Len() < 1 || s.Len() > maxRow
	}
	name := ""
	switch {
	case p.DataCSV == "":
		name = "data_csv"
	case badShape(p.DataShape):
		name = "data_shape"
	case badShape(p.LabelShape):
		name = "label_shape"
	case p.Context != "cpu" && p.Context != "gpu":
		name = "ctx"
	case p.DType != tensor.Float32 && p.DType != tensor.Int32 && p.DType != tensor.Int64:
		name = "dtype"
	default:
		return csvParamSet.check(p)
	}
	return csvParamSet.fail(p, name)
}

// maxRow bounds the numbers of a row.
const maxRow = 1 << 28

// CSVIter iterates over batches of the rows of CSV files. Its inputs are "data"
// and "softmax_label"; if a label is one number, the latter has only the
// batch's axis. The package comment lists the differences from mx.io.CSVIter.
//
// Lines end with LF or CR LF. Empty lines, a byte order mark and spaces around
// numbers are ignored. Quotes, comments and headers are not supported. Numbers
// are decimal. Those of float32 are rounded to the nearest; MXNet's are
// sometimes one bit off, and tiny ones become the smallest normal number.
type CSVIter struct{ *rowIter }

// NewCSVIter opens the files and reads them once to index their lines, with 8
// bytes per row. Numbers are parsed when their row is read. An error of a
// parameter is a *ParamError. An error of data wraps dataset.ErrData and states
// the file and line.
func NewCSVIter(ctx context.Context, p CSVParams) (*CSVIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	data := DataDesc{Name: "data", Shape: with(p.DataShape, 0, p.BatchSize), DType: p.DType, Layout: "NCHW"}
	label := DataDesc{Name: "softmax_label", Shape: with(p.LabelShape, 0, p.BatchSize), DType: p.DType, Layout: "NCHW"}
	if p.LabelShape.Len() == 1 {
		label.Shape = tensor.Dims(p.BatchSize)
	}
	c := &csvRows{columns: columns([]DataDesc{data}, []DataDesc{label})}
	var err error
	if c.data, err = openLines(ctx, localIfNil(p.Store), csvIter, p.DataCSV, false); err != nil {
		return nil, err
	}
	if p.LabelCSV != "" && p.LabelCSV != "NULL" {
		if c.label, err = openLines(ctx, localIfNil(p.Store), csvIter, p.LabelCSV, false); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		if c.label.len() < c.data.len() {
			return nil, errors.Join(fmt.Errorf("mxnet: CSVIter: %w: %d rows of labels in %s, want at least the %d rows of %s",
				dataset.ErrData, c.label.len(), p.LabelCSV, c.data.len(), p.DataCSV), c.Close())
		}
	}
	how := lastZero
	if p.RoundBatch {
		how = lastPad
	}
	it, err := newRowIter(ctx, c, []DataDesc{data}, []DataDesc{label}, rowOptions{
		size: p.BatchSize, last: how, blocks: readsAhead(p.Context, p.PrefetchBuffer), engine: engineOf(p.Context, p.PrefetchBuffer),
	})
	if err != nil {
		return nil, err
	}
	return &CSVIter{it}, nil
}

// csvRows is the rows of data and labels.
type csvRows struct {
	columns     []dataset.Column
	data, label *lineFiles // label is nil for zeros
}

func (c *csvRows) Columns() []dataset.Column { return c.columns }

func (c *csvRows) Len() int64 { return c.data.len() }

func (c *csvRows) Close() error {
	err := c.data.close()
	if c.label != nil {
		err = errors.Join(err, c.label.close())
	}
	return err
}

func (c *csvRows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= c.Len() {
		return fmt.Errorf("mxnet: CSVIter: %w: row %d of %d", dataset.ErrParam, i, c.Len())
	}
	s.Key = c.data.key(i)
	for j := range 2 {
		if err := s.Values[j].Reset(c.columns[j].Desc); err != nil {
			return err
		}
	}
	if err := c.data.read(i, func(line []byte) error { return parse(line, &s.Column("data").Tensor) }); err != nil {
		return err
	}
	if c.label == nil {
		clear(s.Column("softmax_label").Data)
	} else if err := c.label.read(i, func(line []byte) error { return parse(line, &s.Column("softmax_label").Tensor) }); err != nil {
		return err
	}
	return setRow(&s.Values[2], i)
}

// parse reads the numbers of a line.
func parse(line []byte, t *tensor.Tensor) error {
	want := int(t.Len())
	if n := bytes.Count(line, []byte(",")) + 1; n != want {
		return fmt.Errorf("%d numbers in the line, want %d for the shape", n, want)
	}
	for i := range want {
		field := line
		if j := bytes.IndexByte(line, ','); j >= 0 {
			field, line = line[:j], line[j+1:]
		}
		field = bytes.TrimSpace(field)
		if err := parseNumber(string(field), t, i); err != nil {
			return fmt.Errorf("number %d: %q, want a valid %v: %w", i+1, field, t.DType, err)
		}
	}
	return nil
}

func parseNumber(s string, t *tensor.Tensor, i int) error {
	switch t.DType {
	case tensor.Int32:
		n, err := strconv.ParseInt(s, 10, 32)
		tensor.View[int32](t)[i] = int32(n)
		return cause(err)
	case tensor.Int64:
		n, err := strconv.ParseInt(s, 10, 64)
		tensor.View[int64](t)[i] = n
		return cause(err)
	}
	f, err := parseFloat(s)
	tensor.View[float32](t)[i] = f
	return err
}

// parseFloat parses a decimal number.
func parseFloat(s string) (float32, error) {
	if strings.ContainsAny(s, "xX_") { // Go's hexadecimal and grouped numbers
		return 0, strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(s, 32)
	return float32(f), cause(err)
}

// cause removes the number from an error of strconv.
func cause(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		return e.Err
	}
	return err
}
