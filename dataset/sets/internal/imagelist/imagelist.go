// Package imagelist provides the rows of sources whose samples are files and
// numbers that lists name: an image, perhaps a second image or a mask, and
// labels.
package imagelist

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MaxRows bounds the rows of a list. It exceeds the largest of these sets,
// Places365 with 8 million images.
const MaxRows = 1 << 26

// Format describes the columns of a list.
type Format struct {
	Package string   // for errors
	Files   []string // columns of files (bytes), first
	Numbers []string // columns of numbers (int32 scalars), after the files
	// More are columns of values that rows keep in memory, after the numbers:
	// annotations and captions.
	More []dataset.Column
	// NoLabel reports that rows have a first number, their class, that is no
	// column.
	NoLabel bool
}

// List is an open list. Fill adds its rows; afterwards its methods are safe for
// concurrent use.
type List struct {
	Format
	Dir    string       // the folder of the paths
	Folder store.Folder // opens the files
	// Classes numbers the names of the first number's classes, if they are
	// known.
	Classes map[string]int32

	lists   files.Lists
	keys    []string
	paths   []string        // len(Files) of each row, below Dir
	numbers []int32         // of each row as many as width returns
	more    []tensor.Tensor // len(More) of each row
}

// width returns how many numbers a row has.
func (f *Format) width() int {
	n := len(f.Numbers)
	if f.NoLabel {
		n++
	}
	return n
}

// Open opens dir and calls fill, which adds the rows. A list without rows is an
// error.
func (f Format) Open(ctx context.Context, s store.Opener, dir string, fill func(*List) error) (_ *List, err error) {
	l := &List{Format: f, Dir: dir}
	if l.Folder, err = files.OpenFolder(ctx, s, dir); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Package, err)
	}
	if err = fill(l); err == nil && len(l.keys) == 0 {
		err = fmt.Errorf("%w: %s has no images of this usage", dataset.ErrData, store.Redact(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Package, errors.Join(err, l.Folder.Close()))
	}
	return l, nil
}

// Add appends a row whose key is that of its first file.
func (l *List) Add(paths []string, numbers ...int32) error {
	return l.AddKey(paths[0], paths, numbers...)
}

// AddKey appends a row. paths are below the folder, with slashes.
func (l *List) AddKey(key string, paths []string, numbers ...int32) error {
	if len(l.keys) == MaxRows {
		return fmt.Errorf("%w: more than %d rows", dataset.ErrData, MaxRows)
	}
	l.keys = append(l.keys, key)
	l.paths = append(l.paths, paths...)
	l.numbers = append(l.numbers, numbers...)
	return nil
}

// Columns returns the files, then the numbers.
func (l *List) Columns() []dataset.Column {
	var c []dataset.Column
	for _, n := range l.Format.Files {
		c = append(c, dataset.Column{Name: n, Desc: tensor.Encoded()})
	}
	for _, n := range l.Format.Numbers {
		c = append(c, dataset.Column{Name: n, Desc: tensor.Desc{DType: tensor.Int32}})
	}
	return append(c, l.More...)
}

// Len returns the number of rows.
func (l *List) Len() int64 { return int64(len(l.keys)) }

// Paths returns the paths of a row's files, below the folder.
func (l *List) Paths(i int64) []string {
	n := len(l.Format.Files)
	return l.paths[int(i)*n:][:n]
}

func (l *List) row(i int64) []int32 {
	n := l.width()
	return l.numbers[int(i)*n:][:n]
}

// Read reads the files and numbers of a row.
func (l *List) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, l.Len()); err != nil {
		return fmt.Errorf("%s: %w", l.Package, err)
	}
	s.Key = l.keys[i]
	for k, p := range l.Paths(i) {
		if err := files.Read(ctx, l.Folder, &s.Values[k], store.Join(l.Dir, p)); err != nil {
			return fmt.Errorf("%s: %w", l.Package, err)
		}
	}
	numbers := l.row(i)
	if l.NoLabel {
		numbers = numbers[1:]
	}
	for k, n := range numbers {
		if err := s.Values[len(l.Format.Files)+k].SetInt32(n); err != nil {
			return err
		}
	}
	n := len(l.More)
	for k := range n {
		s.Values[len(s.Values)-n+k].Share(&l.more[int(i)*n+k])
	}
	return nil
}

// Stamp implements dataset.Stamped.
func (l *List) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, l.Len()); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Package, err)
	}
	for _, n := range l.row(i) {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, p := range l.Paths(i) {
		var err error
		if b, err = files.Stamp(ctx, l.Folder, b, store.Join(l.Dir, p)); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Package, err)
		}
	}
	return b, nil
}

// Class returns the first number of a row.
func (l *List) Class(i int64) (int64, error) {
	if err := files.Index(i, l.Len()); err != nil {
		return 0, fmt.Errorf("%s: %w", l.Package, err)
	}
	return int64(l.row(i)[0]), nil
}

// Keys yields the keys of the rows.
func (l *List) Keys(yield func(string) bool) { files.EachKey(l.keys, yield) }

// ClassIndex returns Classes.
func (l *List) ClassIndex() map[string]int32 { return l.Classes }

// Close closes the folder.
func (l *List) Close() error { return l.Folder.Close() }

// unclassed is a List whose rows have no numbers, thus no class.
type unclassed interface {
	dataset.Keyed
	dataset.Stamped
}

// Data converts the results of Open, so that an error has no List beside it,
// and rows without numbers have no class.
func Data(l *List, err error) (dataset.Data, error) {
	if err != nil {
		return nil, err
	}
	if l.width() == 0 {
		return struct{ unclassed }{l}, nil
	}
	return l, nil
}
