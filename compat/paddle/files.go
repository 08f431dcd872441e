package paddle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Files is the source of files in order, as a thread of OpenFiles reads them.
// It has random access and a length if all its files have.
//
// Columns: those of the field Columns.
type Files struct {
	Paths []string `json:"paths"`
	// Format is the tag of all files. If empty, FormatOf determines it for each
	// file.
	Format string `json:"format"`
	// Columns are the names, types and sizes that every file must have, in this
	// order. Every sample is checked. A size of -1 matches any size.
	Columns []dataset.OutColumn `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "paddle_files", Version: 1, New: func() dataset.Node { return &Files{Paths: []string{}, Columns: []dataset.OutColumn{}} },
		Doc: "files of registered formats, one after another, checked against columns",
	})
}

// Validate requires files and valid columns.
func (n *Files) Validate() error {
	if len(n.Paths) == 0 {
		return fmt.Errorf("%w: no files", dataset.ErrParam)
	}
	if len(n.Columns) == 0 {
		return fmt.Errorf("%w: no columns", dataset.ErrParam)
	}
	for _, c := range n.Columns {
		if err := c.Desc.Validate(); err != nil {
			return fmt.Errorf("%w: column %q: %w", dataset.ErrParam, c.Name, err)
		}
	}
	return nil
}

// Open opens the files and checks their columns. It returns a *FormatError, a
// *ShapeError or an error of a file's reader.
func (n *Files) Open(ctx context.Context, files store.Opener) (_ dataset.Data, err error) {
	d := &data{n: n}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	for _, c := range n.Columns {
		d.columns = append(d.columns, dataset.Column{Name: c.Name, Desc: c.Desc})
	}
	all := true
	rows := int64(0)
	for _, path := range n.Paths {
		f, err := n.open(ctx, files, path, d.columns)
		if err != nil {
			return nil, err
		}
		d.files = append(d.files, f)
		if err := d.checkFile(path, f.Columns()); err != nil {
			return nil, err
		}
		r, ok := f.(dataset.Rows)
		if all = all && ok; !all {
			continue
		}
		if r.Len() < 0 || r.Len() > math.MaxInt64-1-rows {
			return nil, fmt.Errorf("paddle: %s: %w: %d rows after %d, want a total below 2^63", path, dataset.ErrData, r.Len(), rows)
		}
		rows += r.Len()
		d.ends = append(d.ends, rows)
	}
	if all {
		return &rowFiles{d}, nil
	}
	return &streamFiles{d}, nil
}

// open opens one file.
func (n *Files) open(ctx context.Context, files store.Opener, path string, columns []dataset.Column) (dataset.Data, error) {
	tag := n.Format
	if tag == "" {
		var err error
		if tag, err = FormatOf(ctx, files, path); err != nil {
			return nil, err
		}
	}
	f, ok := formats.Get(tag)
	if !ok {
		return nil, unknown(path, tag)
	}
	fail := func(err error) (dataset.Data, error) { return nil, fmt.Errorf("paddle: %s: %w", path, err) }
	src, err := f.open(path, columns)
	if err != nil {
		return fail(err)
	}
	if src == nil {
		return fail(fmt.Errorf("file reader %q returned no source", tag))
	}
	if err := src.Validate(); err != nil {
		return fail(err)
	}
	d, err := src.Open(ctx, files)
	if err != nil {
		return fail(err)
	}
	switch d.(type) {
	case dataset.Rows, dataset.Stream:
		return d, nil
	}
	return fail(fmt.Errorf("file reader %q returned a %T, want a dataset.Rows or a dataset.Stream", tag, d))
}

// data is a list of opened files.
type data struct {
	n       *Files
	columns []dataset.Column
	files   []dataset.Data
	ends    []int64 // for each file, the number of rows up to its end
}

func (d *data) Columns() []dataset.Column { return d.columns }

func (d *data) Close() error {
	var l []error
	for _, f := range d.files {
		l = append(l, f.Close())
	}
	d.files = nil
	return errors.Join(l...)
}

// checkFile compares the columns that a file declares with the required ones.
func (d *data) checkFile(path string, have []dataset.Column) error {
	for i := range max(len(have), len(d.columns)) {
		switch {
		case i >= len(d.columns):
			return &ShapeError{File: path, Column: have[i].Name, Got: have[i].Desc}
		case i >= len(have) || have[i].Name != d.columns[i].Name:
			return &ShapeError{File: path, Column: d.columns[i].Name, Want: d.columns[i].Desc}
		case !possible(have[i].Desc, d.columns[i].Desc):
			return &ShapeError{File: path, Column: have[i].Name, Got: have[i].Desc, Want: d.columns[i].Desc}
		}
	}
	return nil
}

// possible reports whether a value can match both a and b.
func possible(a, b tensor.Desc) bool {
	if a.DType != b.DType || a.Layout != b.Layout || a.Shape.Rank() != b.Shape.Rank() {
		return false
	}
	for i := range a.Shape.Rank() {
		if n, m := a.Shape.At(i), b.Shape.At(i); n != m && n != tensor.Unknown && m != tensor.Unknown {
			return false
		}
	}
	return true
}

// done completes a sample that was read: it sets a missing key, wraps an error
// and checks the columns.
func (d *data) done(file int, row int64, s *dataset.Sample, err error) error {
	path := d.n.Paths[file]
	if s.Key == "" {
		s.Key = path + ":" + strconv.FormatInt(row, 10)
	}
	if err != nil {
		return fmt.Errorf("paddle: %s: %w", path, err)
	}
	for i, c := range d.columns {
		if got := s.Values[i].Desc; !c.Desc.Matches(got) {
			return &ShapeError{File: path, Key: s.Key, Column: c.Name, Got: got, Want: c.Desc}
		}
	}
	return nil
}

// rowFiles is a list of files with random access.
type rowFiles struct{ *data }

func (d *rowFiles) Len() int64 { return d.ends[len(d.ends)-1] }

func (d *rowFiles) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= d.Len() {
		return fmt.Errorf("paddle: %w: row %d of %d", dataset.ErrParam, i, d.Len())
	}
	s.Key = "" // a file's reader may leave it empty
	k := sort.Search(len(d.ends), func(k int) bool { return d.ends[k] > i })
	if k > 0 {
		i -= d.ends[k-1]
	}
	return d.done(k, i, s, d.files[k].(dataset.Rows).Read(ctx, i, s))
}

// Keys yields the keys of each file. A file whose reader has none counts by its
// path and its number of rows.
func (d *rowFiles) Keys(yield func(string) bool) {
	more := true
	for k, f := range d.files {
		if x, ok := f.(dataset.Keyed); ok {
			x.Keys(func(key string) bool { more = yield(key); return more })
		} else {
			more = yield(fmt.Sprintf("%s, %d rows", d.n.Paths[k], f.(dataset.Rows).Len()))
		}
		if !more {
			return
		}
	}
}

// streamFiles is a list of files, some without random access.
type streamFiles struct{ *data }

func (d *streamFiles) Start(_ context.Context, epoch uint64) (dataset.Reader, error) {
	return &reader{d: d.data, epoch: epoch}, nil
}

// reader reads one file after another.
type reader struct {
	d     *data
	epoch uint64
	file  int
	row   int64
	in    dataset.Reader // the current Stream's reader; nil before it is started
}

func (r *reader) Next(ctx context.Context, s *dataset.Sample) error {
	s.Key = ""
	for ; r.file < len(r.d.files); r.file, r.row = r.file+1, 0 {
		var err error
		switch f := r.d.files[r.file].(type) {
		case dataset.Rows:
			if r.row == f.Len() {
				continue
			}
			err = f.Read(ctx, r.row, s)
		case dataset.Stream:
			if r.in == nil {
				if r.in, err = f.Start(ctx, r.epoch); err != nil {
					in := r.file
					r.file++ // skip a file that can't be started
					return fmt.Errorf("paddle: %s: %w", r.d.n.Paths[in], err)
				}
			}
			if err = r.in.Next(ctx, s); err == io.EOF {
				if err := r.Close(); err != nil {
					return err
				}
				continue
			}
		}
		r.row++
		return r.d.done(r.file, r.row-1, s, err)
	}
	return io.EOF
}

func (r *reader) Close() error {
	if r.in == nil {
		return nil
	}
	in := r.in
	r.in = nil
	return in.Close()
}
