package files

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
)

// deflateRatio is the most bytes that a byte of deflate can stand for: a match of
// 258 bytes takes at least two bits.
const deflateRatio = 1032

// Data is a file of binary data, read at any place by several goroutines.
type Data struct {
	io.ReaderAt
	Name string // path
	Size int64  // of the data, once known; see Open
	// Packed says that the file is a gzip: nothing can be read before Inflate, and
	// Size is only the most that it can hold.
	Packed bool

	file *os.File
}

// Open opens the file name below dir, or name with .gz if there is none.
func Open(dir, name string) (*Data, error) {
	d := &Data{Name: filepath.Join(dir, name)}
	f, err := os.Open(d.Name)
	if errors.Is(err, fs.ErrNotExist) {
		if g, e := os.Open(d.Name + ".gz"); e == nil {
			f, err = g, nil
			d.Name += ".gz"
			d.Packed = true
		}
	}
	if err != nil {
		return nil, err
	}
	i, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if !i.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%w: %s is %v, want a regular file", dataset.ErrData, d.Name, i.Mode().Type())
	}
	d.file, d.ReaderAt, d.Size = f, f, i.Size()
	if d.Packed {
		d.Size = min(i.Size(), 1<<50) * deflateRatio
	}
	return d, nil
}

// Head reads the first n bytes, of what is packed in a gzip too.
func (d *Data) Head(n int) ([]byte, error) {
	b := make([]byte, n)
	r := io.Reader(io.NewSectionReader(d.file, 0, 1<<62))
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

// Inflate unpacks a gzip of exactly size bytes, which were checked against Size,
// into memory. It does nothing to a file that is not packed.
func (d *Data) Inflate(size int64) error {
	if !d.Packed {
		return nil
	}
	if size > Limit {
		return d.Errorf(0, "%d bytes unpacked, want at most %d; unpack the file", size, Limit)
	}
	z, err := gzip.NewReader(io.NewSectionReader(d.file, 0, 1<<62))
	if err != nil {
		return d.Errorf(0, "%v, want a gzip", err)
	}
	b := make([]byte, size)
	if n, err := io.ReadFull(z, b); err != nil {
		return d.Errorf(int64(n), "%v, want %d bytes unpacked", err, size)
	}
	// The checksum is behind the end.
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return d.Errorf(size, "%v, want the end", err)
	}
	d.ReaderAt, d.Size, d.Packed = bytes.NewReader(b), size, false
	return d.file.Close()
}

// Errorf is an ErrData at a place of the file.
func (d *Data) Errorf(at int64, format string, args ...any) error {
	return fmt.Errorf("%w: %s at byte %d: %s", dataset.ErrData, d.Name, at, fmt.Sprintf(format, args...))
}

// Fill reads len(b) bytes at a place.
func (d *Data) Fill(b []byte, at int64) error {
	n, err := d.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return d.Errorf(at+int64(n), "the file was cut after it was opened, want %d bytes", len(b))
	}
	return fmt.Errorf("%s at byte %d: %w", d.Name, at, err)
}

// Close closes the file.
func (d *Data) Close() error {
	if err := d.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// Names reads names of classes, one a line, and numbers them from 0. Empty lines
// are left out. A file that is missing is no error, and no names.
func Names(dir, name string) (map[string]int32, error) {
	p := filepath.Join(dir, name)
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
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
			return nil, fmt.Errorf("%w: %s:%d: class %q, want different names and at most %d", dataset.ErrData, p, line, n, 1<<16)
		}
		names[n] = int32(len(names))
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s:%d: %w", dataset.ErrData, p, line+1, err)
	}
	return names, nil
}

// Index says that row i is one of n.
func Index(i, n int64) error {
	if i < 0 || i >= n {
		return fmt.Errorf("%w: row %d of %d", dataset.ErrParam, i, n)
	}
	return nil
}

// Usage says that a usage is one of those wanted.
func Usage(got string, want ...string) error {
	for _, w := range want {
		if got == w {
			return nil
		}
	}
	return fmt.Errorf("%w: usage %q, want one of %s", dataset.ErrParam, got, strings.Join(want, ", "))
}

// Keys are the keys of numbered rows, "name:0" to "name:n-1", all in one string, so
// that a key is a piece of it and not new memory.
type Keys struct {
	all    string
	prefix int64
}

// NewKeys makes n keys.
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

// At is the key of row i.
func (k Keys) At(i int64) string { return k.all[k.start(i):k.start(i+1)] }

// start is how long the keys before row i are together.
func (k Keys) start(i int64) int64 {
	n := i * (k.prefix + 1)
	for p := int64(10); p < i; p *= 10 {
		n += i - p // each from p on has a digit more
	}
	return n
}
