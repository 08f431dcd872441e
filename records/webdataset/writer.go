package webdataset

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// record is the unit of an archive's size: 20 blocks, as in tar.
const record = 20 * block

// TarOptions are the options of a TarWriter. The zero value is ready for use.
type TarOptions struct {
	// ModTime is the time of all members, in whole seconds since 1970. Default
	// 0, so that the same samples give the same bytes at any time.
	ModTime int64
	// User and Group are the owners' names. Default bigdata, as in webdataset.
	User, Group string
	// Mode is the members' permissions. Default 0444, as in webdataset.
	Mode uint32
	// USTAR writes only headers of 1988. A name of more than 100 bytes is an
	// error unless it can be divided at a slash. Default: such names get an
	// extended header (PAX).
	USTAR bool
}

// TarWriter writes samples into a tar file, in the same bytes as webdataset's
// TarWriter with a whole number for mtime. It is for one goroutine at a time.
type TarWriter struct {
	w      io.Writer
	o      TarOptions
	offset int64
	last   string // key
	begun  bool
	names  []int // order of a sample's fields
	buf    []byte
	crc    uint32
	err    error
}

// NewTarWriter returns a writer of one tar file.
func NewTarWriter(w io.Writer, o TarOptions) (*TarWriter, error) {
	if o.User == "" {
		o.User = "bigdata"
	}
	if o.Group == "" {
		o.Group = "bigdata"
	}
	if o.Mode == 0 {
		o.Mode = 0o444
	}
	if len(o.User) > 32 || len(o.Group) > 32 || !ascii(o.User) || !ascii(o.Group) {
		return nil, fmt.Errorf("webdataset: user %q, group %q, want at most 32 ASCII letters", o.User, o.Group)
	}
	if o.Mode > 0o7777 || o.ModTime < 0 || o.ModTime >= 1<<33 {
		return nil, fmt.Errorf("webdataset: mode %o, want at most 7777; or time %d, want a number of 33 bits", o.Mode, o.ModTime)
	}
	return &TarWriter{w: w, o: o}, nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == 0 {
			return false
		}
	}
	return true
}

// Offset returns the position of the next sample.
func (w *TarWriter) Offset() int64 { return w.offset }

// Write writes one sample, with its fields sorted by name. It returns an
// ErrName and writes nothing if the sample would change when it is read back,
// has no fields, or has the key of the sample before, and a records.ErrTooLarge
// if it has more than 65,536 fields or 64 MiB of names. After any other error
// all later calls return it too.
func (w *TarWriter) Write(s *Sample) error {
	if w.err != nil {
		return w.err
	}
	if len(s.Fields) == 0 {
		return fmt.Errorf("webdataset: %w: sample %q has no fields", ErrName, s.Key)
	}
	if w.begun && s.Key == w.last {
		return fmt.Errorf("webdataset: %w: two samples %q one after another would be read as one", ErrName, s.Key)
	}
	if n := len(s.Fields); n > maxFields {
		return fmt.Errorf("webdataset: %w: sample %q has %d fields, want at most %d", records.ErrTooLarge, s.Key, n, maxFields)
	}
	names := 0
	w.names = w.names[:0]
	for i := range s.Fields {
		w.names = append(w.names, i)
	}
	slices.SortFunc(w.names, func(a, b int) int { return strings.Compare(s.Fields[a].Ext, s.Fields[b].Ext) })
	for k, i := range w.names {
		ext := s.Fields[i].Ext
		name := s.Key + "." + ext
		if names += len(name); names > maxNameBytes {
			return fmt.Errorf("webdataset: %w: sample %.60q has names of more than %d bytes", records.ErrTooLarge, s.Key, maxNameBytes)
		}
		key, e, ok := KeyExt(name)
		if !ok || key != s.Key || e != ext || reserved(ext) || strings.IndexByte(name, 0) >= 0 || len(name) > maxName/2 || strings.HasSuffix(name, "/") {
			return fmt.Errorf("webdataset: %w: key %q and field %q would be read as %q and %q", ErrName, s.Key, ext, key, e)
		}
		if k > 0 && s.Fields[w.names[k-1]].Ext == ext {
			return fmt.Errorf("webdataset: %w: sample %q has two fields %q", ErrName, s.Key, ext)
		}
		if _, _, ok := divide(name); w.o.USTAR && !ok {
			return fmt.Errorf("webdataset: %w: %q does not fit a USTAR header", ErrName, name)
		}
		if w.o.USTAR && int64(len(s.Fields[i].Data)) >= 1<<33 {
			return fmt.Errorf("webdataset: %w: %q has %d bytes, a USTAR header has 33 bits for that", records.ErrTooLarge, name, len(s.Fields[i].Data))
		}
	}
	w.crc = 0
	for _, i := range w.names {
		f := &s.Fields[i]
		w.head(s.Key+"."+f.Ext, len(f.Data))
		w.put(w.buf)
		w.put(f.Data)
		w.put(zeros[:-len(f.Data)&(block-1)])
	}
	w.last, w.begun = s.Key, true
	return w.err
}

// Close writes the end of the archive. It does not close the underlying writer.
func (w *TarWriter) Close() error {
	w.put(zeros[:])
	w.put(zeros[:])
	for w.err == nil && w.offset%record != 0 {
		w.put(zeros[:])
	}
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("webdataset: closed")
	return nil
}

func (w *TarWriter) put(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := w.w.Write(b)
	w.offset += int64(n)
	w.crc = crc32.Update(w.crc, castagnoli, b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("webdataset: at byte %d: %w", w.offset, err)
	}
}

// divide divides a name among the two fields of a header, at the first slash
// with at most 100 bytes after it.
func divide(name string) (prefix, rest string, ok bool) {
	if !ascii(name) {
		return "", "", false
	}
	if len(name) <= 100 {
		return "", name, true
	}
	for i := len(name) - 101; i < len(name) && i <= 155; i++ {
		if i > 0 && name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return "", "", false
}

// head encodes the headers of a member.
func (w *TarWriter) head(name string, size int) {
	w.buf = w.buf[:0]
	if w.o.USTAR {
		prefix, rest, _ := divide(name)
		w.header(prefix, rest, int64(size), '0', w.o)
		return
	}
	var x []byte
	if !ascii(name) || len(name) > 100 {
		if !utf8.ValidString(name) {
			x = extended(x, "hdrcharset", "BINARY")
		}
		x = extended(x, "path", name)
	}
	if int64(size) >= 1<<33 {
		x = extended(x, "size", fmt.Sprint(size))
		size = 0
	}
	if x != nil {
		w.header("", "././@PaxHeader", int64(len(x)), 'x', TarOptions{})
		w.buf = append(w.buf, x...)
		w.buf = append(w.buf, zeros[:-len(x)&(block-1)]...)
	}
	// The part that fits, for programs without extended headers.
	plain := make([]byte, 0, 100)
	for _, r := range name {
		if len(plain) == 100 {
			break
		}
		if r >= utf8.RuneSelf {
			r = '?'
		}
		plain = append(plain, byte(r))
	}
	w.header("", string(plain), int64(size), '0', w.o)
}

// extended appends a record, whose length includes its own digits.
func extended(x []byte, key, value string) []byte {
	rest := len(key) + len(value) + 3
	n := rest
	for last := 0; n != last; {
		last, n = n, rest+len(fmt.Sprint(n))
	}
	return fmt.Appendf(x, "%d %s=%s\n", n, key, value)
}

// header appends one header.
func (w *TarWriter) header(prefix, name string, size int64, kind byte, o TarOptions) {
	at := len(w.buf)
	w.buf = append(w.buf, zeros[:]...)
	h := w.buf[at:]
	copy(h, name)
	copy(h[100:], fmt.Sprintf("%07o", o.Mode))
	copy(h[108:], "0000000")
	copy(h[116:], "0000000")
	copy(h[124:], fmt.Sprintf("%011o", size))
	copy(h[136:], fmt.Sprintf("%011o", o.ModTime))
	copy(h[148:], "        ")
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	copy(h[265:], o.User)
	copy(h[297:], o.Group)
	copy(h[345:], prefix)
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00", sum))
}

// WriterOptions are the options of a Writer. The zero value is ready for use.
type WriterOptions struct {
	TarOptions
	// One writes all samples into one shard, also without any samples. The name
	// is literal, and Count and Size are ignored.
	One bool
	// Start is the number of the first shard. Default: 0.
	Start int
	// Count is the largest number of samples of a shard. Default 100,000, as in
	// webdataset.
	Count int
	// Size is the number of field bytes after which a shard ends. Default 3e9,
	// as in webdataset.
	Size int64
	// Index writes the index beside every shard. The shards must be
	// uncompressed.
	Index bool
}

// Written describes a finished shard.
type Written struct {
	Name    string
	Samples int
	Size    int64 // of the fields
}

// Writer writes shards. Each appears under its name when it is complete. A
// Writer is for one goroutine at a time.
type Writer struct {
	ctx     context.Context
	opener  store.Opener
	pattern string
	o       WriterOptions
	next    int // number
	file    store.NewFile
	pack    io.WriteCloser // nil without compression
	tar     *TarWriter
	now     Written
	index   Index
	shards  []Written
	err     error
}

// NewWriter returns a writer of shards. The pattern is their name with one verb
// for the number, such as data-%06d.tar; .gz, .tgz or .zst at the end
// compresses them. A shard is created with its first sample.
func NewWriter(ctx context.Context, opener store.Opener, pattern string, o WriterOptions) (*Writer, error) {
	if o.One {
		o.Count, o.Size = math.MaxInt, math.MaxInt64
	} else if _, err := shardName(pattern, 0); err != nil {
		return nil, err
	}
	if o.Count == 0 {
		o.Count = 100_000
	}
	if o.Size == 0 {
		o.Size = 3_000_000_000
	}
	if o.Start < 0 || o.Count < 1 || o.Size < 1 {
		return nil, fmt.Errorf("webdataset: start %d, want at least 0; count %d, size %d, want at least 1", o.Start, o.Count, o.Size)
	}
	for _, end := range []string{".bz2", ".xz"} {
		if strings.HasSuffix(pattern, end) {
			return nil, fmt.Errorf("webdataset: %s: %w: writing %s, want a name that ends in .tar, .tar.gz, .tgz or .tar.zst", store.Redact(pattern), records.ErrUnsupported, end[1:])
		}
	}
	if o.Index && packing(pattern) != "" {
		return nil, fmt.Errorf("webdataset: %s: a compressed shard has no index", pattern)
	}
	if _, err := NewTarWriter(io.Discard, o.TarOptions); err != nil {
		return nil, err
	}
	return &Writer{ctx: ctx, opener: opener, pattern: pattern, o: o, next: o.Start}, nil
}

// shardName inserts a number into a pattern: %d or %0Nd, and %% for a percent
// sign.
func shardName(pattern string, n int) (string, error) {
	var b strings.Builder
	found := 0
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			b.WriteByte(pattern[i])
			continue
		}
		j := i + 1
		width := 0
		for j < len(pattern) && pattern[j] >= '0' && pattern[j] <= '9' && width < 10 {
			width = 10*width + int(pattern[j]-'0')
			j++
		}
		switch {
		case j == i+1 && j < len(pattern) && pattern[j] == '%':
			b.WriteByte('%')
		case j < len(pattern) && pattern[j] == 'd' && width < 20 && (j == i+1 || pattern[i+1] == '0'):
			fmt.Fprintf(&b, "%0*d", width, n)
			found++
		default:
			return "", fmt.Errorf("webdataset: %w: %q, want one %%d or %%06d for the number", ErrPattern, pattern)
		}
		i = j
	}
	if found != 1 {
		return "", fmt.Errorf("webdataset: %w: %q has %d places for the number, want one", ErrPattern, pattern, found)
	}
	return b.String(), nil
}

func packing(name string) string {
	switch {
	case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".tgz"):
		return "gzip"
	case strings.HasSuffix(name, ".zst"):
		return "zstd"
	}
	return ""
}

func (w *Writer) open() error {
	name, err := w.pattern, error(nil)
	if !w.o.One {
		if name, err = shardName(w.pattern, w.next); err != nil {
			return err
		}
	}
	if w.file, err = w.opener.Create(w.ctx, name); err != nil {
		w.file = nil
		return fmt.Errorf("webdataset: %w", err)
	}
	var to io.Writer = w.file
	switch packing(name) {
	case "gzip":
		w.pack = gzip.NewWriter(w.file)
	case "zstd":
		// One goroutine, so that the bytes do not depend on the machine.
		if w.pack, err = zstd.NewWriter(w.file, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	}
	if w.pack != nil {
		to = w.pack
	}
	w.tar, err = NewTarWriter(to, w.o.TarOptions)
	w.next++
	w.now = Written{Name: name}
	w.index = Index{}
	return err
}

// Write writes one sample, into a new shard if the current one is full. An
// ErrName is as in TarWriter. After any other error the Writer discards the
// current shard, and all later calls return the error.
func (w *Writer) Write(s *Sample) error {
	if w.err != nil {
		return w.err
	}
	if w.tar != nil && (w.now.Samples >= w.o.Count || w.now.Size >= w.o.Size) {
		if w.err = w.finish(); w.err != nil {
			return w.err
		}
	}
	if w.tar == nil {
		if err := w.open(); err != nil {
			return w.fail(err)
		}
	}
	at := w.tar.Offset()
	if err := w.tar.Write(s); errors.Is(err, ErrName) {
		return err
	} else if err != nil {
		return w.fail(fmt.Errorf("webdataset: %s: %w", w.now.Name, err))
	}
	if w.o.Index {
		w.index.Entries = append(w.index.Entries, Entry{s.Key, at, w.tar.Offset() - at, w.tar.crc})
	}
	w.now.Samples++
	for _, f := range s.Fields {
		w.now.Size += int64(len(f.Data))
	}
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = errors.Join(err, w.drop())
	return w.err
}

func (w *Writer) drop() error {
	var err error
	if w.pack != nil {
		// Close frees zstd's memory; its output no longer matters.
		if z, ok := w.pack.(*zstd.Encoder); ok {
			z.Reset(io.Discard)
			err = z.Close()
		}
	}
	if w.file != nil {
		err = errors.Join(err, w.file.Abort())
	}
	w.file, w.pack, w.tar = nil, nil, nil
	return err
}

// finish makes the shard appear under its name.
func (w *Writer) finish() error {
	if w.now.Samples == 0 && !w.o.One {
		return w.drop()
	}
	err := w.tar.Close()
	if err == nil && w.pack != nil {
		if err = w.pack.Close(); err == nil {
			w.pack = nil
		}
	}
	if err == nil {
		err = w.file.Close()
	}
	if err != nil {
		return w.fail(fmt.Errorf("webdataset: %s: %w", w.now.Name, err))
	}
	w.index.Size = w.tar.Offset()
	w.file, w.pack, w.tar = nil, nil, nil
	w.shards = append(w.shards, w.now)
	if !w.o.Index {
		return nil
	}
	info, err := w.opener.Stat(w.ctx, w.now.Name)
	if err == nil {
		w.index.Modified = whole(info.Modified)
		err = SaveIndex(w.ctx, w.opener, w.now.Name, &w.index)
	}
	if err != nil {
		return w.fail(fmt.Errorf("webdataset: the index of %s: %w", w.now.Name, err))
	}
	return nil
}

func whole(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.Unix(0, t.UnixNano()).UTC()
}

// Shards returns the finished shards.
func (w *Writer) Shards() []Written { return slices.Clone(w.shards) }

// Close finishes the last shard.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.tar == nil && w.o.One {
		if err := w.open(); err != nil {
			return w.fail(err)
		}
	}
	if w.tar != nil {
		if w.err = w.finish(); w.err != nil {
			return w.err
		}
	}
	w.err = errors.New("webdataset: closed")
	return nil
}

// Abort discards the current shard. Finished shards remain.
func (w *Writer) Abort() error {
	w.err = errors.New("webdataset: closed")
	return w.drop()
}
