// Package numpyslices slices arrays in NumPy's files along their first axis.
// Columns: one for each array. Reference: MindSpore's NumpySlicesDataset.
package numpyslices

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/arrays"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// NumpySlices reads arrays in .npy and .npz files. Row i is slice i of every
// array. All arrays stay in memory and rows share it, so reading copies
// nothing. Package inmemory does the same for arrays that are not in files.
//
// Columns: one for each array, with the array's type, its shape without the
// first axis, and its layout. A scalar integer column named "label" becomes the
// rows' class.
//
// Reference: MindSpore 2.10.0's NumpySlicesDataset for a dict or a tuple of
// arrays has the same columns, names and rows. Types that this module lacks
// (uint32, uint64, strings) are refused.
type NumpySlices struct {
	// Files are .npy files with one array each, and .npz files with several, as
	// store.Split separates them.
	Files []string `json:"files"`
	// Names are the columns' names, one for each array. Default: the names in
	// an .npz, and column_0, column_1, … for the arrays of .npy files.
	Names []string `json:"names"`
	// Layouts are the columns' layouts, one for each array: none, HWC or CHW.
	// Ops on images need HWC or CHW, which fits rows of three axes. Default:
	// none for all.
	Layouts []tensor.Layout `json:"layouts"`
	// MaxBytes is the most memory that the arrays may take. Default 1 GiB.
	MaxBytes int64 `json:"max_bytes"`
}

func init() {
	dataset.Register(dataset.Info{Name: "numpy_slices", Version: 1, New: func() dataset.Node { return New() }, Doc: "arrays in .npy and .npz files, sliced along their first axis"})
}

// New returns a source of all arrays of the files.
func New(files ...string) *NumpySlices {
	return &NumpySlices{Files: append([]string{}, files...), Names: []string{}, Layouts: []tensor.Layout{}, MaxBytes: 1 << 30}
}

// Validate requires names of files that end in .npy or .npz.
func (o *NumpySlices) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	for _, f := range o.Files {
		if p := store.Path(f); !strings.HasSuffix(p, ".npy") && !strings.HasSuffix(p, ".npz") {
			return fmt.Errorf("%w: file %q, want .npy or .npz", dataset.ErrParam, store.Redact(f))
		}
	}
	seen := map[string]bool{}
	for _, n := range o.Names {
		if n == "" || seen[n] {
			return fmt.Errorf("%w: name %q, want distinct non-empty names", dataset.ErrParam, n)
		}
		seen[n] = true
	}
	if o.MaxBytes < 1 {
		return fmt.Errorf("%w: max_bytes %d, want at least 1", dataset.ErrParam, o.MaxBytes)
	}
	return nil
}

// Open reads the arrays.
func (o *NumpySlices) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	left := o.MaxBytes
	var all []tensor.Named
	var keys []string
	for _, f := range store.Split(ctx, s, o.Files) {
		ts, size, err := load(ctx, s, f, left)
		if err != nil {
			return nil, fmt.Errorf("numpyslices: %w: %s: %w", dataset.ErrData, store.Redact(f), err)
		}
		keys = append(keys, files.SizeKey(f, size))
		for _, t := range ts {
			if t.Name == "" {
				t.Name = fmt.Sprintf("column_%d", len(all))
			}
			left -= int64(len(t.T.Data))
			all = append(all, t)
		}
	}
	if len(o.Names) > 0 {
		if len(o.Names) != len(all) {
			return nil, fmt.Errorf("numpyslices: %w: %d names, want %d, the number of arrays", dataset.ErrParam, len(o.Names), len(all))
		}
		for i := range all {
			all[i].Name = o.Names[i]
		}
	}
	if n := len(o.Layouts); n > 0 {
		if n != len(all) {
			return nil, fmt.Errorf("numpyslices: %w: %d layouts, want %d, the number of arrays", dataset.ErrParam, n, len(all))
		}
		for i, l := range o.Layouts {
			if l != tensor.NoLayout && all[i].T.Shape.Rank() != 4 {
				return nil, fmt.Errorf("numpyslices: %w: layout %v of %s, whose rows have %d axes, want three", dataset.ErrParam, l, all[i].Name, all[i].T.Shape.Rank()-1)
			}
		}
	}
	return arrays.New("numpyslices", dataset.ErrData, all, o.Layouts, keys...)
}

// load reads a file. The array of an .npy file has no name.
func load(ctx context.Context, o store.Opener, name string, limit int64) (_ []tensor.Named, size int64, err error) {
	f, err := files.OpenReader(ctx, o, name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if strings.HasSuffix(store.Path(name), ".npz") {
		ts, err := npz.Read(f, f.Size(), limit)
		return ts, f.Size(), err
	}
	t, err := tensor.ReadNPY(f, limit)
	if err != nil {
		return nil, 0, err
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil {
		return nil, 0, err
	} else if at < f.Size() {
		return nil, 0, fmt.Errorf("data after the array, at byte %d", at)
	}
	return []tensor.Named{{T: t}}, f.Size(), nil
}
