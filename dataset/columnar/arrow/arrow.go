// Package arrow reads the rows of Arrow streams, the files in which Hugging
// Face's datasets saves and caches tables. Columns: those of the files.
// Reference: datasets.
package arrow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/columnar/internal/table"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Arrow reads the rows of Arrow streams: the folders of datasets'
// save_to_disk, and the files of its cache. Files of the other format of Arrow,
// which begin with ARROW1, and compressed ones are refused; datasets writes
// none.
//
// Columns: those of the files, as the source parquet names and reads them. An
// image that datasets keeps as a path is read from there, as that source does.
//
// Open reads the heads of all batches of rows. Files stay open and are mapped
// if the system can do so; bytes are then views of the mapping, valid until the
// dataset is closed. Otherwise a batch is read as a whole, and up to 256 MiB of
// them are kept. The Key is the file and the row's number in it,
// "data-00000-of-00001.arrow@12". The class names are those that datasets
// stores with the only chosen column of type ClassLabel.
//
// Reference: datasets 5.2.0's load_from_disk has the same rows in the same
// order.
type Arrow struct {
	// Files are names of files, patterns as in package textfile, and folders. A
	// folder with state.json, as save_to_disk writes it, stands for the files
	// that it lists; another for the files .arrow in it and below, sorted.
	Files []string `json:"files"`
	// Columns are the chosen columns, in this order. Default: all.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "arrow", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the rows of Arrow streams, as Hugging Face's datasets saves them",
	})
}

// New returns a source of files with all columns.
func New(files ...string) *Arrow {
	return &Arrow{Files: append([]string{}, files...), Columns: []string{}}
}

// Validate requires files, and distinct column names.
func (o *Arrow) Validate() error { return table.CheckNames(o.Files, o.Columns) }

// maxState is the most bytes of state.json.
const maxState = 64 << 20

// saved returns the files of a folder of save_to_disk, or nil for another.
func saved(ctx context.Context, o store.Opener, dir string) ([]string, error) {
	name := store.Join(dir, "state.json")
	b, err := store.ReadFile(ctx, o, name, nil, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var state struct {
		Files []struct {
			Name string `json:"filename"`
		} `json:"_data_files"`
		Indices []any `json:"_indices_data_files"`
	}
	if err := json.Unmarshal(b, &state); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	if len(state.Indices) > 0 {
		return nil, fmt.Errorf("%w: %s: %w: a table of indices, which releases of datasets before 2.0 wrote", dataset.ErrData, store.Redact(name), records.ErrUnsupported)
	}
	var l []string
	for _, f := range state.Files {
		if !fs.ValidPath(f.Name) {
			return nil, fmt.Errorf("%w: %s: file %q, want a path within the folder", dataset.ErrData, store.Redact(name), f.Name)
		}
		l = append(l, store.Join(dir, f.Name))
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("%w: %s: no files", dataset.ErrData, store.Redact(name))
	}
	return l, nil
}

// Open opens the files.
func (o *Arrow) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	var names []string
	for _, name := range store.Split(ctx, files, o.Files) {
		var l []string
		if i, err := files.Stat(ctx, name); err == nil && i.Folder {
			if l, err = saved(ctx, files, name); err != nil {
				return nil, fmt.Errorf("arrow: %w", err)
			}
		}
		if l == nil {
			var err error
			if l, err = table.Files(ctx, files, []string{name}, ".arrow"); err != nil {
				return nil, fmt.Errorf("arrow: %w", err)
			}
		}
		names = append(names, l...)
	}
	s, err := openSet(ctx, files, names, o.Columns)
	if errors.Is(err, records.ErrField) {
		return nil, fmt.Errorf("%w: %w", dataset.ErrParam, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	m := s.Files[0].fields.Metadata()
	text, _ := m.GetValue(table.MetadataKey)
	if err := s.Label(text); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Read reads a row.
func (s *set) Read(ctx context.Context, i int64, to *dataset.Sample) error {
	if err := files.Check(ctx, i, s.Len()); err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	f, row := s.Place(i)
	to.Key = f.name + "@" + strconv.FormatInt(row, 10)
	if err := s.read(ctx, f, row, to); err != nil {
		return fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	return nil
}

// Stamp implements dataset.Stamped: images may be files.
func (s *set) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, s.Len()); err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	f, row := s.Place(i)
	b, err := s.stamp(ctx, f, row, append(strconv.AppendInt(append(b, f.name...), row, 10), 0))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	return b, nil
}
