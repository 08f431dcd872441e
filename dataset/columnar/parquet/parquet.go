// Package parquet reads the rows of Parquet files, as pyarrow, datasets and
// Spark write them, and adds Parquet to the formats of package records.
// Columns: those of the files. Reference: pyarrow.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/columnar/internal/table"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Parquet reads the rows of Parquet files, with any compression but the
// deprecated LZ4.
//
// Columns: those of the files, or the chosen ones. Text and binary values are
// bytes; numbers keep their type, but unsigned ones of 32 and 64 bits are
// int64. Dates and times are the integers that the file holds. Lists are arrays
// of unknown sizes: the lists within a row must have equal lengths. The fields
// of a struct are columns with a dot, objects.bbox; lists of structs are
// columns too. A struct of bytes and path, which is how datasets stores an
// image, is the columns image (its bytes) and image.path. An image without
// bytes is the file at its path, relative to the folder of the Parquet file;
// one that leaves the folder is an error of its row, unless the store allows
// it. datasets opens it relative to the working directory. Decimal numbers and
// lists of text can't be read, so the other columns must be chosen then. A
// chosen column without a value is an error of its row.
//
// Open reads the end of each file. Pages are decoded when one of their rows is
// read, and up to 256 MiB of them are kept. Reading in order, or with a
// ShuffleBuffer, decodes each page once; a Shuffle may decode a page again for
// each of its rows. Files stay open and are mapped if the system can do so.
// Bytes are views of the mapping if their page is not compressed. They are
// valid until the dataset is closed. The Key is the file and the row's number
// in it, "train.parquet@12". The class names are those that datasets stores
// with the only chosen column of type ClassLabel.
//
// Reference: pyarrow 26.0.1's read_table and datasets 5.2.0's load_dataset have
// the same rows in the same order.
type Parquet struct {
	// Files are names of files, patterns as in package textfile, and folders,
	// for the files .parquet in them and below. Each list is sorted. The
	// snapshot folder of the Hugging Face hub's cache is such a folder.
	Files []string `json:"files"`
	// Columns are the chosen columns, in this order. Default: all.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "parquet", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the rows of Parquet files",
	})
}

// New returns a source of files with all columns.
func New(files ...string) *Parquet {
	return &Parquet{Files: append([]string{}, files...), Columns: []string{}}
}

// Validate requires files, and distinct column names.
func (o *Parquet) Validate() error { return table.CheckNames(o.Files, o.Columns) }

// Open opens the files.
func (o *Parquet) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	names, err := table.Files(ctx, files, o.Files, ".parquet")
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	s, err := openSet(ctx, files, names, o.Columns)
	if errors.Is(err, records.ErrField) {
		return nil, fmt.Errorf("%w: %w", dataset.ErrParam, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	if err := s.label(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Read reads a row.
func (s *set) Read(ctx context.Context, i int64, to *dataset.Sample) error {
	if err := files.Check(ctx, i, s.Len()); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	f, row := s.Place(i)
	to.Key = f.name + "@" + strconv.FormatInt(row, 10)
	for k, w := range s.Wanted {
		null, err := s.value(f, row, w, &to.Values[k])
		if null {
			var path []byte
			if path, err = s.path(f, row, w); err == nil {
				err = s.Images.Read(ctx, f.name, path, &to.Values[k])
			}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", dataset.ErrData, err)
		}
	}
	return nil
}

// path returns the path of an image without bytes. Its error says that column w
// has no value.
func (s *set) path(f *file, row int64, w int) ([]byte, error) {
	c := &s.All[w]
	if c.path > 0 {
		var v dataset.Value
		if null, err := s.value(f, row, w+c.path, &v); err != nil || !null {
			return v.Data, err
		}
	}
	return nil, fmt.Errorf("parquet: %s@%d: column %q has no value", store.Redact(f.name), row, c.Name)
}

// Stamp implements dataset.Stamped: images may be files.
func (s *set) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, s.Len()); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	f, row := s.Place(i)
	b = append(strconv.AppendInt(append(b, f.name...), row, 10), 0)
	for _, w := range s.Wanted {
		if s.All[w].path == 0 {
			continue
		}
		var v dataset.Value
		null, err := s.value(f, row, w, &v)
		var path []byte
		if null {
			if path, err = s.path(f, row, w); err == nil {
				b, err = s.Images.Stamp(ctx, f.name, path, b)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
		}
	}
	return b, nil
}
