package mindrecord

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// path returns a name without file:// in front.
func path(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		return filepath.FromSlash(rest), nil
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return "", fmt.Errorf("mindrecord: %s: want a file of this machine, not of %s://", store.Redact(name), scheme)
	}
	return name, nil
}

// Set reads one or several files as one sequence of rows. It is safe for
// concurrent use with one Row per goroutine.
type Set struct {
	files  []*data
	starts []int64 // first row of each file, and the end
	wanted []int   // fields
	blobs  bool    // some of them are blobs
	raws   bool    // some are not
	mapped bool
}

// Open opens files. A single name selects all files of its set: it is the name
// of any of them, or their common name without the number. Several names select
// exactly these files. columns are the wanted fields, in any order, default
// all; pages without a wanted field are not read.
//
// Open checks the index against the header and keeps 8 bytes for each row. A
// disagreement is a CorruptionError. [Index] rebuilds a missing index.
func Open(names []string, columns ...string) (*Set, error) {
	return OpenStore(context.Background(), store.Local, names, columns...)
}

func open(in source, names []string) (*Set, error) {
	if len(names) == 0 {
		return nil, errors.New("mindrecord: no files")
	}
	if len(names) == 1 {
		d, err := openSet(in, names[0])
		if err != nil {
			return nil, err
		}
		names, err = d.siblings()
		if err = errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
	}
	s := &Set{starts: []int64{0}, mapped: true}
	for _, name := range names {
		p, err := in.path(name)
		if err == nil {
			err = s.add(in, p)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// openSet opens a file, or the first file of a set.
func openSet(in source, name string) (*data, error) {
	p, err := in.path(name)
	if err != nil {
		return nil, err
	}
	d, err := openData(in, p)
	if errors.Is(err, fs.ErrNotExist) {
		for width := 1; width <= 3; width++ {
			first := p + strings.Repeat("0", width)
			if _, e := in.store.Stat(in.ctx, first); e == nil {
				return openData(in, first)
			}
		}
	}
	return d, err
}

func (s *Set) add(in source, name string) error {
	d, err := openData(in, name)
	if err != nil {
		return err
	}
	if err = d.readIndex(in); err == nil && len(s.files) > 0 {
		if first := s.files[0]; !d.h.schema.equal(&first.h.schema) {
			err = records.Corruptf(formatName, d.name, 0, "it has the fields %v, %s has %v", d.h.schema.Fields, store.Redact(first.name), first.h.schema.Fields)
		}
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	s.mapped = s.mapped && d.mapped != nil
	s.files = append(s.files, d)
	s.starts = append(s.starts, s.Len()+d.rows())
	return nil
}

func (s *Set) want(columns []string) error {
	fields := s.files[0].h.schema.Fields
	for _, c := range columns {
		i := s.files[0].h.schema.find(c)
		if i < 0 || slices.Contains(s.wanted, i) {
			return fmt.Errorf("mindrecord: %s: %w: column %q, want each of %q at most once", store.Redact(s.files[0].name), ErrField, c, names(fields))
		}
		s.wanted = append(s.wanted, i)
	}
	if len(columns) == 0 {
		for i := range fields {
			s.wanted = append(s.wanted, i)
		}
	}
	for _, i := range s.wanted {
		if fields[i].blob() {
			s.blobs = true
		} else {
			s.raws = true
		}
	}
	return nil
}

func names(fields []Field) (l []string) {
	for _, f := range fields {
		l = append(l, f.Name)
	}
	return l
}

// Schema returns the schema of the first file. All files have the same fields.
func (s *Set) Schema() Schema {
	c := s.files[0].h.schema
	c.Fields, c.Index = slices.Clone(c.Fields), slices.Clone(c.Index)
	return c
}

// Columns returns the wanted fields, in the order of Open.
func (s *Set) Columns() []Field {
	l := make([]Field, len(s.wanted))
	for i, f := range s.wanted {
		l[i] = s.files[0].h.schema.Fields[f]
	}
	return l
}

// Files returns the data files, in the order of their rows.
func (s *Set) Files() []string {
	l := make([]string, len(s.files))
	for i, d := range s.files {
		l[i] = d.name
	}
	return l
}

// Len returns the number of rows.
func (s *Set) Len() int64 { return s.starts[len(s.starts)-1] }

// Mapped reports whether all files are in memory. The bytes and text that Read
// returns are then valid until Close.
func (s *Set) Mapped() bool { return s.mapped }

// Shards returns the first row of each file, in a new slice.
func (s *Set) Shards() []int64 { return slices.Clone(s.starts[:len(s.starts)-1]) }

// Place returns the place of a row: its file, its number in the file, and the
// offset of its raw record.
func (s *Set) Place(row int64) (file string, number, offset int64) {
	i := sort.Search(len(s.files)-1, func(i int) bool { return s.starts[i+1] > row })
	d := s.files[i]
	row -= s.starts[i]
	g, _, raw := d.places(row)
	return d.name, row, d.h.at(d.groups[g].raw) + raw[0]
}

// Row holds a row's values and their memory. The zero Row is ready for use.
type Row struct {
	// Values has one value for each column. Numbers are in memory of the Row.
	// Bytes and text may be views of the file: they are valid until the Row is
	// reused, or until Close if the Set is Mapped.
	Values []tensor.Tensor

	blob, raw []byte
	seen      []bool
	fields    []*tensor.Tensor // of the schema; nil for those that are not wanted
}

// Read reads row i into r.
func (s *Set) Read(row int64, r *Row) error {
	if row < 0 || row >= s.Len() {
		return fmt.Errorf("mindrecord: row %d of %d", row, s.Len())
	}
	i := sort.Search(len(s.files)-1, func(i int) bool { return s.starts[i+1] > row })
	d := s.files[i]
	schema := &d.h.schema
	if len(r.Values) != len(s.wanted) || len(r.fields) != len(schema.Fields) {
		*r = Row{Values: make([]tensor.Tensor, len(s.wanted)), seen: make([]bool, len(schema.Fields)), fields: make([]*tensor.Tensor, len(schema.Fields))}
	}
	clear(r.fields)
	for k, f := range s.wanted {
		r.fields[f] = &r.Values[k]
	}
	g, blob, raw := d.places(row - s.starts[i])
	if s.raws {
		b, err := d.record(d.groups[g].raw, raw, &r.raw)
		if err != nil {
			return err
		}
		if err := schema.decodeRaw(r.fields, b, r.seen); err != nil {
			return d.corrupt(d.groups[g].raw, raw[0], "%v", err)
		}
	}
	if s.blobs {
		b, err := d.record(d.groups[g].blob, blob, &r.blob)
		if err != nil {
			return err
		}
		if err := schema.decodeBlobs(r.fields, b); err != nil {
			return d.corrupt(d.groups[g].blob, blob[0], "%v", err)
		}
	}
	return nil
}

// decodeBlobs decodes a blob record without its length.
func (s *Schema) decodeBlobs(values []*tensor.Tensor, b []byte) error {
	count := 0
	for i := range s.Fields {
		if s.Fields[i].blob() {
			count++
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if !f.blob() {
			continue
		}
		v := b
		if count > 1 {
			if len(b) < 8 || binary.BigEndian.Uint64(b) > uint64(len(b)-8) {
				return fmt.Errorf("%s: it does not fit the %d bytes that are left", f.Name, len(b))
			}
			n := binary.BigEndian.Uint64(b)
			v, b = b[8:8+n:8+n], b[8+n:]
		} else {
			b = nil
		}
		if values[i] == nil {
			continue
		}
		if err := f.decodeBlob(values[i], v); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes behind the fields", len(b))
	}
	return nil
}

// Close closes the files.
func (s *Set) Close() error {
	var errs []error
	for _, d := range s.files {
		errs = append(errs, d.Close())
	}
	s.files, s.starts = nil, []int64{0}
	return errors.Join(errs...)
}
