package mxnet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/store"
)

// lineFiles is the lines of several files, with random access. Each line that
// is not empty is a row.
type lineFiles struct {
	iter  string // for errors
	files []*lineFile
	ends  []int64 // for each file, the number of rows up to its end
}

// lineFile is an indexed file. It is safe for concurrent use.
type lineFile struct {
	f     store.File
	name  string
	start []int64 // of each row's line, and the file's size
	// empty lists the rows that follow empty lines, with the number of empty
	// lines up to there.
	empty []emptyLines
}

type emptyLines struct {
	row   int
	lines int64
}

// openLines opens a file, or the files of a folder in the order of their names.
// comments makes lines of spaces or of a comment (#) empty too.
func openLines(ctx context.Context, o store.Opener, iter, path string, comments bool) (*lineFiles, error) {
	names := []string{path}
	info, err := o.Stat(ctx, path)
	if err == nil && info.Folder {
		names, err = filesIn(ctx, o, path)
	}
	if err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", iter, err)
	}
	c := &lineFiles{iter: iter}
	n := int64(0)
	for _, name := range names {
		f, err := openLineFile(ctx, o, name, comments)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("mxnet: %s: %w", iter, err), c.close())
		}
		c.files = append(c.files, f)
		n += int64(len(f.start) - 1)
		c.ends = append(c.ends, n)
	}
	return c, nil
}

// filesIn returns the files of a folder, sorted by name, without devices. It
// includes dangling links, which are errors when they are opened.
func filesIn(ctx context.Context, o store.Opener, folder string) (names []string, err error) {
	entries, err := store.ListNames(ctx, o, folder)
	for _, e := range entries {
		if !e.Folder && (!e.Irregular || e.Link) {
			names = append(names, e.Name)
		}
	}
	return names, err
}

func openLineFile(ctx context.Context, o store.Opener, name string, comments bool) (_ *lineFile, err error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &lineFile{f: f, name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.Size()), 1<<16)
	at, empty := int64(0), int64(0)
	if b, err := r.Peek(3); err == nil && string(b) == "\xef\xbb\xbf" {
		if _, err := r.Discard(3); err != nil {
			return nil, err
		}
		at = 3
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, size, err := lineEnd(r, comments)
		if err != nil && err != io.EOF {
			return nil, err
		}
		switch {
		case line:
			if n := len(c.empty); empty > 0 && (n == 0 || c.empty[n-1].lines != empty) {
				c.empty = append(c.empty, emptyLines{len(c.start), empty})
			}
			c.start = append(c.start, at)
		case size > 0:
			empty++
		}
		at += size
		if err == io.EOF {
			c.start = slices.Clip(append(c.start, at))
			return c, nil
		}
	}
}

// lineEnd reads a line. It returns its size and reports whether it is not
// empty.
func lineEnd(r *bufio.Reader, comments bool) (some bool, size int64, err error) {
	space := "\r\n"
	if comments {
		space = " \t\f\r\n"
	}
	for comment := false; ; {
		b, err := r.ReadSlice('\n')
		size += int64(len(b))
		if b = bytes.Trim(b, space); !some && len(b) > 0 {
			comment = comment || comments && b[0] == '#'
			some = !comment
		}
		if err != bufio.ErrBufferFull {
			return some, size, err
		}
	}
}

func (c *lineFiles) len() int64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// find returns the file of row i and the row's index in it.
func (c *lineFiles) find(i int64) (*lineFile, int) {
	k := sort.Search(len(c.ends), func(k int) bool { return c.ends[k] > i })
	if k > 0 {
		i -= c.ends[k-1]
	}
	return c.files[k], int(i)
}

// key returns the key of row i: the file and the line, as in "data.csv:17".
func (c *lineFiles) key(i int64) string {
	f, k := c.find(i)
	n := sort.Search(len(f.empty), func(j int) bool { return f.empty[j].row > k })
	line := int64(k) + 1
	if n > 0 {
		line += f.empty[n-1].lines
	}
	return f.name + ":" + strconv.FormatInt(line, 10)
}

var lines = sync.Pool{New: func() any { return new([]byte) }}

// read calls parse with the line of row i, without its end.
func (c *lineFiles) read(i int64, parse func(line []byte) error) error {
	f, k := c.find(i)
	b := lines.Get().(*[]byte)
	defer lines.Put(b)
	n := int(f.start[k+1] - f.start[k])
	*b = slices.Grow((*b)[:0], n)[:n]
	got, err := f.f.ReadAt(*b, f.start[k])
	if got == n {
		err = nil
	}
	if err == nil {
		line := *b
		if j := bytes.IndexByte(line, '\n'); j >= 0 { // empty lines may follow
			line = line[:j]
		}
		if err = parse(bytes.TrimRight(line, "\r")); err != nil {
			err = fmt.Errorf("%w: %w", dataset.ErrData, err)
		}
	}
	if err == io.EOF {
		err = fmt.Errorf("%w: the file was truncated after it was opened", dataset.ErrData)
	}
	if err != nil {
		return fmt.Errorf("mxnet: %s: %s: %w", c.iter, c.key(i), err)
	}
	return nil
}

// part returns the rows of part k of n: a range, cut as dmlc-core cuts text.
func (c *lineFiles) part(ctx context.Context, o store.Opener, k, n int) (from, to int64, err error) {
	if n == 1 {
		return 0, c.len(), nil
	}
	var files []store.Info
	for _, f := range c.files {
		files = append(files, store.Info{Name: f.name, Size: f.f.Size()})
	}
	s, err := recordio.NewStream(ctx, o, files, 1)
	if err != nil {
		return 0, 0, err
	}
	first, end, err := s.Part(k, n, true)
	return c.row(first), c.row(end), errors.Join(err, s.Close())
}

// row returns the first row that begins at a place of the files, or after it.
func (c *lineFiles) row(place int64) (row int64) {
	for _, f := range c.files {
		rows := f.start[:len(f.start)-1]
		if place < f.f.Size() {
			k, _ := slices.BinarySearch(rows, place)
			return row + int64(k)
		}
		row += int64(len(rows))
		place -= f.f.Size()
	}
	return row
}

func (c *lineFiles) close() error {
	var l []error
	for _, f := range c.files {
		l = append(l, f.f.Close())
	}
	return errors.Join(l...)
}
