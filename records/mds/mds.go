// Package mds reads and writes MDS, the format of MosaicML's streaming: a
// folder with index.json and shards of samples. It reads shards with zstd, gz,
// bz2, snappy or no compression, and every encoding but pickles and lists of
// images.
package mds

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"container/list"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const formatName = "mds"

// Index is the name of the index in a folder.
const Index = "index.json"

const (
	maxIndex   = 1 << 28 // bytes of an index
	maxShard   = 1 << 32 // bytes of a shard, whose offsets have 32 bits
	maxPacked  = 1 << 30 // bytes of a decompressed shard
	maxColumns = 1 << 16
	// maxCached is the bytes of decompressed shards that a Set keeps. It always
	// keeps the shard used last.
	maxCached = 256 << 20
)

// Column is a column of the samples.
type Column struct {
	Name string
	Desc tensor.Desc
	Text bool // the bytes are UTF-8 text
}

// Set is the samples of a folder. It is safe for concurrent use with one Row
// per goroutine.
type Set struct {
	store   store.Opener
	columns []column
	wanted  []int // of columns
	shards  []*shard
	starts  []int64 // first sample of each shard, and the end

	mu    sync.Mutex
	used  int64     // bytes of decompressed shards
	order list.List // of *shard, decompressed; the one used last is in front
}

// shard is a file of samples.
type shard struct {
	name    string
	size    int64 // decompressed
	samples int64
	pack    string // how it is compressed, or empty
	packed  int64  // its size then
	file    store.File
	mapped  []byte

	mu   sync.Mutex
	data []byte        // decompressed, or nil
	at   *list.Element // of Set.order, if data is not nil
}

// index is the JSON of an index.
type index struct {
	Version int          `json:"version"`
	Shards  []indexShard `json:"shards"`
}

type indexShard struct {
	Version     int        `json:"version"`
	Format      string     `json:"format"`
	Names       []string   `json:"column_names"`
	Encodings   []string   `json:"column_encodings"`
	Sizes       []*int64   `json:"column_sizes"`
	Compression *string    `json:"compression"`
	Samples     int64      `json:"samples"`
	Raw         *indexFile `json:"raw_data"`
	Zip         *indexFile `json:"zip_data"`
}

type indexFile struct {
	Name string `json:"basename"`
	Size int64  `json:"bytes"`
}

// Open opens a folder, or its index. columns are the wanted columns, in this
// order; none means all. An unknown one is an ErrField, and one that can't be
// read an ErrUnsupported. ctx bounds Open alone.
//
// Open opens all shards. A shard that is missing or has another size than the
// index states is an error. A compressed shard is decompressed as a whole when
// one of its samples is read. The Set keeps up to 256 MiB of them.
func Open(ctx context.Context, o store.Opener, name string, columns ...string) (_ *Set, err error) {
	dir := name
	if store.Base(name) == Index {
		dir = store.Dir(name)
	}
	name = store.Join(dir, Index)
	s := &Set{store: o, starts: []int64{0}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	b, err := store.ReadFile(ctx, o, name, nil, maxIndex)
	if err != nil {
		return nil, fmt.Errorf("mds: %w", err)
	}
	var x index
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, records.Corruptf(formatName, name, -1, "%v", err)
	}
	if x.Version != 2 || len(x.Shards) == 0 {
		return nil, records.Corruptf(formatName, name, -1, "version %d with %d shards, want version 2 and one shard or more", x.Version, len(x.Shards))
	}
	for i := range x.Shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.add(ctx, dir, &x.Shards[i]); err != nil {
			if errors.Is(err, errIndex) {
				err = records.Corruptf(formatName, name, -1, "shard %d: %v", i, err)
			}
			return nil, err
		}
	}
	if err := s.choose(name, columns); err != nil {
		return nil, err
	}
	return s, nil
}

// errIndex marks errors that are the index's.
var errIndex = errors.New("invalid")

// add opens a shard.
func (s *Set) add(ctx context.Context, dir string, x *indexShard) error {
	columns, err := columnsOf(x)
	if err != nil {
		return fmt.Errorf("%w: %w", errIndex, err)
	}
	if s.columns == nil {
		s.columns = columns
	} else if !slices.Equal(columns, s.columns) {
		return fmt.Errorf("%w: its columns differ from those of the first shard", errIndex)
	}
	if x.Version != 2 || x.Format != formatName {
		return fmt.Errorf("%w: version %d of format %q, want version 2 of %q", errIndex, x.Version, x.Format, formatName)
	}
	for _, f := range []*indexFile{x.Raw, x.Zip} {
		if f != nil && (!fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, `\:`) || f.Size < 0 || f.Size > maxShard) {
			return fmt.Errorf("%w: file %q of %d bytes, want a path within the folder and at most %d bytes", errIndex, f.Name, f.Size, int64(maxShard))
		}
	}
	if x.Raw == nil || x.Samples < 0 || x.Samples > x.Raw.Size/4 {
		return fmt.Errorf("%w: %d samples, which the file can't hold", errIndex, x.Samples)
	}
	h := &shard{name: store.Join(dir, x.Raw.Name), size: x.Raw.Size, samples: x.Samples}
	h.file, err = s.store.Open(ctx, h.name)
	want := h.size
	if errors.Is(err, fs.ErrNotExist) && x.Zip != nil {
		if x.Compression != nil {
			h.pack, _, _ = strings.Cut(*x.Compression, ":")
		}
		switch h.pack {
		case "zstd", "gz", "bz2", "snappy":
		default:
			return fmt.Errorf("mds: %s: %w: compression %q, want zstd, gz, bz2 or snappy", store.Redact(store.Join(dir, x.Zip.Name)), records.ErrUnsupported, h.pack)
		}
		h.name = store.Join(dir, x.Zip.Name)
		want, h.packed = x.Zip.Size, x.Zip.Size
		h.file, err = s.store.Open(ctx, h.name)
	}
	if err != nil {
		return fmt.Errorf("mds: %w", err)
	}
	if h.pack != "" && h.size > maxPacked {
		return errors.Join(fmt.Errorf("mds: %s: %w: %d bytes decompressed, want at most %d", store.Redact(h.name), records.ErrTooLarge, h.size, maxPacked), h.file.Close())
	}
	s.shards = append(s.shards, h)
	s.starts = append(s.starts, s.Len()+h.samples)
	h.mapped = store.MappedBytes(h.file)
	if h.file.Size() != want {
		return records.Corruptf(formatName, h.name, -1, "%d bytes, want the %d that the index states", h.file.Size(), want)
	}
	if h.pack == "" {
		return h.check()
	}
	return nil
}

// check compares the head of a shard with the index.
func (h *shard) check() error {
	b, err := h.read(nil, 0, 4)
	if err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(b)); n != h.samples {
		return records.Corruptf(formatName, h.name, 0, "%d samples, want the %d that the index states", n, h.samples)
	}
	return nil
}

// choose sets the wanted columns.
func (s *Set) choose(name string, columns []string) error {
	all := len(columns) == 0
	if all {
		columns = s.names()
	}
	for _, want := range columns {
		i := slices.IndexFunc(s.columns, func(c column) bool { return c.Name == want })
		if i < 0 || slices.Contains(s.wanted, i) {
			return fmt.Errorf("mds: %s: %w: column %q, want each of %q at most once", store.Redact(name), records.ErrField, want, s.names())
		}
		s.wanted = append(s.wanted, i)
	}
	for _, i := range s.wanted {
		c := &s.columns[i]
		if c.rank < 0 { // the first sample tells
			var d tensor.Desc
			if s.Len() == 0 {
				d.DType = c.Desc.DType
			} else if err := s.first(i, &d); err != nil {
				return err
			}
			if d.DType == tensor.Invalid {
				d.DType = tensor.Float64
			}
			c.rank = d.Shape.Rank()
			c.Desc = tensor.Desc{DType: d.DType}
			for range c.rank {
				c.Desc.Shape = c.Desc.Shape.Append(tensor.Unknown)
			}
		}
		if c.bad {
			hint := ""
			if all {
				hint = ": choose other columns"
			}
			return fmt.Errorf("mds: %s: %w: column %q with encoding %q%s", store.Redact(name), records.ErrUnsupported, c.Name, c.encoding, hint)
		}
	}
	return nil
}

// first finds the description of a column in the first sample.
func (s *Set) first(column int, d *tensor.Desc) error {
	one := &Set{store: s.store, columns: s.columns, wanted: []int{column}, shards: s.shards, starts: s.starts}
	var r Row
	row := int64(0)
	if err := one.Read(row, &r); err != nil {
		return err
	}
	*d = r.Values[0].Desc
	for _, h := range s.shards { // one forgets them
		h.data, h.at = nil, nil
	}
	return nil
}

func (s *Set) names() (l []string) {
	for _, c := range s.columns {
		l = append(l, c.Name)
	}
	return l
}

// Columns returns the wanted columns.
func (s *Set) Columns() (l []Column) {
	for _, i := range s.wanted {
		l = append(l, s.columns[i].Column)
	}
	return l
}

// Len returns the number of samples.
func (s *Set) Len() int64 { return s.starts[len(s.starts)-1] }

// Shards returns the first sample of each shard, in a new slice.
func (s *Set) Shards() []int64 { return slices.Clone(s.starts[:len(s.starts)-1]) }

// Shared reports whether bytes and text that Read returns are valid until
// Close. Otherwise they are valid until the Row is reused.
func (s *Set) Shared() bool {
	return !slices.ContainsFunc(s.shards, func(h *shard) bool { return h.pack == "" && h.mapped == nil })
}

// Packed reports whether some shards are compressed.
func (s *Set) Packed() bool {
	return slices.ContainsFunc(s.shards, func(h *shard) bool { return h.pack != "" })
}

// Place returns the file of a sample, its size, and the sample's number in it.
func (s *Set) Place(i int64) (file string, size, number int64) {
	k := sort.Search(len(s.shards)-1, func(k int) bool { return s.starts[k+1] > i })
	return s.shards[k].name, s.shards[k].file.Size(), i - s.starts[k]
}

// Row holds a sample's values and their memory. The zero Row is ready for use.
type Row struct {
	// Values has one value for each wanted column. Numbers are in memory of the
	// Row; see Set.Shared for bytes and text.
	Values []tensor.Tensor

	data  []byte
	sizes []uint32
}

// Read reads sample i into r.
func (s *Set) Read(i int64, r *Row) error {
	if i < 0 || i >= s.Len() {
		return fmt.Errorf("mds: sample %d of %d", i, s.Len())
	}
	k := sort.Search(len(s.shards)-1, func(k int) bool { return s.starts[k+1] > i })
	h := s.shards[k]
	from := h.mapped
	if h.pack != "" {
		b, err := s.unpacked(h)
		if err != nil {
			return err
		}
		from = b
	}
	n := 4 * (i - s.starts[k] + 1)
	pair, err := h.view(from, &r.data, n, 8)
	if err != nil {
		return err
	}
	begin, end := int64(binary.LittleEndian.Uint32(pair)), int64(binary.LittleEndian.Uint32(pair[4:]))
	if begin < 4*(h.samples+2) || end < begin || end > h.size {
		return records.Corruptf(formatName, h.name, n, "a sample from byte %d to %d of %d", begin, end, h.size)
	}
	data, err := h.view(from, &r.data, begin, end-begin)
	if err != nil {
		return err
	}
	if err := s.decode(r, data); err != nil {
		if errors.Is(err, records.ErrUnsupported) {
			return fmt.Errorf("mds: %s: at byte %d: %w", store.Redact(h.name), begin, err)
		}
		return records.Corruptf(formatName, h.name, begin, "%v", err)
	}
	return nil
}

// view returns bytes of the shard: those of memory, or read into buf.
func (h *shard) view(memory []byte, buf *[]byte, at, n int64) ([]byte, error) {
	if memory != nil {
		if at > int64(len(memory))-n {
			return nil, records.Corruptf(formatName, h.name, at, "%d bytes, want %d more", len(memory), n)
		}
		return memory[at : at+n : at+n], nil
	}
	b, err := h.read(*buf, at, n)
	*buf = b
	return b, err
}

// read reads bytes of the file into buf's memory.
func (h *shard) read(buf []byte, at, n int64) ([]byte, error) {
	if at > h.file.Size()-n {
		return nil, records.Corruptf(formatName, h.name, at, "it has %d bytes, want %d more", h.file.Size(), n)
	}
	b := slices.Grow(buf[:0], int(n))[:n]
	if k, err := h.file.ReadAt(b, at); k < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // it was truncated since
		}
		return b, fmt.Errorf("mds: %s: at byte %d: %w", store.Redact(h.name), at, err)
	}
	return b, nil
}

// unpacked returns a compressed shard's data, and forgets that of shards which
// were not used for long if they are too many.
func (s *Set) unpacked(h *shard) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.mu.Lock()
	b := h.data
	if b != nil {
		s.order.MoveToFront(h.at)
	}
	s.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := h.unpack()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.data, h.at = b, s.order.PushFront(h)
	s.used += h.size
	for s.used > maxCached && s.order.Len() > 1 {
		last := s.order.Remove(s.order.Back()).(*shard)
		last.data, last.at = nil, nil
		s.used -= last.size
	}
	return b, nil
}

// unpack decompresses the shard.
func (h *shard) unpack() ([]byte, error) {
	in := h.mapped
	if in == nil {
		b, err := h.read(nil, 0, h.packed)
		if err != nil {
			return nil, err
		}
		in = b
	}
	var r io.Reader
	var err error
	switch h.pack {
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(in), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<30)); err == nil {
			defer d.Close()
			r = d
		}
	case "gz":
		r, err = gzip.NewReader(bytes.NewReader(in))
	case "bz2":
		r = bzip2.NewReader(bytes.NewReader(in))
	case "snappy":
		n, bad := snappy.DecodedLen(in)
		if bad != nil || int64(n) != h.size || h.size > 64*int64(len(in)) {
			return nil, records.Corruptf(formatName, h.name, 0, "%d bytes decompressed, want %d", n, h.size)
		}
		var b []byte
		if b, err = snappy.Decode(nil, in); err == nil {
			r = bytes.NewReader(b)
		}
	}
	// Memory grows with the data, not with the size that the index claims.
	var out bytes.Buffer
	if err == nil {
		out.Grow(int(min(h.size, 8*int64(len(in)))) + bytes.MinRead)
		_, err = io.Copy(&out, io.LimitReader(r, h.size+1))
	}
	if err != nil || int64(out.Len()) != h.size {
		return nil, records.Corruptf(formatName, h.name, -1, "decompressed: %d bytes (%v), want %d", out.Len(), err, h.size)
	}
	b := out.Bytes()
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) != h.samples {
		return nil, records.Corruptf(formatName, h.name, 0, "decompressed: another number of samples than the %d that the index states", h.samples)
	}
	return b, nil
}

// Close closes the shards.
func (s *Set) Close() error {
	var errs []error
	for _, h := range s.shards {
		errs = append(errs, h.file.Close())
	}
	s.shards, s.starts = nil, []int64{0}
	return errors.Join(errs...)
}
