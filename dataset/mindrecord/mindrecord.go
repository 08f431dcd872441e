// Package mindrecord reads the rows of MindRecord files, as MindSpore writes
// them. Columns: those of the files. Reference: MindSpore's MindDataset.
package mindrecord

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records/mindrecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MindRecord reads the rows of MindRecord files.
//
// Columns: those of the files, or the selected ones. int32, int64, float32 and
// float64 are scalars or arrays, one of whose sizes may be unknown. Text is
// bytes too.
//
// Open reads the indexes and keeps 8 bytes per row. Files are mapped if the
// system can do so. Bytes and text are then views of the mapping, valid until
// the dataset is closed, and nothing is copied. Pages without selected columns
// are not read. The Key is the file and the row's number in it,
// "train.mindrecord0@12".
//
// Reference: MindSpore 2.10.0's MindDataset without shuffling has the same rows
// in the same order. Use a Concat with a source of the padding for its
// padded_sample and num_padded.
type MindRecord struct {
	// Files are names. A single name stands for all files of its set: it is the
	// name of one of them, or their common name before the number. Several
	// names, also of one list with semicolons, are these files and no others.
	Files []string `json:"files"`
	// Columns are the selected columns, in this order. Default: all, sorted by
	// name.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "mind_record", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the rows of MindRecord files",
	})
}

// New returns a source of files with all columns.
func New(files ...string) *MindRecord {
	return &MindRecord{Files: append([]string{}, files...), Columns: []string{}}
}

// Validate requires files, and distinct column names.
func (o *MindRecord) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	seen := map[string]bool{}
	for _, c := range o.Columns {
		if c == "" || seen[c] {
			return fmt.Errorf("%w: column %q, want distinct non-empty names", dataset.ErrParam, c)
		}
		seen[c] = true
	}
	return nil
}

// Open opens the files.
func (o *MindRecord) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("mindrecord: %w", err)
	}
	s, err := mindrecord.OpenStore(ctx, files, o.Files, o.Columns...)
	if errors.Is(err, fs.ErrNotExist) { // a name of a set need not be that of a file
		if l := store.Split(ctx, files, o.Files); len(l) > len(o.Files) {
			s, err = mindrecord.OpenStore(ctx, files, l, o.Columns...)
		}
	}
	if errors.Is(err, mindrecord.ErrField) {
		return nil, fmt.Errorf("mindrecord: %w: %w", dataset.ErrParam, err)
	}
	if err != nil {
		return nil, fmt.Errorf("mindrecord: %w: %w", dataset.ErrData, err)
	}
	return &rows{set: s}, nil
}

// rows is the opened files.
type rows struct {
	set    *mindrecord.Set
	memory sync.Pool // of *mindrecord.Row
}

// Columns returns the columns of the schema.
func (r *rows) Columns() (l []dataset.Column) {
	for _, f := range r.set.Columns() {
		l = append(l, dataset.Column{Name: f.Name, Desc: f.Desc})
	}
	return l
}

// Len returns the number of rows.
func (r *rows) Len() int64 { return r.set.Len() }

// Shards returns the first row of each file.
func (r *rows) Shards() []int64 { return r.set.Shards() }

// Keys yields the file, the number and the offset of each row.
func (r *rows) Keys(yield func(string) bool) {
	for i := range r.set.Len() {
		file, number, offset := r.set.Place(i)
		if !yield(fmt.Sprintf("%s@%d, byte %d", file, number, offset)) {
			return
		}
	}
}

// Read reads a row.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("mindrecord: %w", err)
	}
	file, number, _ := r.set.Place(i)
	s.Key = file + "@" + strconv.FormatInt(number, 10)
	m, _ := r.memory.Get().(*mindrecord.Row)
	if m == nil {
		m = &mindrecord.Row{}
	}
	defer r.memory.Put(m)
	if err := r.set.Read(i, m); err != nil {
		return fmt.Errorf("mindrecord: %w: %s: %w", dataset.ErrData, s.Key, err)
	}
	for k := range m.Values {
		from, to := &m.Values[k], &s.Values[k]
		if from.DType == tensor.Bytes && r.set.Mapped() {
			to.ShareBytes(from.Data)
		} else if err := to.Copy(from); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (r *rows) Close() error { return r.set.Close() }
