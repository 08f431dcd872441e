// Package mds reads the samples of MDS folders, as MosaicML's streaming writes
// them. Columns: those of the folder. Reference: StreamingDataset.
package mds

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/mds"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MDS reads the samples of an MDS folder.
//
// Columns: those of the folder, or the chosen ones. bytes, jpeg, png, str, json
// and str_decimal are bytes, as they are stored. Numbers keep their type, but
// uint32 and uint64 are int64; int and str_int are int64, str_float is float64.
// An ndarray has the type and the number of axes that its encoding or the first
// sample states. pil is an image of uint8 and HWC; its mode must have 8 bits
// and no palette. Pickles and lists of images can't be read, so the other
// columns must be chosen then.
//
// Open opens all shards, with zstd, gz, bz2 or snappy compression or without
// one; brotli is refused. Files are mapped if the system can do so. Bytes are
// then views of the mapping, valid until the dataset is closed. A compressed
// shard is decompressed as a whole, and up to 256 MiB of them are kept. Shuffle
// refuses a folder with such a shard. The Key is the shard and the sample's
// number in it, "train/shard.00000.mds@12".
//
// Reference: mosaicml-streaming 0.13.0's StreamingDataset without shuffling, on
// one rank, has the same samples in the same order.
type MDS struct {
	// Dir is the folder with index.json.
	Dir string `json:"dir"`
	// Columns are the chosen columns, in this order. Default: all.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "mds", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "the samples of MDS folders, as MosaicML's streaming writes them",
	})
}

// New returns a source of a folder with all columns.
func New(dir string) *MDS { return &MDS{Dir: dir, Columns: []string{}} }

// Validate requires distinct column names.
func (o *MDS) Validate() error {
	seen := map[string]bool{}
	for _, c := range o.Columns {
		if c == "" || seen[c] {
			return fmt.Errorf("%w: column %q, want distinct non-empty names", dataset.ErrParam, c)
		}
		seen[c] = true
	}
	return nil
}

// Open opens the folder.
func (o *MDS) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("mds: %w", err)
	}
	s, err := mds.Open(ctx, files, o.Dir, o.Columns...)
	if errors.Is(err, records.ErrField) {
		return nil, fmt.Errorf("%w: %w", dataset.ErrParam, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	return &rows{set: s, shared: s.Shared()}, nil
}

// rows is the opened folder.
type rows struct {
	set    *mds.Set
	shared bool
	memory sync.Pool // of *mds.Row
}

// Columns returns the chosen columns.
func (r *rows) Columns() (l []dataset.Column) {
	for _, c := range r.set.Columns() {
		l = append(l, dataset.Column{Name: c.Name, Desc: c.Desc})
	}
	return l
}

// Len returns the number of samples.
func (r *rows) Len() int64 { return r.set.Len() }

// Shards returns the first sample of each shard.
func (r *rows) Shards() []int64 { return r.set.Shards() }

// Ordered reports whether some shards are compressed.
func (r *rows) Ordered() bool { return r.set.Packed() }

// Keys yields the name and size of each shard.
func (r *rows) Keys(yield func(string) bool) {
	for _, i := range r.set.Shards() {
		name, size, _ := r.set.Place(i)
		if !yield(files.SizeKey(name, size)) {
			return
		}
	}
}

// Read reads a sample.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("mds: %w", err)
	}
	name, _, number := r.set.Place(i)
	s.Key = name + "@" + strconv.FormatInt(number, 10)
	m, _ := r.memory.Get().(*mds.Row)
	if m == nil {
		m = &mds.Row{}
	}
	defer r.memory.Put(m)
	if err := r.set.Read(i, m); err != nil {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, s.Key, err)
	}
	for k := range m.Values {
		from, to := &m.Values[k], &s.Values[k]
		if r.shared && (from.DType == tensor.Bytes || from.Layout != tensor.NoLayout) {
			to.Share(from)
		} else if err := to.Copy(from); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the shards.
func (r *rows) Close() error { return r.set.Close() }
