package files

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// deflateRatio bounds the bytes that one byte of deflate data can expand to: a
// match of 258 bytes takes at least two bits.
const deflateRatio = 1032

// Data is a binary file with random access. Its ReadAt and Fill are safe for
// concurrent use.
type Data struct {
	io.ReaderAt
	Name string // path
	Size int64  // of the data; see Packed
	// Packed reports that the file is a gzip that Inflate has not unpacked yet.
	// Only Head can then be read, and Size is an upper bound.
	Packed bool

	file store.File // nil when closed
}

// Open opens the file name in dir, or name with .gz if the first does not
// exist.
func Open(ctx context.Context, o store.Opener, dir, name string) (*Data, error) {
	d := &Data{Name: store.Join(dir, name)}
	f, err := o.Open(ctx, d.Name)
	if errors.Is(err, fs.ErrNotExist) {
		switch g, e := o.Open(ctx, d.Name+".gz"); {
		case e == nil:
			f, err = g, nil
			d.Name += ".gz"
			d.Packed = true
		case !errors.Is(e, fs.ErrNotExist):
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	d.file, d.ReaderAt, d.Size = f, f, f.Size()
	if d.Packed {
		d.Size = min(d.Size, 1<<50) * deflateRatio
	}
	return d, nil
}

func (d *Data) section() io.Reader { return io.NewSectionReader(d.file, 0, d.file.Size()) }

// Head reads the first n bytes of the data, also of a packed file.
func (d *Data) Head(n int) ([]byte, error) {
	b := make([]byte, n)
	r := d.section()
	if d.Packed {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, d.Errorf(0, "%v, want a gzip", err)
		}
		r = z
	}
	if got, err := io.ReadFull(r, b); err != nil {
		return nil, d.Errorf(int64(got), "the data ends (%v), want a header of %d bytes", err, n)
	}
	return b, nil
}

// Inflate unpacks a gzip of exactly size bytes into memory. The caller must
// check size against Size first. It does nothing to a file that is not packed.
func (d *Data) Inflate(size int64) error {
	if !d.Packed {
		return nil
	}
	if size > Limit {
		return d.Errorf(0, "%d bytes unpacked, want at most %d; unpack the file", size, Limit)
	}
	z, err := gzip.NewReader(d.section())
	if err != nil {
		return d.Errorf(0, "%v, want a gzip", err)
	}
	b := make([]byte, size)
	if n, err := io.ReadFull(z, b); err != nil {
		return d.Errorf(int64(n), "%v, want %d bytes unpacked", err, size)
	}
	// The gzip checksum is verified when the end is read.
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return d.Errorf(size, "%v, want the end", err)
	}
	d.ReaderAt, d.Size, d.Packed = bytes.NewReader(b), size, false
	return d.Close()
}

// Unpacked returns the size that the end of a gzip states, modulo 4 GiB. It is
// at most Size. Inflate fails if the gzip has another size.
func (d *Data) Unpacked() (int64, error) {
	var b [4]byte
	at := d.file.Size() - int64(len(b))
	if at < 0 {
		return 0, d.Errorf(0, "%d bytes, want a gzip", d.file.Size())
	}
	if _, err := d.file.ReadAt(b[:], at); err != nil && err != io.EOF {
		return 0, fmt.Errorf("%s at byte %d: %w", store.Redact(d.Name), at, err)
	}
	n := int64(binary.LittleEndian.Uint32(b[:]))
	if n > d.Size {
		return 0, d.Errorf(at, "%d bytes unpacked, want at most %d from a gzip of this size", n, d.Size)
	}
	return n, nil
}

// Errorf returns an ErrData error at an offset of the file.
func (d *Data) Errorf(at int64, format string, args ...any) error {
	return fmt.Errorf("%w: %s at byte %d: %s", dataset.ErrData, store.Redact(d.Name), at, fmt.Sprintf(format, args...))
}

// Fill reads len(b) bytes at an offset.
func (d *Data) Fill(b []byte, at int64) error {
	n, err := d.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return d.Errorf(at+int64(n), "the file was truncated after it was opened, want %d bytes", len(b))
	}
	return fmt.Errorf("%s at byte %d: %w", store.Redact(d.Name), at, err)
}

// Close closes the file. Further calls do nothing.
func (d *Data) Close() error {
	f := d.file
	if d.file = nil; f == nil {
		return nil
	}
	return f.Close()
}

// Names reads class names, one per line, and numbers them from 0. It skips
// empty lines. A missing file returns nil and no error.
func Names(ctx context.Context, o store.Opener, dir, name string) (_ map[string]int32, err error) {
	p := store.Join(dir, name)
	f, err := OpenText(ctx, o, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names := map[string]int32{}
	s := bufio.NewScanner(f)
	line := 0
	for s.Scan() {
		line++
		n := strings.TrimSpace(s.Text())
		if n == "" {
			continue
		}
		if _, ok := names[n]; ok || len(names) == 1<<16 {
			return nil, fmt.Errorf("%w: %s:%d: class %q, want distinct names and at most %d", dataset.ErrData, store.Redact(p), line, n, 1<<16)
		}
		names[n] = int32(len(names))
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s:%d: %w", dataset.ErrData, store.Redact(p), line+1, err)
	}
	return names, nil
}

// Usage checks that a usage is one of those wanted.
func Usage(got string, want ...string) error {
	if slices.Contains(want, got) {
		return nil
	}
	return fmt.Errorf("%w: usage %q, want one of %s", dataset.ErrParam, got, strings.Join(want, ", "))
}

// Keys holds the keys of numbered rows, "name:0" to "name:n-1", in one string,
// so that At allocates nothing.
type Keys struct {
	all    string
	prefix int64
}

// NewKeys returns n keys.
func NewKeys(name string, n int64) Keys {
	k := Keys{prefix: int64(len(name)) + 1}
	var b []byte
	for i := range n {
		b = append(b, name...)
		b = append(b, ':')
		b = fmt.Append(b, i)
	}
	k.all = string(b)
	return k
}

// At returns the key of row i.
func (k Keys) At(i int64) string { return k.all[k.start(i):k.start(i+1)] }

// start returns the total length of the keys before row i.
func (k Keys) start(i int64) int64 {
	n := i * (k.prefix + 1)
	for p := int64(10); p < i; p *= 10 {
		n += i - p // rows from p on have one more digit
	}
	return n
}
