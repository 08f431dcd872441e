package paddle

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// Files is the source of some files, one after another: what one thread of
// OpenFiles reads. It has random access, and a length, if all its files have.
//
// Columns: those of the field.
type Files struct {
	Paths []string `json:"paths"`
	// Format is the tag of all files' format; empty: FormatOf.
	Format string `json:"format"`
	// Columns are those that every file must have, with these names, in this order. Every
	// sample is checked. Sizes of -1 are any.
	Columns []dataset.OutColumn `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "paddle_files", Version: 1, New: func() dataset.Node { return &Files{Paths: []string{}, Columns: []dataset.OutColumn{}} },
		Doc: "files of registered formats, one after another, checked against columns",
	})
}

// Validate wants files and columns.
func (n *Files) Validate() error {
	if len(n.Paths) == 0 {
		return fmt.Errorf("%w: no files", dataset.ErrParam)
	}
	if len(n.Columns) == 0 {
		return fmt.Errorf("%w: no columns", dataset.ErrParam)
	}
	for _, c := range n.Columns {
		if err := c.Desc.Check(); err != nil {
			return fmt.Errorf("%w: column %q: %w", dataset.ErrParam, c.Name, err)
		}
	}
	return nil
}

// Open opens the files, and checks what they say of themselves: a *FormatError, a
// *ShapeError, or what a file's reader says.
func (n *Files) Open() (_ dataset.Data, err error) {
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
		f, err := n.open(path)
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
			return nil, fmt.Errorf("paddle: %s: %w: %d rows, after %d", path, dataset.ErrData, r.Len(), rows)
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
func (n *Files) open(path string) (dataset.Data, error) {
	tag := n.Format
	if tag == "" {
		var err error
		if tag, err = FormatOf(path); err != nil {
			return nil, err
		}
	}
	formats.RLock()
	f, ok := formats.m[tag]
	if !ok {
		defer formats.RUnlock()
		return nil, unknown(path, tag)
	}
	formats.RUnlock()
	fail := func(err error) (dataset.Data, error) { return nil, fmt.Errorf("paddle: %s: %w", path, err) }
	src, err := f.open(path)
	if err != nil {
		return fail(err)
	}
	if src == nil {
		return fail(fmt.Errorf("the file reader %q gave no source", tag))
	}
	if err := src.Validate(); err != nil {
		return fail(err)
	}
	d, err := src.Open()
	if err != nil {
		return fail(err)
	}
	switch d.(type) {
	case dataset.Rows, dataset.Stream:
		return d, nil
	}
	return fail(fmt.Errorf("the file reader %q gave a %T, want a dataset.Rows or a dataset.Stream", tag, d))
}

// data are opened files.
type data struct {
	n       *Files
	columns []dataset.Column
	files   []dataset.Data
	ends    []int64 // for each file, the rows in it and those before it
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

// checkFile checks what a file says of its columns.
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

// possible reports whether values of description a may be of description b.
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

// done is what becomes of a sample of a file that was read.
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

// rowFiles are files with random access.
type rowFiles struct{ *data }

func (d *rowFiles) Len() int64 { return d.ends[len(d.ends)-1] }

func (d *rowFiles) Read(i int64, s *dataset.Sample) error {
	if i < 0 || i >= d.Len() {
		return fmt.Errorf("paddle: %w: row %d of %d", dataset.ErrParam, i, d.Len())
	}
	s.Key = "" // that a file's reader may leave as it is
	k := sort.Search(len(d.ends), func(k int) bool { return d.ends[k] > i })
	if k > 0 {
		i -= d.ends[k-1]
	}
	return d.done(k, i, s, d.files[k].(dataset.Rows).Read(i, s))
}

// streamFiles are files of which some have none.
type streamFiles struct{ *data }

func (d *streamFiles) Start(epoch uint64) (dataset.Reader, error) {
	return &reader{d: d.data, epoch: epoch}, nil
}

// reader reads file after file, with one open at a time.
type reader struct {
	d     *data
	epoch uint64
	file  int
	row   int64
	in    dataset.Reader // of the file; nil if it is not begun, or has rows
}

func (r *reader) Next(s *dataset.Sample) error {
	s.Key = ""
	for ; r.file < len(r.d.files); r.file, r.row = r.file+1, 0 {
		var err error
		switch f := r.d.files[r.file].(type) {
		case dataset.Rows:
			if r.row == f.Len() {
				continue
			}
			err = f.Read(r.row, s)
		case dataset.Stream:
			if r.in == nil {
				if r.in, err = f.Start(r.epoch); err != nil {
					in := r.file
					r.file++ // what cannot be begun is over
					return fmt.Errorf("paddle: %s: %w", r.d.n.Paths[in], err)
				}
			}
			if err = r.in.Next(s); err == io.EOF {
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
