package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/columnar/internal/table"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const formatName = "parquet"

const (
	// limit is the most bytes of a footer, a page, or the pages of a list that
	// are decoded together.
	limit = 1 << 30
	// maxValues is the most values that are decoded together.
	maxValues = 1 << 26
)

// set reads files as one sequence of rows. It is safe for concurrent use.
type set struct {
	table.Set[*file, column]
	cache cache
}

// file is an open file.
type file struct {
	store.File
	in     io.ReaderAt // the file, or its mapping
	mapped []byte
	name   string
	meta   *parquet.File
	starts []int64   // first row of each group of rows, and the end
	groups [][]chunk // by group of rows and leaf
}

// chunk is a column of a group of rows.
type chunk struct {
	file  *file
	group int
	leaf  int
	rows  int64

	mu    sync.Mutex
	units []unit // nil before the first use
}

// openSet opens files that have equal columns, and chooses columns by name. No
// names choose all. ctx bounds openSet alone.
func openSet(ctx context.Context, o store.Opener, names, columns []string) (_ *set, err error) {
	s := &set{Set: table.Set[*file, column]{Format: formatName, Images: table.NewImages(o)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.add(ctx, o, name); err != nil {
			return nil, err
		}
	}
	if err := s.Choose(columns); err != nil {
		return nil, err
	}
	return s, nil
}

// add opens a file.
func (s *set) add(ctx context.Context, o store.Opener, name string) error {
	in, err := o.Open(ctx, name)
	if err != nil {
		return err
	}
	f := &file{File: in, in: in, name: name, mapped: store.MappedBytes(in), starts: []int64{0}}
	if f.mapped != nil {
		f.in = bytes.NewReader(f.mapped)
	}
	s.Files = append(s.Files, f)
	columns, err := f.open()
	if err != nil {
		return err
	}
	return s.Append(columns, f.starts[len(f.starts)-1])
}

// Name returns the file's name.
func (f *file) Name() string { return f.name }

// corrupt returns a CorruptionError.
func (f *file) corrupt(format string, args ...any) error {
	return records.Corruptf(formatName, f.name, -1, format, args...)
}

// failed returns the error of reading the file, or of decoding what was read.
func (f *file) failed(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.corrupt("%s: it ends too early", what)
	}
	return f.corrupt("%s: %v", what, err)
}

// guard turns a panic of the library, which damaged files can cause, into an
// error.
func (f *file) guard(what string, err *error) {
	if p := recover(); p != nil {
		*err = f.corrupt("%s: %v", what, p)
	}
}

// readAt reads bytes in the file, or returns a view of its mapping.
func (f *file) readAt(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || n > limit || at > f.Size()-n {
		return nil, f.corrupt("%d bytes at byte %d of %d", n, at, f.Size())
	}
	if f.mapped != nil {
		return f.mapped[at : at+n : at+n], nil
	}
	b := make([]byte, n)
	if k, err := f.in.ReadAt(b, at); k < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("parquet: %s: at byte %d: %w", store.Redact(f.name), at, err)
	}
	return b, nil
}

// open reads the footer.
func (f *file) open() (columns []column, err error) {
	defer f.guard("footer", &err)
	size := f.Size()
	if size < 12 {
		return nil, f.corrupt("%d bytes, want 12 or more", size)
	}
	tail, err := f.readAt(size-8, 8)
	if err != nil {
		return nil, err
	}
	switch n := int64(binary.LittleEndian.Uint32(tail)); {
	case string(tail[4:]) == "PARE":
		return nil, fmt.Errorf("parquet: %s: %w: encryption", store.Redact(f.name), records.ErrUnsupported)
	case string(tail[4:]) != "PAR1":
		return nil, f.corrupt("it ends with %q, want %q: it was truncated, or is no Parquet file", tail[4:], "PAR1")
	case n > size-12 || n > limit:
		return nil, f.corrupt("a footer of %d bytes in a file of %d", n, size)
	default:
		footer, err := f.readAt(size-8-n, n)
		if err != nil {
			return nil, err
		}
		if _, err := checkThrift(footer); err != nil {
			return nil, f.failed("footer", err)
		}
	}
	if f.meta, err = parquet.OpenFile(f.in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, f.failed("footer", err)
	}
	if columns, err = columnsOf(f.meta); err != nil {
		return nil, f.corrupt("%v", err)
	}
	for g, group := range f.meta.Metadata().RowGroups {
		end := f.starts[g] + group.NumRows
		if group.NumRows < 0 || end < f.starts[g] {
			return nil, f.corrupt("a group of %d rows", group.NumRows)
		}
		if len(group.Columns) != len(columns) {
			return nil, f.corrupt("a group of rows with %d columns, want %d", len(group.Columns), len(columns))
		}
		l := make([]chunk, len(columns))
		for i := range l {
			l[i] = chunk{file: f, group: g, leaf: i, rows: group.NumRows}
		}
		f.starts = append(f.starts, end)
		f.groups = append(f.groups, l)
	}
	return columns, nil
}

// value makes v the value of the k-th column. null reports that the row has
// none.
func (s *set) value(f *file, row int64, k int, v *dataset.Value) (null bool, err error) {
	c := &s.All[k]
	g := sort.Search(len(f.starts)-2, func(i int) bool { return f.starts[i+1] > row })
	h := &f.groups[g][c.leaf]
	row -= f.starts[g]
	u, err := h.find(c, row)
	if err != nil {
		return false, err
	}
	b, err := s.cache.block(h, c, u)
	if err != nil {
		return false, err
	}
	null, err = b.value(c, row-h.units[u].first, v)
	if err != nil {
		err = f.corrupt("column %q: row %d: %v", c.Name, f.starts[g]+row, err)
	}
	return null, err
}

// label sets the class names that the first file has for its labels.
func (s *set) label() error {
	for _, m := range s.Files[0].meta.Metadata().KeyValueMetadata {
		if m.Key == table.MetadataKey {
			return s.Label(m.Value)
		}
	}
	return nil
}

// value makes v the value of a row of the block.
func (b *block) value(c *column, row int64, v *dataset.Value) (null bool, err error) {
	if len(c.lists) > 0 {
		return b.list(c, row, v)
	}
	i := int(row)
	if b.valid != nil {
		if i = int(b.valid[row]); i < 0 {
			return true, nil
		}
	}
	if c.Desc.DType == tensor.Bytes {
		v.ShareBytes(b.bytes(i))
		return false, nil
	}
	if err := v.Reset(c.Desc); err != nil {
		return false, err
	}
	n := c.Desc.DType.Size()
	copy(v.Data, b.elems[i*n:(i+1)*n])
	return false, nil
}

// list makes v the nested lists of a row, which must be a full array.
func (b *block) list(c *column, row int64, v *dataset.Value) (null bool, err error) {
	var dims, count [tensor.MaxRank]int
	var open [tensor.MaxRank]bool
	rank := len(c.lists)
	for k := range dims {
		dims[k] = -1
	}
	end := func(k int) error {
		for ; k < rank; k++ {
			if !open[k] {
				continue
			}
			if dims[k] >= 0 && dims[k] != count[k] {
				return fmt.Errorf("lists of %d and %d elements, want equal lengths in a row", dims[k], count[k])
			}
			dims[k], count[k], open[k] = count[k], 0, false
		}
		return nil
	}
	from, to := b.starts[row], b.starts[row+1]
	first, n := b.values[row], 0
	for i := from; i < to; i++ {
		r, d := int(b.rep[i]), b.def[i]
		if i > from {
			if err := end(r); err != nil {
				return false, err
			}
		}
		k := max(r-1, 0)
		for ; k < rank && d >= c.lists[k]; k++ {
			open[k] = true
			count[k]++
		}
		switch {
		case k < rank && d < c.lists[k]-1 || k == rank && int(d) < c.maxDef:
			if i == from && to == from+1 && (k == 0) {
				return true, nil
			}
			return false, errors.New("null within a list")
		case k < rank:
			open[k] = true
		default:
			n++
		}
	}
	if err := end(0); err != nil {
		return false, err
	}
	d := tensor.Desc{DType: c.Desc.DType}
	for k := range rank {
		d.Shape = d.Shape.Append(max(dims[k], 0))
	}
	if err := v.Reset(d); err != nil {
		return false, err
	}
	size := d.DType.Size()
	copy(v.Data, b.elems[int(first)*size:(int(first)+n)*size])
	return false, nil
}

// uint64s checks that unsigned numbers fit int64.
func uint64s(b []byte) error {
	for ; len(b) >= 8; b = b[8:] {
		if x := binary.NativeEndian.Uint64(b); x > math.MaxInt64 {
			return fmt.Errorf("%d, want at most %d", x, int64(math.MaxInt64))
		}
	}
	return nil
}
