// Package lines provides random access to the rows of text files. It reads the
// files once to build an index of 8 bytes per row.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/store"
)

// A Splitter finds the start of each row in a file that is passed in pieces.
type Splitter interface {
	// Reset starts a file.
	Reset()
	// Split appends to starts the offsets of the rows that begin in b, the
	// file's next bytes, which are at offset at.
	Split(starts []int64, b []byte, at int64) []int64
}

// chunk is the size of reads while indexing, and the interval at which line
// ends are counted.
const chunk = 1 << 20

// first is the number of bytes of a row that are read at first. Any number of
// empty lines may follow the row, and most need not be read.
const first = 64 << 10

// Limit is the largest row that is read, as for a whole tensor.
const Limit = 1 << 30

// Index is a list of open files and the offsets of their rows. Its methods are
// safe for concurrent use.
type Index struct {
	files []file
	// starts has the offsets of rows in the concatenated files. It is stored in
	// blocks so that it grows without a second copy.
	starts [][]int64
	len    int64
	cut    bool // byte order marks
}

// block is the length of all blocks but the last.
const block = 1 << 16

func (x *Index) start(i int64) int64 { return x.starts[i/block][i%block] }

// add appends rows.
func (x *Index) add(starts []int64) {
	x.len += int64(len(starts))
	for len(starts) > 0 {
		k := len(x.starts) - 1
		if k < 0 || len(x.starts[k]) == block {
			x.starts = append(x.starts, nil)
			k++
		}
		n := min(len(starts), block-len(x.starts[k]))
		x.starts[k] = append(x.starts[k], starts[:n]...)
		starts = starts[n:]
	}
}

type file struct {
	store.File
	name       string
	base, size int64
	row        int64   // the first row
	counts     []int64 // of line ends before each chunk
}

// Open opens files and indexes them. They stay open until Close. With cut, a
// byte order mark belongs to no row, and text in UTF-16 is an error.
func Open(ctx context.Context, o store.Opener, names []string, s Splitter, cut bool) (_ *Index, err error) {
	x := &Index{cut: cut}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	buf := make([]byte, chunk)
	base := int64(0)
	for _, n := range names {
		f, err := o.Open(ctx, n)
		if err != nil {
			return nil, err
		}
		x.files = append(x.files, file{File: f, name: n, base: base, row: x.Len()})
		if err := x.index(ctx, &x.files[len(x.files)-1], s, buf); err != nil {
			return nil, err
		}
		base += x.files[len(x.files)-1].size
	}
	return x, nil
}

// index indexes one file.
func (x *Index) index(ctx context.Context, f *file, s Splitter, buf []byte) error {
	s.Reset()
	var starts []int64
	ends := int64(0)
	in := io.NewSectionReader(f.File, 0, f.Size())
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, buf)
		b := buf[:n]
		f.counts = append(f.counts, ends)
		ends += int64(bytes.Count(b, []byte{'\n'}))
		at := f.base + f.size
		if x.cut && f.size == 0 {
			text, bad := bom.Cut(b)
			if bad != nil {
				return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(f.name), bad)
			}
			at += int64(len(b) - len(text))
			b = text
		}
		starts = s.Split(starts[:0], b, at)
		x.add(starts)
		f.size += int64(n)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// Close closes the files.
func (x *Index) Close() error {
	var errs []error
	for _, f := range x.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Len returns the number of rows.
func (x *Index) Len() int64 { return x.len }

// Shards returns the first row of each file.
func (x *Index) Shards() []int64 {
	l := make([]int64, len(x.files))
	for i := range l {
		l[i] = x.files[i].row
	}
	return l
}

// Keys yields the name and size of each file.
func (x *Index) Keys(yield func(string) bool) {
	for i := range x.files {
		if !yield(files.SizeKey(x.files[i].name, x.files[i].size)) {
			return
		}
	}
}

// Files returns the number of files.
func (x *Index) Files() int { return len(x.files) }

// Name returns the name of a file.
func (x *Index) Name(file int) string { return x.files[file].name }

// Span returns the position of row i: its file, its offset, and the number of
// bytes up to the next row or the end of the file.
func (x *Index) Span(i int64) (file int, at, n int64) {
	// Find the last file whose first row is not after i. A file without rows
	// has the first row of the next file.
	file = sort.Search(len(x.files), func(k int) bool { return x.files[k].row > i }) - 1
	f := &x.files[file]
	at = x.start(i) - f.base
	return file, at, x.Rest(file, at, i)
}

// Rest returns the number of bytes from an offset of a file up to the row after
// i or the end of the file. i is -1 before the first row.
func (x *Index) Rest(file int, at, i int64) int64 {
	f := &x.files[file]
	end := f.base + f.size
	if i+1 < x.Len() {
		end = min(end, x.start(i+1))
	}
	return end - f.base - at
}

// Read fills b from an offset of a file.
func (x *Index) Read(b []byte, file int, at int64) error {
	n, err := x.files[file].ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return x.Errorf(file, at, "the file was truncated after it was opened")
	}
	return err
}

// Grow returns how many of a row's n bytes to read next if have bytes did not
// suffice, or 0 if all were read.
func Grow(have int, n int64) int {
	switch {
	case int64(have) == n:
		return 0
	case have == 0:
		return int(min(n, first))
	}
	return int(min(n, 4*int64(have), Limit+1))
}

// Key returns the key of a row: file@offset.
func (x *Index) Key(file int, at int64) string {
	var a [256]byte
	b := append(a[:0], x.files[file].name...)
	return string(strconv.AppendInt(append(b, '@'), at, 10))
}

// Errorf returns an ErrData error at an offset of a file. It counts lines to
// state the line number too.
func (x *Index) Errorf(file int, at int64, format string, args ...any) error {
	f := &x.files[file]
	k := min(at/chunk, int64(len(f.counts)-1))
	line := 1 + f.counts[k]
	b := make([]byte, 64<<10)
	for p := k * chunk; p < at; {
		n, err := f.ReadAt(b[:min(int64(len(b)), at-p)], p)
		line += int64(bytes.Count(b[:n], []byte{'\n'}))
		p += int64(n)
		if err != nil {
			break
		}
	}
	return fmt.Errorf("%w: %s line %d (offset %d): %s", dataset.ErrData, store.Redact(f.name), line, at, fmt.Sprintf(format, args...))
}

// HeadLen returns the number of bytes from an offset of a file up to its first
// row or its end.
func (x *Index) HeadLen(file int, at int64) int64 { return x.Rest(file, at, x.files[file].row-1) }
