package mxnet

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// CSVParams are the parameters of NewCSVIter, with MXNet's names in ParseCSVParams.
// DefaultCSVParams has the usual ones.
type CSVParams struct {
	// DataCSV is a file of numbers between commas, a row in each line, or a folder
	// of such files, which are read in the order of their names. (data_csv)
	DataCSV string
	// DataShape is that of a row; its size is how many numbers a line must have. (data_shape)
	DataShape tensor.Shape
	// LabelCSV is the same for labels, with as many rows as the data, or more, which
	// are not used. Empty or "NULL": all labels are 0. (label_csv)
	LabelCSV   string
	LabelShape tensor.Shape // (label_shape)
	BatchSize  int          // (batch_size)
	// RoundBatch completes the last batch with rows from the beginning of the data;
	// else zeros complete it. Pad counts either. (round_batch)
	RoundBatch bool
	// PrefetchBuffer is how many batches are read ahead, with Context "gpu". (prefetch_buffer)
	PrefetchBuffer int
	// Context "gpu" reads ahead, in goroutines; "cpu" reads within Next. (ctx)
	Context string
	// DType of data and labels: Float32, Int32 or Int64. (dtype; None is float32)
	DType tensor.DType
}

// DefaultCSVParams are labels of one number, round_batch, a prefetch_buffer of 4, ctx gpu
// and float32. data_csv, data_shape and batch_size must be given.
func DefaultCSVParams() CSVParams {
	return CSVParams{LabelShape: tensor.Dims(1), RoundBatch: true, PrefetchBuffer: 4, Context: "gpu", DType: tensor.Float32}
}

// csvParam is a parameter by name.
type csvParam struct {
	want string
	set  func(p *CSVParams, v string) error
}

var csvParams = map[string]csvParam{
	"data_csv":    {"a file or a folder", func(p *CSVParams, v string) error { p.DataCSV = v; return nil }},
	"label_csv":   {"a file or a folder, or NULL", func(p *CSVParams, v string) error { p.LabelCSV = v; return nil }},
	"data_shape":  {wantShape, func(p *CSVParams, v string) (err error) { p.DataShape, err = parseShape(v); return err }},
	"label_shape": {wantShape, func(p *CSVParams, v string) (err error) { p.LabelShape, err = parseShape(v); return err }},
	"batch_size": {wantBatch, func(p *CSVParams, v string) (err error) {
		p.BatchSize, err = strconv.Atoi(v)
		return err
	}},
	"round_batch": {"True or False", func(p *CSVParams, v string) (err error) { p.RoundBatch, err = parseBool(v); return err }},
	"prefetch_buffer": {wantPrefetch, func(p *CSVParams, v string) (err error) {
		p.PrefetchBuffer, err = strconv.Atoi(v)
		return err
	}},
	"ctx": {wantContext, func(p *CSVParams, v string) error { p.Context = v; return nil }},
	"dtype": {wantDType, func(p *CSVParams, v string) (err error) {
		if v == "None" {
			v = "float32"
		}
		p.DType, err = tensor.ParseDType(v)
		return err
	}},
}

const (
	wantShape   = "the sizes of 1 to 7 axes, as in (3, 2)"
	wantContext = "cpu or gpu"
	wantDType   = "None, float32, int32 or int64"
)

var (
	wantBatch    = fmt.Sprintf("1 to %d", maxBatch)
	wantPrefetch = fmt.Sprintf("0 to %d", maxPrefetch)
)

// maxPrefetch is the most that package pipeline has ready.
const maxPrefetch = 1024

// ParseCSVParams reads parameters by MXNet's names, in the text forms of MXNet's C
// interface, with those of DefaultCSVParams where there is none. Its error is a
// *ParamError: of a name that there is not, it has the nearest one that there is.
func ParseCSVParams(kwargs map[string]string) (CSVParams, error) {
	p := DefaultCSVParams()
	for _, k := range slices.Sorted(maps.Keys(kwargs)) {
		x, ok := csvParams[k]
		if !ok {
			return p, &ParamError{Iter: "CSVIter", Name: k, Nearest: nearest(k, slices.Collect(maps.Keys(csvParams)))}
		}
		if err := x.set(&p, kwargs[k]); err != nil {
			return p, &ParamError{Iter: "CSVIter", Name: k, Value: strconv.Quote(kwargs[k]), Want: x.want}
		}
	}
	return p, p.Validate()
}

// Validate wants parameters that can be, by the names of MXNet. Its error is a *ParamError.
func (p CSVParams) Validate() error {
	fail := func(name, value string) error {
		return &ParamError{Iter: "CSVIter", Name: name, Value: value, Want: csvParams[name].want}
	}
	badShape := func(s tensor.Shape) bool {
		return s.Rank() == 0 || s.Rank() == tensor.MaxRank || s.Len() < 1 || s.Len() > maxRow
	}
	switch {
	case p.DataCSV == "":
		return fail("data_csv", "")
	case p.DataShape.Rank() == 0:
		return fail("data_shape", "")
	case badShape(p.DataShape):
		return fail("data_shape", p.DataShape.String())
	case badShape(p.LabelShape):
		return fail("label_shape", p.LabelShape.String())
	case p.BatchSize == 0:
		return fail("batch_size", "")
	case p.BatchSize < 1 || p.BatchSize > maxBatch:
		return fail("batch_size", strconv.Itoa(p.BatchSize))
	case p.PrefetchBuffer < 0 || p.PrefetchBuffer > maxPrefetch:
		return fail("prefetch_buffer", strconv.Itoa(p.PrefetchBuffer))
	case p.Context != "cpu" && p.Context != "gpu":
		return fail("ctx", strconv.Quote(p.Context))
	case p.DType != tensor.Float32 && p.DType != tensor.Int32 && p.DType != tensor.Int64:
		return fail("dtype", p.DType.String())
	}
	return nil
}

// maxRow bounds the numbers of a row.
const maxRow = 1 << 28

// CSVIter gives batches of the rows of CSV files: "data", and "softmax_label",
// which has no axis but the batch's if a label is one number. See the package for what
// is different from mx.io.CSVIter.
//
// Lines end with LF or CR LF; empty lines, and a byte order mark, are passed over;
// spaces around numbers too. There are no quotes, no comments and no header. Numbers
// are decimal; those of float32 are rounded to the nearest (MXNet's are sometimes
// one bit off, and tiny ones become the least normal number).
type CSVIter struct{ *rowIter }

// NewCSVIter finds the lines of the files, for which it reads them once and keeps 8
// bytes a row; numbers are read when their row is. An error of a parameter is a
// *ParamError; of data, it wraps dataset.ErrData and names the file and line.
func NewCSVIter(p CSVParams) (*CSVIter, error) {
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
	if c.data, err = openCSV(p.DataCSV); err != nil {
		return nil, err
	}
	if p.LabelCSV != "" && p.LabelCSV != "NULL" {
		if c.label, err = openCSV(p.LabelCSV); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		if c.label.len() < c.data.len() {
			return nil, errors.Join(fmt.Errorf("mxnet: CSVIter: %w: %d rows of labels in %s for %d of data in %s",
				dataset.ErrData, c.label.len(), p.LabelCSV, c.data.len(), p.DataCSV), c.Close())
		}
	}
	how := lastZero
	if p.RoundBatch {
		how = lastPad
	}
	ahead := p.Context == "gpu" && p.PrefetchBuffer > 0
	it, err := newRowIter(c, []DataDesc{data}, []DataDesc{label}, rowOptions{
		size: p.BatchSize, last: how, blocks: ahead, engine: func(b *dataset.Built) (Runner, error) {
			if !ahead {
				return pullpipe.New(b, nil)
			}
			return pipeline.New(b, pipeline.Options{Prefetch: p.PrefetchBuffer}, nil)
		},
	})
	if err != nil {
		return nil, err
	}
	return &CSVIter{it}, nil
}

// csvRows are the rows of data and labels.
type csvRows struct {
	columns     []dataset.Column
	data, label *csvFiles // label is nil for zeros
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

func (c *csvRows) Read(i int64, s *dataset.Sample) error {
	if i < 0 || i >= c.Len() {
		return fmt.Errorf("mxnet: CSVIter: %w: row %d of %d", dataset.ErrParam, i, c.Len())
	}
	s.Key = c.data.key(i)
	for j := range 2 {
		if err := s.Values[j].Reset(c.columns[j].Desc); err != nil {
			return err
		}
	}
	if err := c.data.read(i, &s.Values[0].Tensor); err != nil {
		return err
	}
	if c.label == nil {
		clear(s.Values[1].Data)
	} else if err := c.label.read(i, &s.Values[1].Tensor); err != nil {
		return err
	}
	return setRow(&s.Values[2], i)
}

// parse reads the numbers of a line.
func parse(line []byte, t *tensor.Tensor) error {
	want := int(t.Len())
	if n := bytes.Count(line, []byte(",")) + 1; n != want {
		return fmt.Errorf("%d numbers in the line, want %d, the size of the shape", n, want)
	}
	for i := range want {
		field := line
		if j := bytes.IndexByte(line, ','); j >= 0 {
			field, line = line[:j], line[j+1:]
		}
		field = bytes.TrimSpace(field)
		if err := parseNumber(string(field), t, i); err != nil {
			return fmt.Errorf("number %d: %q is no %v: %w", i+1, field, t.DType, err)
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
	if strings.ContainsAny(s, "xX_") { // Go's hexadecimal numbers
		return strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(s, 32)
	tensor.View[float32](t)[i] = float32(f)
	return cause(err)
}

// cause is an error of strconv without the number.
func cause(err error) error {
	if err == nil {
		return nil
	}
	var e *strconv.NumError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
