package webdataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Entry is the place of a sample in a tar file.
type Entry struct {
	Key    string
	Offset int64  // of its first header
	Size   int64  // to the end of the last member's padding
	CRC    uint32 // CRC-32C of these bytes
}

// Index lists the samples of an uncompressed shard, in order.
type Index struct {
	Size     int64     // of the shard
	Modified time.Time // modification time of the shard; zero if unknown
	Entries  []Entry
	// Scanned reports that Scan made the index: its entries have no checksums.
	Scanned bool
	// Ignored describes the members in no sample, if Scan made the index.
	Ignored Ignored
}

// IndexName returns the name of the index beside a shard.
func IndexName(shard string) string { return store.Beside(shard, "", ".index") }

// indexHead is the first line of an index.
const indexHead = "infer-prep webdataset index 1"

// AppendText appends the text of the index file to b. An index without
// checksums is an error.
func (x *Index) AppendText(b []byte) ([]byte, error) {
	if x.Scanned {
		return b, errors.New("webdataset: an index without checksums, which is for reading alone")
	}
	from := len(b)
	var at int64
	if !x.Modified.IsZero() {
		at = x.Modified.UnixNano()
	}
	b = fmt.Appendf(b, "%s\nsize %d\nmodified %d\nsamples %d\n", indexHead, x.Size, at, len(x.Entries))
	for _, e := range x.Entries {
		b = strconv.AppendInt(b, e.Offset, 10)
		b = strconv.AppendInt(append(b, ' '), e.Size, 10)
		b = fmt.Appendf(b, " %08x ", e.CRC)
		b = append(strconv.AppendQuote(b, e.Key), '\n')
	}
	return fmt.Appendf(b, "crc %08x\n", crc32.Checksum(b[from:], castagnoli)), nil
}

// ReadIndex reads an index and makes all checks that do not need the shard. The
// name is for errors.
func ReadIndex(name string, r io.Reader) (*Index, error) {
	x := &Index{}
	in := bufio.NewReaderSize(r, 64<<10)
	var at, next int64
	var sum uint32
	corrupt := func(format string, args ...any) error {
		return records.Corruptf(formatName, name, at, format, args...)
	}
	line := func() (string, error) {
		at = next
		var b []byte
		for {
			part, err := in.ReadSlice('\n')
			b = append(b, part...)
			if len(b) > 8*maxName {
				return "", corrupt("a line of more than %d bytes", 8*maxName)
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			if err == io.EOF {
				return "", corrupt("the index ends within a line, or before its checksum")
			}
			if err != nil {
				return "", fmt.Errorf("webdataset: %s: at byte %d: %w", store.Redact(name), at, err)
			}
			break
		}
		next += int64(len(b))
		return string(b), nil
	}
	head := func(key string) (int64, error) {
		s, err := line()
		if err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, []byte(s))
		v, ok := strings.CutPrefix(s, key+" ")
		n, err := strconv.ParseInt(strings.TrimSuffix(v, "\n"), 10, 64)
		if !ok || err != nil || n < 0 {
			return 0, corrupt("%q, want %s and a number", s, key)
		}
		return n, nil
	}
	s, err := line()
	if err != nil {
		return nil, err
	}
	if s != indexHead+"\n" {
		return nil, corrupt("%.60q, want %q", s, indexHead)
	}
	sum = crc32.Checksum([]byte(s), castagnoli)
	var modified, samples int64
	if x.Size, err = head("size"); err != nil {
		return nil, err
	}
	if modified, err = head("modified"); err != nil {
		return nil, err
	}
	if modified != 0 {
		x.Modified = time.Unix(0, modified).UTC()
	}
	if samples, err = head("samples"); err != nil {
		return nil, err
	}
	var end int64
	for range samples {
		if s, err = line(); err != nil {
			return nil, err
		}
		sum = crc32.Update(sum, castagnoli, []byte(s))
		e, ok := parseEntry(strings.TrimSuffix(s, "\n"))
		if !ok {
			return nil, corrupt("%.60q, want offset, size, checksum and key", s)
		}
		if e.Offset < end || e.Offset%block != 0 || e.Size < block || e.Size%block != 0 || e.Size > math.MaxInt64-e.Offset || e.Offset+e.Size > x.Size {
			return nil, corrupt("a sample of %d bytes at %d, behind %d, in a shard of %d bytes", e.Size, e.Offset, end, x.Size)
		}
		end = e.Offset + e.Size
		x.Entries = append(x.Entries, e)
	}
	if s, err = line(); err != nil {
		return nil, err
	}
	if want := fmt.Sprintf("crc %08x\n", sum); s != want {
		return nil, corrupt("%.60q, want %q", s, want)
	}
	at = next
	if _, err := in.ReadByte(); err != io.EOF {
		if err != nil {
			return nil, fmt.Errorf("webdataset: %s: at byte %d: %w", store.Redact(name), at, err)
		}
		return nil, corrupt("something behind the checksum")
	}
	return x, nil
}

func parseEntry(s string) (e Entry, ok bool) {
	f := strings.SplitN(s, " ", 4)
	if len(f) < 4 {
		return e, false
	}
	offset, err1 := strconv.ParseInt(f[0], 10, 64)
	size, err2 := strconv.ParseInt(f[1], 10, 64)
	crc, err3 := strconv.ParseUint(f[2], 16, 32)
	key, err4 := strconv.Unquote(f[3])
	return Entry{key, offset, size, uint32(crc)}, errors.Join(err1, err2, err3, err4) == nil
}

// MakeIndex builds the index of a shard by reading it. A compressed shard is an
// error.
func MakeIndex(ctx context.Context, o store.Opener, shard string, options Options) (*Index, error) {
	return makeIndex(ctx, o, shard, options, (*Reader).index)
}

// Scan is like MakeIndex, but reads only the members' headers and makes no
// checksums. Damage within a sample is reported when the sample is read.
func Scan(ctx context.Context, o store.Opener, shard string, options Options) (*Index, error) {
	return makeIndex(ctx, o, shard, options, (*Reader).scan)
}

// Keys returns the keys of a shard's samples, in order. The shard may be
// compressed.
func Keys(ctx context.Context, o store.Opener, shard string) (l []string, none Ignored, err error) {
	r, err := Open(ctx, o, shard, Options{})
	if err != nil {
		return nil, none, err
	}
	x, err := r.scan(ctx)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, none, err
	}
	for i := range x.Entries {
		l = append(l, x.Entries[i].Key)
	}
	return l, x.Ignored, nil
}

func makeIndex(ctx context.Context, o store.Opener, shard string, options Options, f func(*Reader, context.Context) (*Index, error)) (*Index, error) {
	info, err := o.Stat(ctx, shard)
	if err != nil {
		return nil, fmt.Errorf("webdataset: %w", err)
	}
	options.Lenient = false
	r, err := Open(ctx, o, shard, options)
	if err != nil {
		return nil, err
	}
	var x *Index
	if r.t.src != nil {
		err = fmt.Errorf("webdataset: %s: a compressed shard has no index", r.o.Name)
	} else {
		x, err = f(r, ctx)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if x.Size != info.Size {
		return nil, fmt.Errorf("webdataset: %s: %d bytes read, it has %d: it was changed meanwhile", shard, x.Size, info.Size)
	}
	x.Modified = whole(info.Modified)
	return x, nil
}

// index reads the rest of the shard.
func (r *Reader) index(ctx context.Context) (*Index, error) {
	r.t.sum = true
	x := &Index{}
	for {
		s, err := r.Next()
		if err == io.EOF {
			x.Size = r.t.at
			return x, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		x.Entries = append(x.Entries, Entry{s.Key, r.from, r.to - r.from, r.crc})
	}
}

// scan is like index without the data.
func (r *Reader) scan(ctx context.Context) (*Index, error) {
	x := &Index{Scanned: true}
	for {
		m, key, _, err := r.member()
		if err == io.EOF {
			x.Size, x.Ignored = r.t.at, r.Ignored()
			return x, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if n := len(x.Entries); n > 0 && x.Entries[n-1].Key == key {
			e := &x.Entries[n-1]
			e.Size = m.end - e.Offset
		} else {
			x.Entries = append(x.Entries, Entry{Key: key, Offset: m.start, Size: m.end - m.start})
		}
	}
}

// SaveIndex writes the index beside the shard.
func SaveIndex(ctx context.Context, o store.Opener, shard string, x *Index) error {
	b, err := x.AppendText(nil)
	if err == nil {
		err = store.WriteFile(ctx, o, IndexName(shard), b)
	}
	if err != nil {
		return fmt.Errorf("webdataset: %s: %w", IndexName(shard), err)
	}
	return nil
}

// LoadIndex reads the index beside a shard. It returns ErrStale if the shard's
// size or time differ from those in the index, and an error that wraps
// fs.ErrNotExist if there is no index.
func LoadIndex(ctx context.Context, o store.Opener, shard string) (*Index, error) {
	x, t, err := loadIndex(ctx, o, shard)
	if err == nil && !t.IsZero() {
		return nil, fmt.Errorf("webdataset: %s: %w: it is of %s, the index of one of %s", shard, ErrStale, t.Format(time.RFC3339Nano), x.Modified.Format(time.RFC3339Nano))
	}
	return x, err
}

// loadIndex is LoadIndex for callers that compare checksums. It returns the
// time of the shard if that differs from the one in the index, else zero.
func loadIndex(ctx context.Context, o store.Opener, shard string) (*Index, time.Time, error) {
	var none time.Time
	f, err := o.Open(ctx, IndexName(shard))
	if err != nil {
		return nil, none, fmt.Errorf("webdataset: %w", err)
	}
	x, err := ReadIndex(IndexName(shard), io.NewSectionReader(f, 0, f.Size()))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, none, err
	}
	info, err := o.Stat(ctx, shard)
	if err != nil {
		return nil, none, fmt.Errorf("webdataset: %w", err)
	}
	if info.Size != x.Size {
		return nil, none, fmt.Errorf("webdataset: %s: %w: it has %d bytes, the index is of one with %d", shard, ErrStale, info.Size, x.Size)
	}
	if t := whole(info.Modified); !t.IsZero() && !x.Modified.IsZero() && !t.Equal(x.Modified) {
		return x, t, nil
	}
	return x, none, nil
}

// Indexed reads the samples of an uncompressed shard in any order. It is safe
// for concurrent use with one Buffer per goroutine.
type Indexed struct {
	f   store.File
	mem []byte
	x   *Index
	o   Options
}

// OpenIndexed opens a shard with the index beside it.
func OpenIndexed(ctx context.Context, o store.Opener, shard string, options Options) (*Indexed, error) {
	x, err := LoadIndex(ctx, o, shard)
	if err != nil {
		return nil, err
	}
	return x.Open(ctx, o, shard, options)
}

// Open opens the shard that the index describes.
func (x *Index) Open(ctx context.Context, o store.Opener, shard string, options Options) (*Indexed, error) {
	f, err := o.Open(ctx, shard)
	if err != nil {
		return nil, fmt.Errorf("webdataset: %w", err)
	}
	if f.Size() != x.Size {
		return nil, errors.Join(fmt.Errorf("webdataset: %s: %w: it has %d bytes, the index is of one with %d", shard, ErrStale, f.Size(), x.Size), f.Close())
	}
	if options.Name == "" {
		options.Name = shard
	}
	options.Lenient = false
	return &Indexed{f: f, x: x, o: options.fill(), mem: store.MappedBytes(f)}, nil
}

// Len returns the number of samples.
func (x *Indexed) Len() int { return len(x.x.Entries) }

// Key returns the key of sample i.
func (x *Indexed) Key(i int) string { return x.x.Entries[i].Key }

// Close closes the shard. Samples that are views of it become invalid.
func (x *Indexed) Close() error { return x.f.Close() }

// Buffer is reusable memory for Read. It is for one goroutine; the zero Buffer
// is ready for use.
type Buffer struct {
	b []byte
	r Reader
}

// Sample is like Read, with memory of its own.
func (x *Indexed) Sample(i int) (*Sample, error) {
	s, _, err := x.Read(i, &Buffer{})
	return s, err
}

// Read reads sample i. It verifies the key and, if the index has it, the
// checksum: a difference is a CorruptionError. The sample is valid until the
// next use of b. If shared is true, its fields' data are views of the mapped
// file, valid until Close.
func (x *Indexed) Read(i int, b *Buffer) (s *Sample, shared bool, err error) {
	e := x.x.Entries[i]
	var data []byte
	if shared = x.mem != nil; shared {
		data = x.mem[e.Offset : e.Offset+e.Size]
	} else if e.Size/2 > x.o.Limit { // headers and padding add to the fields
		return nil, false, fmt.Errorf("webdataset: %s: at byte %d: %w: %d bytes, the limit is %d", x.o.Name, e.Offset, records.ErrTooLarge, e.Size, x.o.Limit)
	} else {
		if int64(cap(b.b)) < e.Size {
			b.b = make([]byte, e.Size+e.Size/4) // with room for larger samples
		}
		data = b.b[:e.Size]
		if n, err := x.f.ReadAt(data, e.Offset); n < len(data) {
			if err == io.EOF {
				return nil, false, records.Corruptf(formatName, x.o.Name, e.Offset, "the file ends %d bytes into a sample of %d", n, len(data))
			}
			return nil, false, fmt.Errorf("webdataset: %s: at byte %d: %w", x.o.Name, e.Offset, err)
		}
	}
	if !x.x.Scanned {
		if got := crc32.Checksum(data, castagnoli); got != e.CRC {
			return nil, false, records.Corruptf(formatName, x.o.Name, e.Offset, "the checksum of sample %q is %08x, want %08x", e.Key, got, e.CRC)
		}
	}
	r := &b.r
	*r = Reader{t: tarReader{name: x.o.Name, mem: data, at: e.Offset, bare: true, long: r.t.long}, o: x.o, sample: Sample{Fields: r.sample.Fields}}
	s, err = r.Next()
	if err == io.EOF {
		err = records.Corruptf(formatName, x.o.Name, e.Offset, "no sample is where the index has one")
	}
	if err != nil {
		return nil, false, err
	}
	if s.Key != e.Key || r.to != e.Offset+e.Size {
		return nil, false, records.Corruptf(formatName, x.o.Name, e.Offset, "sample %q, want %q, as in the index", s.Key, e.Key)
	}
	return s, shared, nil
}

// Verify reads a whole shard, compares it with the checksums of its index, and
// returns the first difference as an error. A change of the shard's time alone
// is not a difference; a change of its size is an ErrStale.
func Verify(ctx context.Context, o store.Opener, shard string, options Options) error {
	want, _, err := loadIndex(ctx, o, shard)
	if err != nil {
		return err
	}
	x, err := want.Open(ctx, o, shard, options)
	if err != nil {
		return err
	}
	for i := range x.Len() {
		if _, err = x.Sample(i); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, x.Close())
		}
	}
	if err := x.Close(); err != nil {
		return err
	}
	// Check the bytes between the samples, and the end.
	got, err := MakeIndex(ctx, o, shard, options)
	if err != nil {
		return err
	}
	got.Modified = want.Modified
	a, _ := want.AppendText(nil)
	b, _ := got.AppendText(nil)
	if !bytes.Equal(a, b) {
		return records.Corruptf(formatName, shard, 0, "%d samples, want %d, at the places that the index has", len(got.Entries), len(want.Entries))
	}
	return nil
}
