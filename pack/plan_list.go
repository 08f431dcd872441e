package pack

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/infer-prep/infer-prep/store"
)

// The layout of a listing, with all numbers little-endian:
//
//	magic
//	chunks: zstd frames of entries of one shard each
//	index: for each chunk, by shard and then in the order of the file, its
//	       offset (8), compressed size (4), size (4), entries (4), CRC-32C of
//	       the compressed bytes (4)
//	directory: for each shard the number of its chunks (4) and the CRC-32C of
//	       its part of the index (4)
//	footer: SHA-256 of the entries (32), shards (8), entries (8), offset of the
//	       index (8), CRC-32C of the directory (4), CRC-32C of the footer up to
//	       here (4)
const (
	listMagic  = "IPLIST\x01\n"
	listEntry  = 24 // bytes of the index for a chunk
	listShard  = 8  // bytes of the directory for a shard
	listFooter = 64

	// maxEntry bounds an entry in bytes: im2rec's lists have lines of at most
	// 1 MiB.
	maxEntry = 2 << 20
	// A chunk has at most maxChunk bytes of entries, or a single larger entry.
	// The writer keeps one unfinished chunk for each shard, chunkMemory bytes
	// of them together, but at least leastChunk each.
	maxChunk    = 128 << 10
	chunkMemory = 256 << 20
	leastChunk  = 512
)

// appendEntry appends an entry without shard and position, and its versions
// only if versions is true.
func appendEntry(b []byte, e *Entry, versions bool) []byte {
	b = binary.AppendUvarint(b, e.Number)
	b = binary.AppendUvarint(b, uint64(len(e.Labels)))
	for _, l := range e.Labels {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(l))
	}
	b = binary.AppendUvarint(b, uint64(len(e.Files)))
	for _, f := range e.Files {
		b = binary.AppendUvarint(b, uint64(len(f.Path)))
		b = append(b, f.Path...)
		b = binary.AppendUvarint(b, uint64(f.Size+1))
		b = binary.AppendVarint(b, f.Modified)
		if versions {
			b = binary.LittleEndian.AppendUint64(b, f.Version)
		}
	}
	return b
}

// MarshalBinary returns the entry for another process of the same program: the
// form of the listing, with the shard in front. Equal entries have equal bytes.
// err is always nil.
func (e *Entry) MarshalBinary() (b []byte, err error) {
	b = binary.AppendUvarint(nil, uint64(e.Shard))
	b = binary.AppendUvarint(b, uint64(e.Position))
	return appendEntry(b, e, true), nil
}

// UnmarshalBinary sets the entry to what MarshalBinary encoded. Other bytes are
// an error.
func (e *Entry) UnmarshalBinary(b []byte) error {
	r := &entryReader{b: b}
	shard := r.uvarint()
	x, n, err := parseEntry(r.b, 0, true)
	if err != nil || n != len(r.b) || shard >= maxPlanShards {
		return fmt.Errorf("pack: plan: %w of %d bytes", errEntry, len(b))
	}
	*e, e.Shard = x, int(shard)
	return nil
}

var errEntry = errors.New("an invalid entry")

// entryReader reads the parts of an entry.
type entryReader struct {
	b   []byte
	bad bool
}

func (r *entryReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *entryReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// take returns the next n*size bytes.
func (r *entryReader) take(n uint64, size int) []byte {
	if n > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:int(n)*size]
	r.b = r.b[len(b):]
	return b
}

// parseEntry reads an entry with its position, counted from first, and returns
// the number of bytes that it takes. versions is that of appendEntry.
func parseEntry(b []byte, first int64, versions bool) (e Entry, n int, err error) {
	r := &entryReader{b: b}
	e.Position = int64(r.uvarint()) + first
	e.Number = r.uvarint()
	if labels := r.take(r.uvarint(), 4); len(labels) > 0 {
		e.Labels = make([]float32, len(labels)/4)
		for i := range e.Labels {
			e.Labels[i] = math.Float32frombits(binary.LittleEndian.Uint32(labels[4*i:]))
		}
	}
	const leastFile = 3 // bytes
	files := r.uvarint()
	if files == 0 || files > uint64(len(r.b)/leastFile) {
		return e, 0, errEntry
	}
	e.Files = make([]EntryFile, files)
	for i := range e.Files {
		f := &e.Files[i]
		f.Path = string(r.take(r.uvarint(), 1))
		size := r.uvarint()
		f.Size, f.Modified = int64(size)-1, r.varint()
		if versions {
			if v := r.take(1, 8); v != nil {
				f.Version = binary.LittleEndian.Uint64(v)
			}
		}
		if f.Path == "" || size > math.MaxInt64 {
			r.bad = true
		}
	}
	if r.bad {
		return e, 0, errEntry
	}
	return e, len(b) - len(r.b), nil
}

// listChunk locates a chunk.
type listChunk struct {
	offset         int64
	size, raw      uint32 // compressed, and not
	entries, check uint32
}

// listWriter writes a listing.
type listWriter struct {
	plan   *Plan
	w      *store.Writer
	at     int64
	limit  int // bytes of a chunk
	zstd   *zstd.Encoder
	open   []openChunk
	chunks [][]listChunk // by shard
	frame  []byte
	entry  []byte
}

type openChunk struct {
	b       []byte
	entries uint32
}

func newListWriter(ctx context.Context, files store.Opener, name string, p *Plan) (*listWriter, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	w, err := store.NewWriter(ctx, files, name)
	if err != nil {
		return nil, fmt.Errorf("pack: plan: %w", err)
	}
	l := &listWriter{plan: p, w: w, zstd: z, limit: min(max(chunkMemory/p.Shards, leastChunk), maxChunk), open: make([]openChunk, p.Shards), chunks: make([][]listChunk, p.Shards)}
	return l, l.write([]byte(listMagic))
}

func (l *listWriter) write(b []byte) error {
	n, err := l.w.Write(b)
	l.at += int64(n)
	if err != nil {
		return fmt.Errorf("pack: plan: the listing: %w", err)
	}
	return nil
}

// add adds an entry as appendEntry encodes it.
func (l *listWriter) add(position int64, body []byte) error {
	s := l.plan.shardOf(position)
	first, end := l.plan.Range(s)
	l.entry = binary.AppendUvarint(l.entry[:0], uint64(position-first))
	l.entry = append(l.entry, body...)
	c := &l.open[s]
	if len(c.b) > 0 && len(c.b)+len(l.entry) > l.limit {
		if err := l.flush(s); err != nil {
			return err
		}
	}
	if c.b == nil && l.plan.Seed == nil {
		c.b = make([]byte, 0, l.limit) // one shard after another
	}
	c.b = append(c.b, l.entry...)
	if c.entries++; position == end-1 && l.plan.Seed == nil {
		err := l.flush(s)
		l.open[s].b = nil
		return err
	}
	return nil
}

// flush writes the open chunk of a shard.
func (l *listWriter) flush(s int) error {
	c := &l.open[s]
	if c.entries == 0 {
		return nil
	}
	l.frame = l.zstd.EncodeAll(c.b, l.frame[:0])
	l.chunks[s] = append(l.chunks[s], listChunk{l.at, uint32(len(l.frame)), uint32(len(c.b)), c.entries, crc32.Checksum(l.frame, castagnoli)})
	c.b, c.entries = c.b[:0], 0
	return l.write(l.frame)
}

// finish writes the rest and makes the listing appear under its name. digest is
// that of the entries.
func (l *listWriter) finish(digest []byte) error {
	for s := range l.open {
		if err := l.flush(s); err != nil {
			return err
		}
		l.open[s].b = nil
	}
	index := l.at
	var directory, b []byte
	for _, chunks := range l.chunks {
		b = b[:0]
		for _, c := range chunks {
			b = binary.LittleEndian.AppendUint64(b, uint64(c.offset))
			for _, v := range []uint32{c.size, c.raw, c.entries, c.check} {
				b = binary.LittleEndian.AppendUint32(b, v)
			}
		}
		directory = binary.LittleEndian.AppendUint32(directory, uint32(len(chunks)))
		directory = binary.LittleEndian.AppendUint32(directory, crc32.Checksum(b, castagnoli))
		if err := l.write(b); err != nil {
			return err
		}
	}
	footer := slices.Clone(digest)
	for _, v := range []int64{int64(l.plan.Shards), l.plan.Count, index} {
		footer = binary.LittleEndian.AppendUint64(footer, uint64(v))
	}
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(directory, castagnoli))
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(footer, castagnoli))
	if err := errors.Join(l.write(directory), l.write(footer)); err != nil {
		return err
	}
	if err := l.w.Close(); err != nil {
		return fmt.Errorf("pack: plan: the listing: %w", err)
	}
	return nil
}

func (l *listWriter) abort() error { return l.w.Abort() }

// listReader reads the parts of a listing. It is safe for concurrent use.
type listReader struct {
	name      string
	file      store.File
	plan      *Plan
	index     int64 // offset
	directory []byte
	firsts    []int64 // the number of each shard's first chunk
	zstd      sync.Pool
}

// corrupt returns the error of a damaged listing.
func (l *listReader) corrupt(format string, args ...any) error {
	return planErrorf(l.name, "the listing is damaged: %w", fmt.Errorf(format, args...))
}

// openListing opens a listing and compares it with its plan.
func openListing(ctx context.Context, files store.Opener, name string, p *Plan) (_ *listReader, err error) {
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("pack: plan: the listing: %w", err)
	}
	l := &listReader{name: name, file: f, plan: p}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	size := f.Size()
	least := int64(len(listMagic)) + int64(p.Shards)*(listEntry+listShard) + listFooter
	if size < least {
		return nil, l.corrupt("%d bytes: want at least %d", size, least)
	}
	var head [len(listMagic)]byte
	var footer [listFooter]byte
	if err := errors.Join(l.read(head[:], 0), l.read(footer[:], size-listFooter)); err != nil {
		return nil, err
	}
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint64(footer[at:])) }
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(footer[at:]) }
	switch {
	case string(head[:6]) != listMagic[:6]:
		return nil, l.corrupt("it begins with %q: want %q", head, listMagic)
	case string(head[:]) != listMagic:
		return nil, planErrorf(name, "a listing of version %d: this build reads version %d", head[6], listMagic[6])
	case word(listFooter-4) != crc32.Checksum(footer[:listFooter-4], castagnoli):
		return nil, l.corrupt("the checksum of its end is not that of these bytes")
	case hex.EncodeToString(footer[:32]) != p.digest || number(32) != int64(p.Shards) || number(40) != p.Count:
		return nil, planErrorf(name, "a listing of another plan: %d entries in %d shards, digest %x: want %d in %d, %s", number(40), number(32), footer[:32], p.Count, p.Shards, p.digest)
	}
	l.directory = make([]byte, p.Shards*listShard)
	at := size - listFooter - int64(len(l.directory))
	if err := l.read(l.directory, at); err != nil {
		return nil, err
	}
	if crc32.Checksum(l.directory, castagnoli) != word(56) {
		return nil, l.corrupt("the checksum of its directory is not that of these bytes")
	}
	l.index = number(48)
	l.firsts = make([]int64, p.Shards+1)
	for s := range p.Shards {
		l.firsts[s+1] = l.firsts[s] + int64(binary.LittleEndian.Uint32(l.directory[s*listShard:]))
	}
	if l.index < int64(len(listMagic)) || l.index > at || l.firsts[p.Shards] != (at-l.index)/listEntry || (at-l.index)%listEntry != 0 {
		return nil, l.corrupt("an index at byte %d for %d chunks, and a directory at byte %d", l.index, l.firsts[p.Shards], at)
	}
	l.zstd.New = func() any {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxEntry+maxChunk))
		if err != nil {
			return err
		}
		return z
	}
	return l, nil
}

// read fills b with the bytes at an offset.
func (l *listReader) read(b []byte, at int64) error {
	n, err := l.file.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return l.corrupt("it ends at byte %d: want %d", at+int64(n), at+int64(len(b)))
	}
	return fmt.Errorf("pack: plan: %s: at byte %d: %w", l.name, at, err)
}

// shardList holds the entries of a shard.
type shardList struct {
	raw    []byte
	first  int64 // the position of the shard's first entry
	places []entryPlace
}

// entryPlace locates an entry in raw.
type entryPlace struct {
	from     int
	position int64
}

// shard reads and checks the entries of a shard.
func (l *listReader) shard(ctx context.Context, s int) (*shardList, error) {
	index := make([]byte, (l.firsts[s+1]-l.firsts[s])*listEntry)
	if err := l.read(index, l.index+l.firsts[s]*listEntry); err != nil {
		return nil, err
	}
	if crc32.Checksum(index, castagnoli) != binary.LittleEndian.Uint32(l.directory[s*listShard+4:]) {
		return nil, l.corrupt("the checksum of the index of shard %d is not that of these bytes", s)
	}
	z, ok := l.zstd.Get().(*zstd.Decoder)
	if !ok {
		return nil, l.corrupt("no decoder")
	}
	defer l.zstd.Put(z)
	first, end := l.plan.Range(s)
	list := &shardList{first: first}
	var b, raw []byte
	for ; len(index) > 0; index = index[listEntry:] {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var c listChunk
		c.offset = int64(binary.LittleEndian.Uint64(index))
		for i, v := range []*uint32{&c.size, &c.raw, &c.entries, &c.check} {
			*v = binary.LittleEndian.Uint32(index[8+4*i:])
		}
		if c.offset < int64(len(listMagic)) || c.offset > l.index-int64(c.size) || c.raw > maxEntry+maxChunk {
			return nil, l.corrupt("a chunk of %d bytes at byte %d, of shard %d", c.size, c.offset, s)
		}
		b = slices.Grow(b[:0], int(c.size))[:c.size]
		if err := l.read(b, c.offset); err != nil {
			return nil, err
		}
		if crc32.Checksum(b, castagnoli) != c.check {
			return nil, l.corrupt("the checksum of the chunk at byte %d is not that of these bytes", c.offset)
		}
		var err error
		if raw, err = z.DecodeAll(b, raw[:0]); err != nil || len(raw) != int(c.raw) {
			return nil, l.corrupt("the chunk at byte %d has %d bytes: want %d (%v)", c.offset, len(raw), c.raw, err)
		}
		from := len(list.raw)
		list.raw = append(list.raw, raw...)
		for range c.entries {
			e, n, err := parseEntry(list.raw[from:], first, l.plan.versions)
			if err != nil || e.Position < first || e.Position >= end {
				return nil, l.corrupt("%w in the chunk at byte %d, of shard %d", errEntry, c.offset, s)
			}
			list.places = append(list.places, entryPlace{from, e.Position})
			from += n
		}
		if from != len(list.raw) {
			return nil, l.corrupt("bytes behind the entries of the chunk at byte %d", c.offset)
		}
	}
	slices.SortFunc(list.places, func(a, b entryPlace) int { return int(a.position - b.position) })
	for i, p := range list.places {
		if p.position != first+int64(i) {
			return nil, l.corrupt("position %d of shard %d is there twice or missing", first+int64(i), s)
		}
	}
	if int64(len(list.places)) != end-first {
		return nil, l.corrupt("shard %d has %d entries: want %d", s, len(list.places), end-first)
	}
	return list, nil
}

func (l *listReader) close() error { return l.file.Close() }
