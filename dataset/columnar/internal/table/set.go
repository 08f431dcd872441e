package table

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// File is an open file of a table.
type File interface {
	Name() string
	Size() int64
	Close() error
}

// Column is a column of a file.
type Column[C any] interface {
	// About describes the column. bad says why it cannot be read, "" if it can.
	About() (c dataset.Column, bad string)
	// Same reports whether a column of another file is equal.
	Same(o C) bool
}

// Set is the rows of files with equal columns as one sequence, and the chosen
// columns. It is what the sources of all formats share.
type Set[F File, C Column[C]] struct {
	Format string // its name, for errors
	Images *Images
	Files  []F
	All    []C   // the columns of each file
	Wanted []int // the chosen ones of All

	ends    []int64 // the end of each file's rows
	classes map[string]int32
}

// Append adds the columns and the number of rows of the last file, which is in
// Files already so that Close closes it.
func (s *Set[F, C]) Append(columns []C, rows int64) error {
	f := s.Files[len(s.Files)-1]
	if len(s.Files) == 1 {
		s.All = columns
	} else if !slices.EqualFunc(columns, s.All, func(a, b C) bool { return a.Same(b) }) {
		return records.Corruptf(s.Format, f.Name(), -1, "its columns differ from those of %s", store.Redact(s.Files[0].Name()))
	}
	end := s.Len() + rows
	if end < 0 {
		return records.Corruptf(s.Format, f.Name(), -1, "too many rows")
	}
	s.ends = append(s.ends, end)
	return nil
}

// Choose chooses columns by name. No names choose all.
func (s *Set[F, C]) Choose(names []string) error {
	var known []string
	for _, c := range s.All {
		about, _ := c.About()
		known = append(known, about.Name)
	}
	hint := ""
	if len(names) == 0 {
		names, hint = known, ": choose other columns"
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return fmt.Errorf("%s: %s: %w: column %q, want one of %q", s.Format, store.Redact(s.Files[0].Name()), records.ErrField, name, known)
		}
		if _, bad := s.All[i].About(); bad != "" {
			return fmt.Errorf("%s: %s: %w: column %q is %s%s", s.Format, store.Redact(s.Files[0].Name()), records.ErrUnsupported, name, bad, hint)
		}
		s.Wanted = append(s.Wanted, i)
	}
	return nil
}

// Label sets the class names by the metadata with MetadataKey of the first
// file.
func (s *Set[F, C]) Label(text string) (err error) {
	if s.classes, err = Classes(text, s.Columns()); err != nil {
		return fmt.Errorf("%s: %s: %w", s.Format, store.Redact(s.Files[0].Name()), err)
	}
	return nil
}

// Len returns the number of rows.
func (s *Set[F, C]) Len() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// Place returns the file of a row, and its number in the file.
func (s *Set[F, C]) Place(row int64) (F, int64) {
	i := sort.Search(len(s.Files)-1, func(i int) bool { return s.ends[i] > row })
	return s.Files[i], row - s.start(i)
}

// start returns the first row of file i.
func (s *Set[F, C]) start(i int) int64 {
	if i == 0 {
		return 0
	}
	return s.ends[i-1]
}

// Columns returns the chosen columns.
func (s *Set[F, C]) Columns() (l []dataset.Column) {
	for _, i := range s.Wanted {
		c, _ := s.All[i].About()
		l = append(l, c)
	}
	return l
}

// Shards returns the first row of each file.
func (s *Set[F, C]) Shards() (l []int64) {
	for i := range s.ends {
		l = append(l, s.start(i))
	}
	return l
}

// Keys yields the name and size of each file.
func (s *Set[F, C]) Keys(yield func(string) bool) {
	for _, f := range s.Files {
		if !yield(files.SizeKey(f.Name(), f.Size())) {
			return
		}
	}
}

// ClassIndex returns the class names.
func (s *Set[F, C]) ClassIndex() map[string]int32 { return s.classes }

// Close closes the files.
func (s *Set[F, C]) Close() error {
	var errs []error
	for _, f := range s.Files {
		errs = append(errs, f.Close())
	}
	if s.Images != nil {
		errs = append(errs, s.Images.Close())
	}
	s.Files, s.ends = nil, nil
	return errors.Join(errs...)
}
