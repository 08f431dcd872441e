// Package csv reads the rows of files of comma-separated values. Columns: those
// of the files, as bytes or numbers. Reference: MindSpore's CSVDataset.
package csv

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/lines"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxColumns bounds the columns; a file with more is not a CSV file.
const maxColumns = 1 << 16

// CSV reads files of comma-separated values as RFC 4180 describes them. A
// quoted field may contain delimiters, line ends and doubled quotes. Otherwise
// a row ends at a line feed or a carriage return, and empty lines are ignored.
// Spaces belong to fields. Every row must have one field per column. A quote in
// an unquoted field, bytes after a closing quote, an unclosed quote and an
// invalid number are errors of their row.
//
// Columns: those of the files. Each is bytes (the field without its quotes) or
// a scalar. A number may have spaces around it. An integer is decimal and must
// fit its type. A float is rounded once, may be inf or nan, and must not
// overflow.
//
// Open reads all files once to build an index of 8 bytes per row, and keeps
// them open. A row has at most 1 GiB. The Key is the file and the row's offset
// in it, "train.csv@1234"; errors also state the line.
//
// Reference: MindSpore 2.10.0's CSVDataset without shuffling, with one worker,
// has the same rows in the same order. These differences are intended:
//
//   - A number must be the whole field. MindSpore reads 1x as 1, 1.9 as the int
//     1, and hexadecimal floats.
//   - A float may be subnormal.
//   - The last row of a file of one column needs no line end. MindSpore loses
//     such a row.
//   - Names in the header may be quoted, contain line ends and follow empty
//     lines. MindSpore splits the first line at every delimiter and keeps
//     quotes.
//   - A malformed row does not affect the others.
//   - A byte order mark is no part of the first name or field.
//   - A column without a name in the header is an error; ColumnNames gives it
//     one. pandas writes its index as such a column.
//   - ColumnTypes states the types; MindSpore's column_defaults serve for
//     nothing else.
type CSV struct {
	// Files are names and patterns of files, sorted and expanded as in package
	// textfile.
	Files []string `json:"files"`
	// Delim is the byte between fields. Default: a comma. It can't be a quote
	// or a line end.
	Delim string `json:"field_delim"`
	// Header states that the first row of each file has the names of its
	// columns, which must be the same in all files. Default true.
	Header bool `json:"header"`
	// ColumnNames replace the header's names. Required without a header.
	ColumnNames []string `json:"column_names"`
	// ColumnTypes has one type for each column: bytes, int32, int64, float32 or
	// float64. Default: bytes for all.
	ColumnTypes []tensor.DType `json:"column_types"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "csv", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the rows of files of comma-separated values",
	})
}

// New returns a source of files and patterns of files, with headers and commas.
func New(files ...string) *CSV {
	return &CSV{Files: append([]string{}, files...), Delim: ",", Header: true, ColumnNames: []string{}, ColumnTypes: []tensor.DType{}}
}

// Validate checks each parameter.
func (o *CSV) Validate() error {
	switch {
	case len(o.Files) == 0:
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	case len(o.Delim) != 1 || o.Delim == `"` || o.Delim == "\r" || o.Delim == "\n":
		return fmt.Errorf("%w: field_delim %q, want one byte that is neither a quote nor a line end", dataset.ErrParam, o.Delim)
	case !o.Header && len(o.ColumnNames) == 0:
		return fmt.Errorf("%w: no column_names, want them since header is false", dataset.ErrParam)
	}
	for _, t := range o.ColumnTypes {
		switch t {
		case tensor.Bytes, tensor.Int32, tensor.Int64, tensor.Float32, tensor.Float64:
		default:
			return fmt.Errorf("%w: column type %v, want bytes, int32, int64, float32 or float64", dataset.ErrParam, t)
		}
	}
	if len(o.ColumnNames) > 0 {
		if _, err := o.columns(o.ColumnNames); err != nil {
			return fmt.Errorf("%w: column_names: %w", dataset.ErrParam, err)
		}
	}
	return nil
}

// columns returns the columns with the given names.
func (o *CSV) columns(names []string) ([]dataset.Column, error) {
	if n := len(o.ColumnTypes); n > 0 && n != len(names) {
		return nil, fmt.Errorf("%d columns and %d column_types, want as many", len(names), n)
	}
	if len(names) > maxColumns {
		return nil, fmt.Errorf("%d columns, want at most %d", len(names), maxColumns)
	}
	seen := map[string]bool{}
	c := make([]dataset.Column, len(names))
	for i, n := range names {
		if n == "" {
			return nil, fmt.Errorf("column %d has no name", i)
		}
		if seen[n] {
			return nil, fmt.Errorf("two columns are named %q", n)
		}
		seen[n] = true
		c[i] = dataset.Column{Name: n, Desc: tensor.Encoded()}
		if len(o.ColumnTypes) > 0 {
			c[i].Desc.DType = o.ColumnTypes[i]
		}
	}
	return c, nil
}

// Open indexes the files and reads their headers.
func (o *CSV) Open(ctx context.Context, files store.Opener) (_ dataset.Data, err error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	names, err := lines.Expand(ctx, files, o.Files)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	s := &splitter{delim: o.Delim[0], header: o.Header}
	x, err := lines.Open(ctx, files, names, s, true)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	d := &rows{Index: x, delim: o.Delim[0]}
	defer func() {
		if err != nil {
			x.Close()
			err = fmt.Errorf("csv: %w", err)
		}
	}()
	header := o.ColumnNames
	if o.Header {
		if header, err = d.headers(s.headers); err != nil {
			return nil, err
		}
		if n := len(o.ColumnNames); n > 0 {
			if n != len(header) {
				return nil, fmt.Errorf("%w: %s has %d columns, want the %d of column_names", dataset.ErrData, store.Redact(x.Name(0)), len(header), n)
			}
			header = o.ColumnNames
		}
	}
	if i := slices.Index(header, ""); i >= 0 {
		hint := ""
		if i == 0 {
			hint = ", or a file without it: pandas writes its index there unless to_csv has index=False"
		}
		return nil, fmt.Errorf("%w: %s: column %d has no name in the header: want column_names with %d names%s", dataset.ErrData, store.Redact(x.Name(0)), i, len(header), hint)
	}
	if d.columns, err = o.columns(header); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, x.Name(0), err)
	}
	if x.Len() == 0 {
		return nil, fmt.Errorf("%w: no row in %d files, the first is %s", dataset.ErrData, x.Files(), store.Redact(x.Name(0)))
	}
	return d, nil
}

type rows struct {
	*lines.Index
	delim   byte
	columns []dataset.Column
	buffers sync.Pool // of *[]byte, for rows
}

// headers reads the header of each file and requires that all are equal.
func (d *rows) headers(at []int64) ([]string, error) {
	var first []string
	for file := range d.Files() {
		if at[file] < 0 {
			return nil, fmt.Errorf("%w: %s has no header", dataset.ErrData, store.Redact(d.Name(file)))
		}
		var names []string
		err := d.row(file, at[file], d.HeadLen(file, at[file]), func(k int, f field) error {
			if k == maxColumns {
				return fmt.Errorf("more than %d columns", maxColumns)
			}
			names = append(names[:k], string(f.appendTo(nil)))
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case file == 0:
			first = names
		case !slices.Equal(names, first):
			return nil, d.Errorf(file, at[file], "the header differs from that of %s", store.Redact(d.Name(0)))
		}
	}
	return first, nil
}

func (d *rows) Columns() []dataset.Column { return d.columns }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return err
	}
	file, at, n := d.Span(i)
	s.Key = d.Key(file, at)
	fields := 0
	err := d.row(file, at, n, func(k int, f field) error {
		if k == len(d.columns) {
			return fmt.Errorf("more than %d fields", k)
		}
		fields = k + 1
		return f.set(&s.Values[k], d.columns[k].Desc.DType)
	})
	if err == nil && fields != len(d.columns) {
		err = d.Errorf(file, at, "%d fields, want %d", fields, len(d.columns))
	}
	if err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

// row reads the row at an offset of a file and passes each field to f. The row
// ends within n bytes. If the first read does not cover the row, f is called
// again from the first field.
func (d *rows) row(file int, at, n int64, f func(k int, f field) error) error {
	buf, _ := d.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer d.buffers.Put(buf)
	for have := lines.Grow(0, n); have > 0; have = lines.Grow(have, n) {
		if cap(*buf) < have {
			*buf = make([]byte, have)
		}
		b := (*buf)[:have]
		if err := d.Index.Read(b, file, at); err != nil {
			return err
		}
		pos, err := split(b, d.delim, int64(have) == n, f)
		switch {
		case err == errCut && have > lines.Limit:
			return d.Errorf(file, at, "a row of more than %d bytes", lines.Limit)
		case err == errCut:
			continue
		case err != nil:
			return d.Errorf(file, at+int64(pos), "%v", err)
		}
		return nil
	}
	return nil
}
