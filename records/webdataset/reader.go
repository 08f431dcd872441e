package webdataset

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// maxWindow is the largest window of a zstd frame, the default limit of the
// zstd tool.
const maxWindow = 128 << 20

// maxFields bounds the fields of a sample, and maxNameBytes the bytes in
// their names. Real samples have tens of fields. The bounds keep a small shard
// with many members from taking much memory.
const (
	maxFields    = 1 << 16
	maxNameBytes = 64 << 20
)

// Options are the options of a Reader. The zero value is ready for use.
type Options struct {
	// Name is the name of the shard in samples and errors.
	Name string
	// Lenient ends a damaged shard before the damage. It drops the sample
	// before the damage, which may be incomplete; Dropped reports that.
	Lenient bool
	// Limit is the largest number of bytes in the fields of one sample. Default
	// 1 GiB. A sample has at most 65,536 fields, with at most 64 MiB of names.
	// A larger sample is a records.ErrTooLarge.
	Limit int64
}

// Dropped describes the samples that a lenient reader dropped.
type Dropped struct {
	Samples int64 // known to have begun
	Keys    []string
	First   error // the damage; nil if there was none
}

// Reader reads the samples of a shard in order. It is for one goroutine at a
// time.
type Reader struct {
	t       tarReader
	o       Options
	close   []func() error
	pending member // the first member of the next sample
	key     string
	ext     string
	begun   bool // pending holds a member
	done    bool // the archive has ended
	sample  Sample
	exts    map[string]bool // of a sample with more than fewFields
	memory  arena           // of the fields, unless they are views
	dropped Dropped
	err     error

	from, to int64 // of the sample in the tar file
	crc      uint32
}

// NewBytes returns a reader of the shard in b, for example a mapped file.
// Fields are views of b unless the shard is compressed.
func NewBytes(b []byte, o Options) (*Reader, error) {
	if compressed(b) {
		return NewReader(bytes.NewReader(b), o)
	}
	if b == nil {
		b = []byte{}
	}
	return &Reader{t: tarReader{name: o.Name, mem: b}, o: o.fill()}, nil
}

func (o Options) fill() Options {
	if o.Limit <= 0 {
		o.Limit = 1 << 30
	}
	return o
}

const (
	gzipMagic  = "\x1f\x8b"
	zstdMagic  = "\x28\xb5\x2f\xfd"
	bzip2Magic = "BZh"
	xzMagic    = "\xfd7zXZ"
)

func compressed(b []byte) bool {
	for _, m := range []string{gzipMagic, zstdMagic, bzip2Magic, xzMagic} {
		if bytes.HasPrefix(b, []byte(m)) {
			return true
		}
	}
	return false
}

// Compressed reports whether a shard is compressed, by its first bytes.
func Compressed(ctx context.Context, o store.Opener, shard string) (bool, error) {
	if err := refuse(shard); err != nil {
		return false, err
	}
	f, err := o.Open(ctx, shard)
	if err != nil {
		return false, fmt.Errorf("webdataset: %w", err)
	}
	b := make([]byte, len(xzMagic))
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("webdataset: %s: %w", shard, err)
	}
	return compressed(b[:n]), nil
}

// NewReader returns a reader of a shard. It detects the compression from the
// first bytes, and returns an error if that is unknown or its header is
// invalid.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	x := &Reader{o: o.fill()}
	end, err := x.t.unpack(r, o.Name)
	if err != nil {
		return nil, err
	}
	x.close = append(x.close, end)
	return x, nil
}

// unpack sets the input of t and its decompression, which the first bytes
// decide. The caller calls end when it has finished with t.
func (t *tarReader) unpack(r io.Reader, name string) (end func() error, err error) {
	t.name = name
	src := &source{r: r}
	in := bufio.NewReaderSize(src, 64<<10)
	first, err := in.Peek(len(xzMagic))
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("webdataset: %s: %w", store.Redact(name), err)
	}
	t.r = in
	if compressed(first) {
		t.src = src
	}
	end = func() error { return nil }
	has := func(m string) bool { return bytes.HasPrefix(first, []byte(m)) }
	switch {
	case has(gzipMagic):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, t.fail(0, "the head of a gzip file", err)
		}
		t.r = unpacked{z}
	case has(zstdMagic):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(1<<62))
		if err != nil {
			return nil, t.fail(0, "the head of a zstd file", err)
		}
		t.r = unpacked{z}
		end = func() error { z.Close(); return nil }
	case has(bzip2Magic):
		t.r = unpacked{bzip2.NewReader(in)}
	case has(xzMagic):
		return nil, fmt.Errorf("webdataset: %s: %w: compressed with xz, want gzip, zstd, bzip2 or no compression", store.Redact(name), records.ErrUnsupported)
	}
	return end, nil
}

// source is a compressed file. It remembers its own errors, so that all other
// errors are known to be damage.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// unpacked is a decompressor. It reports a truncated input as an error rather
// than as the end of the content.
type unpacked struct{ io.Reader }

var errCut = errors.New("it is cut off")

func (u unpacked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err == io.ErrUnexpectedEOF {
		err = errCut
	}
	return n, err
}

// Open opens a shard of a store.
func Open(ctx context.Context, o store.Opener, name string, options Options) (*Reader, error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("webdataset: %w", err)
	}
	if options.Name == "" {
		options.Name = name
	}
	var r *Reader
	if b := store.MappedBytes(f); b != nil {
		r, err = NewBytes(b, options)
	} else {
		r, err = NewReader(io.NewSectionReader(f, 0, f.Size()), options)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.close = append(r.close, f.Close)
	return r, nil
}

// Close closes the shard. The samples of Next become invalid.
func (r *Reader) Close() error {
	var err error
	for _, f := range r.close {
		err = errors.Join(err, f())
	}
	r.close = nil
	if r.err == nil || r.err == io.EOF {
		r.err = fmt.Errorf("webdataset: %s: closed", r.o.Name)
	}
	return err
}

// Next returns the next sample, valid until the next call, and io.EOF at the
// end. It returns a sample only after it has read the start of the following
// one, or a valid end of the archive. It returns any other error again at every
// later call.
func (r *Reader) Next() (*Sample, error) {
	if r.err == nil {
		if r.err = r.read(); r.err == nil {
			return &r.sample, nil
		}
		if r.o.Lenient && errors.Is(r.err, records.ErrCorrupt) {
			r.dropped.First = r.err
			if r.begun {
				r.dropped.Samples++
				r.dropped.Keys = append(r.dropped.Keys, r.key)
			}
			r.err = io.EOF
		}
	}
	return nil, r.err
}

// Ignored returns the members so far that belong to no sample.
func (r *Reader) Ignored() Ignored { return r.t.ignored }

// Dropped returns the dropped samples so far, none unless Options.Lenient is
// set.
func (r *Reader) Dropped() Dropped { return r.dropped }

// member returns the next member with a key.
func (r *Reader) member() (m member, key, ext string, err error) {
	for {
		if m, err = r.t.next(); err != nil {
			return m, "", "", err
		}
		var ok bool
		if key, ext, ok = KeyExt(m.name); !ok {
			r.t.ignored.add(m.name, "a name without a key")
			continue
		}
		if reserved(ext) {
			return m, "", "", r.t.corrupt(m.start, "%q: %q is no name for a field", m.name, ext)
		}
		return m, key, ext, nil
	}
}

// fewFields is the number of fields up to which a search in order is faster
// than a map.
const fewFields = 16

// has reports whether the sample has a field.
func (r *Reader) has(ext string) bool {
	l := r.sample.Fields
	switch {
	case len(l) < fewFields:
		_, ok := r.sample.Get(ext)
		return ok
	case len(l) == fewFields:
		r.exts = make(map[string]bool, 2*fewFields)
		for _, f := range l {
			r.exts[f.Ext] = true
		}
	}
	twice := r.exts[ext]
	r.exts[ext] = true
	return twice
}

func (r *Reader) read() (err error) {
	if r.done {
		return io.EOF
	}
	if !r.begun {
		if r.pending, r.key, r.ext, err = r.member(); err != nil {
			return err
		}
		r.begun = true
	}
	m, ext := r.pending, r.ext
	s := &r.sample
	*s = Sample{Key: r.key, Fields: s.Fields[:0], Shard: r.o.Name, Offset: m.start}
	r.memory.reset()
	r.from, r.t.crc = m.start, r.t.chain
	total, names := int64(0), 0
	for {
		if r.has(ext) {
			return r.t.corrupt(m.start, "%q: sample %q has two fields %q", m.name, s.Key, ext)
		}
		tooLarge := func(format string, args ...any) error {
			return fmt.Errorf("webdataset: %s: at byte %d: %w: "+format, append([]any{r.o.Name, m.start, records.ErrTooLarge}, args...)...)
		}
		names += len(m.name)
		switch {
		case m.size > min(r.o.Limit, math.MaxInt)-total:
			return tooLarge("%q has %d bytes after %d of the sample, the limit is %d", m.name, m.size, total, r.o.Limit)
		case len(s.Fields) == maxFields:
			return tooLarge("sample %.60q has more than %d fields", s.Key, maxFields)
		case names > maxNameBytes:
			return tooLarge("sample %.60q has names of more than %d bytes", s.Key, maxNameBytes)
		}
		total += m.size
		var data []byte
		if r.t.mem != nil {
			data, err = r.t.data(nil)
		} else {
			room := r.memory.take(int(m.size))
			if data, err = r.t.data(room); err == nil && room == nil {
				r.memory.add(data)
			}
		}
		if err == nil {
			err = r.t.padding()
		}
		if err != nil {
			return err
		}
		r.to, r.crc = r.t.at, r.t.crc
		s.Fields = append(s.Fields, Field{ext, data})
		var key string
		m, key, ext, err = r.member()
		if err == nil && key == s.Key {
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if r.begun = err == nil; r.begun {
			r.pending, r.key, r.ext = m, key, ext
		}
		break
	}
	r.done = !r.begun
	return nil
}

// arena is the memory of one sample's fields. Fields do not move while others
// are added, so that a large field is held once.
type arena struct {
	blocks [][]byte // the length of each is the part in use
}

const (
	minBlock = 64 << 10
	// A larger field has a block of its own, which grows with its bytes.
	maxSmall = 1 << 20
	maxBlock = 16 << 20
	// Blocks of no more bytes together become one for the next sample.
	maxJoined = 64 << 20
)

// reset makes the memory free for the next sample. It drops large blocks that
// the last sample did not use.
func (a *arena) reset() {
	total := 0
	for _, b := range a.blocks {
		total += cap(b)
	}
	switch {
	case len(a.blocks) < 2:
	case total <= maxJoined:
		clear(a.blocks)
		a.blocks = append(a.blocks[:0], make([]byte, 0, total))
	default:
		a.blocks = slices.DeleteFunc(a.blocks, func(b []byte) bool { return len(b) == 0 })
	}
	for i, b := range a.blocks {
		a.blocks[i] = b[:0]
	}
}

// take returns n free bytes. It returns nil for a large field that no block has
// room for: the caller adds its memory.
func (a *arena) take(n int) []byte {
	small := 0
	for i, b := range a.blocks {
		at := len(b)
		if cap(b)-at >= n {
			a.blocks[i] = b[:at+n]
			return b[at : at+n : at+n]
		}
		if cap(b) <= maxBlock {
			small += cap(b)
		}
	}
	if n > maxSmall {
		return nil
	}
	b := make([]byte, n, max(n, minBlock, min(small, maxBlock)))
	a.blocks = append(a.blocks, b)
	return b[:n:n]
}

// add adds a block that is in use.
func (a *arena) add(b []byte) { a.blocks = append(a.blocks, b) }
