// Package lines gives random access to the lines of text files: an index of
// where each begins, of 8 bytes a line, made in one pass.
package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
)

// A Splitter finds where rows begin in a file that it is given in pieces.
type Splitter interface {
	// Reset begins a file.
	Reset()
	// Split appends to starts the offsets of the rows that begin in b, the file's next bytes, which are at offset at.
	Split(starts []int64, b []byte, at int64) []int64
}

// chunk is what is read of a file at once to index it, and how far apart the
// places are where lines are counted.
const chunk = 1 << 20

// first is how much is read of a row at first: rows may be followed by
// any number of empty lines, which are not read with them.
const first = 64 << 10

// Limit is the length above which a row is refused, a whole tensor's.
const Limit = 1 << 30

// Index is open files and where their rows begin. Its methods may be called by
// several goroutines.
type Index struct {
	files []file
	// starts has where rows begin, as if the files were one. It is in blocks so that
	// it grows without a second copy.
	starts [][]int64
	len    int64
}

// block is the length of the blocks but the last.
const block = 1 << 16

func (x *Index) start(i int64) int64 { return x.starts[i/block][i%block] }

// add adds rows.
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
	*os.File
	base, size int64
	row        int64   // the first
	counts     []int64 // of line ends before each chunk
}

// Open indexes files. They stay open.
func Open(names []string, s Splitter) (_ *Index, err error) {
	x := &Index{}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	buf := make([]byte, chunk)
	base := int64(0)
	for _, n := range names {
		f, err := os.Open(n)
		if err != nil {
			return nil, err
		}
		x.files = append(x.files, file{File: f, base: base, row: x.Len()})
		if err := x.index(&x.files[len(x.files)-1], s, buf); err != nil {
			return nil, err
		}
		base += x.files[len(x.files)-1].size
	}
	return x, nil
}

// index indexes a file.
func (x *Index) index(f *file, s Splitter, buf []byte) error {
	s.Reset()
	var starts []int64
	ends := int64(0)
	for {
		n, err := io.ReadFull(f.File, buf)
		b := buf[:n]
		f.counts = append(f.counts, ends)
		ends += int64(bytes.Count(b, []byte{'\n'}))
		starts = s.Split(starts[:0], b, f.base+f.size)
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

// Len is the number of rows.
func (x *Index) Len() int64 { return x.len }

// Files is the number of files.
func (x *Index) Files() int { return len(x.files) }

// Name is the name of a file.
func (x *Index) Name(file int) string { return x.files[file].File.Name() }

// Span is where row i is: its file, its offset there, and how many bytes there
// are up to the next row or the file's end.
func (x *Index) Span(i int64) (file int, at, n int64) {
	// The last file whose first row is not after i: files without rows have the next one's.
	file = sort.Search(len(x.files), func(k int) bool { return x.files[k].row > i }) - 1
	f := &x.files[file]
	at = x.start(i) - f.base
	return file, at, x.Rest(file, at, i)
}

// Rest is how many bytes there are from an offset of a file up to a row after i,
// which is -1 before any row, or the file's end.
func (x *Index) Rest(file int, at, i int64) int64 {
	f := &x.files[file]
	end := f.base + f.size
	if i+1 < x.Len() {
		end = min(end, x.start(i+1))
	}
	return end - f.base - at
}

// Read fills b from a file's offset.
func (x *Index) Read(b []byte, file int, at int64) error {
	_, err := x.files[file].ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return x.Errorf(file, at, "the file is shorter than it was")
	}
	return err
}

// Grow is how much of a row's n bytes is to be read after have did not suffice, or 0.
func Grow(have int, n int64) int {
	switch {
	case int64(have) == n:
		return 0
	case have == 0:
		return int(min(n, first))
	}
	return int(min(n, 4*int64(have), Limit+1))
}

// Key names a row: file@offset.
func (x *Index) Key(file int, at int64) string {
	var a [256]byte
	b := append(a[:0], x.files[file].File.Name()...)
	return string(strconv.AppendInt(append(b, '@'), at, 10))
}

// Errorf is an error at an offset of a file: it says the line too, which it counts.
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
	return fmt.Errorf("%w: %s line %d (offset %d): %s", dataset.ErrData, f.Name(), line, at, fmt.Sprintf(format, args...))
}

// HeadLen is how many bytes there are from an offset of a file up to its first row, or its end.
func (x *Index) HeadLen(file int, at int64) int64 { return x.Rest(file, at, x.files[file].row-1) }
