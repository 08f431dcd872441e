package kaldi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxLine is the size of the longest line of a script.
const maxLine = 64 << 10

// Entry is a line of a script: the place of an object.
type Entry struct {
	Key string
	// Path is the file, and Offset the position of the object in it, 0 if the
	// line has none.
	Path   string
	Offset int64
	// Command is the text before the "|" of a line with a command in place of a
	// file.
	Command string
	// Range selects a part of the object, nil for all of it.
	Range *Range
	// Number is the line number, from 1.
	Number int
}

// Range selects rows and columns of a matrix. For a vector, Rows selects
// elements.
type Range struct{ Rows, Cols Span }

// Span selects the indices from First to Last, inclusive. All selects all of
// them.
type Span struct {
	First, Last int
	All         bool
}

func (s Span) String() string {
	if s.All {
		return ":"
	}
	return fmt.Sprintf("%d:%d", s.First, s.Last)
}

func (r Range) String() string {
	if r.Cols.All {
		return "[" + r.Rows.String() + "]"
	}
	return "[" + r.Rows.String() + "," + r.Cols.String() + "]"
}

// ParseRange parses ranges such as "[0:9]" and "[:,0:3]". The last index is
// inclusive.
func ParseRange(s string) (Range, error) {
	bad := fmt.Errorf("kaldi: range %q, want [first:last] or [first:last,first:last], or : for all", s)
	body, ok := strings.CutPrefix(s, "[")
	body, ok2 := strings.CutSuffix(body, "]")
	if !ok || !ok2 {
		return Range{}, bad
	}
	parts := strings.Split(body, ",")
	if len(parts) > 2 {
		return Range{}, bad
	}
	r := Range{Cols: Span{All: true}}
	for i, p := range parts {
		span := Span{All: true}
		if p != ":" {
			a, b, ok := strings.Cut(p, ":")
			first, err := strconv.ParseUint(a, 10, 31)
			last, err2 := strconv.ParseUint(b, 10, 31)
			if !ok || err != nil || err2 != nil || first > last {
				return Range{}, bad
			}
			span = Span{First: int(first), Last: int(last)}
		}
		if i == 0 {
			r.Rows = span
		} else {
			r.Cols = span
		}
	}
	return r, nil
}

// slack is the number of rows by which a range may exceed a matrix, as in
// Kaldi: lengths computed from times can be off by a few.
const slack = 3

// of returns the range's bounds in n rows or columns.
func (s Span) of(n, slack int, what string) (from, to int, err error) {
	if s.All {
		return 0, n, nil
	}
	if s.First >= n || s.Last >= n+slack {
		return 0, 0, fmt.Errorf("%s %v of %d", what, s, n)
	}
	return s.First, min(s.Last+1, n), nil
}

// Shape returns the shape of the part of a matrix or vector that r selects.
// Rows (or elements) may exceed the end by at most 3 and columns not at all, as
// in Kaldi.
func (r Range) Shape(s tensor.Shape) (tensor.Shape, error) {
	_, _, out, err := r.cut(s)
	return out, err
}

func (r Range) cut(s tensor.Shape) (row, col int, out tensor.Shape, err error) {
	out = s
	if s.Rank() < 1 || s.Rank() > 2 {
		return 0, 0, out, fmt.Errorf("a range of %v, want a matrix or vector", s)
	}
	row, to, err := r.Rows.of(s.At(0), slack, "rows")
	if err != nil {
		return 0, 0, out, err
	}
	out = out.With(0, to-row)
	if s.Rank() == 1 {
		if !r.Cols.All {
			return 0, 0, out, fmt.Errorf("columns %v of a vector", r.Cols)
		}
		return row, 0, out, nil
	}
	col, to, err = r.Cols.of(s.At(1), 0, "columns")
	if err != nil {
		return 0, 0, out, err
	}
	return row, col, out.With(1, to-col), nil
}

// apply replaces t by a copy of the part that r selects.
func (r Range) apply(t, to *tensor.Tensor) error {
	row, col, shape, err := r.cut(t.Shape)
	if err != nil {
		return err
	}
	v := *t
	v.Shape = shape
	at := row*t.Strides[0] + col
	v.Data = t.Data[at*t.DType.Size():]
	if err := to.Reset(tensor.Desc{DType: t.DType, Shape: shape}); err != nil {
		return err
	}
	return v.CopyTo(to)
}

// ParseEntry parses a line of a script, without its line end.
func ParseEntry(line string) (Entry, error) {
	bad := func(format string, args ...any) (Entry, error) {
		return Entry{}, fmt.Errorf("kaldi: the line %.200q: %s", line, fmt.Sprintf(format, args...))
	}
	const blanks = " \t\n\v\f\r"
	line = strings.Trim(line, blanks)
	i := strings.IndexAny(line, blanks)
	if i < 0 {
		return bad("want a key and a file")
	}
	e := Entry{Key: line[:i]}
	if err := CheckKey(e.Key); err != nil {
		return Entry{}, err
	}
	rest := strings.TrimLeft(line[i:], blanks)
	if strings.ContainsAny(rest, "\x00\n") {
		return bad("a zero byte or a line's end in it")
	}
	if strings.HasSuffix(rest, "]") {
		i := strings.IndexByte(rest, '[')
		if i < 0 || strings.Count(rest, "[") != 1 {
			return bad("a range without its bracket, or with several")
		}
		r, err := ParseRange(rest[i:])
		if err != nil {
			return Entry{}, err
		}
		e.Range, rest = &r, rest[:i]
	}
	if command, ok := strings.CutSuffix(rest, "|"); ok {
		if e.Command = strings.Trim(command, blanks); e.Command == "" {
			return bad("no command before |")
		}
		return e, nil
	}
	path, offset := cutOffset(rest)
	if offset != "" {
		n, err := strconv.ParseInt(offset, 10, 64)
		if err != nil {
			return bad("offset %s is above 2^63-1", offset)
		}
		e.Offset = n
	}
	e.Path = path
	if err := checkPath(path); err != nil {
		return bad("%v", err)
	}
	return e, nil
}

// cutOffset splits the decimal number after the last colon from a path. Without
// one it returns an empty number.
func cutOffset(s string) (path, offset string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i+1 == len(s) || strings.Trim(s[i+1:], "0123456789") != "" {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// checkPath returns an error for paths that Kaldi does not accept as a file
// name.
func checkPath(path string) error {
	options, _, colon := strings.Cut(path, ":")
	o := strings.Split(options, ",")
	switch {
	case path == "" || path == "-":
		return errors.New("the standard input is no file that can be read by place")
	case strings.Trim(path, " \t\r\n\v\f") != path:
		return fmt.Errorf("blanks at an end of the path %q", path)
	case strings.Contains(path, "|"):
		return fmt.Errorf("%q has | within or before it, which is neither a file nor a command to read", path)
	case colon && (slices.Contains(o, "ark") || slices.Contains(o, "scp")):
		return fmt.Errorf("%q is a table, want a file", path)
	}
	return nil
}

// Line returns the entry as a line of a script, without a line end.
func (e Entry) Line() (string, error) {
	s := e.Key + " "
	if e.Command != "" {
		s += e.Command + " |"
	} else {
		s += e.Path
		// A path that ends like an offset, a range or a command must have one.
		_, offset := cutOffset(e.Path)
		if e.Offset > 0 || offset != "" || e.Range == nil && (strings.HasSuffix(e.Path, "]") || strings.HasSuffix(e.Path, "|")) {
			s += ":" + strconv.FormatInt(e.Offset, 10)
		}
	}
	if e.Range != nil {
		s += e.Range.String()
	}
	back, err := ParseEntry(s)
	if err != nil {
		return "", err
	}
	if back.Path != e.Path || back.Offset != e.Offset || back.Command != e.Command {
		return "", fmt.Errorf("kaldi: %+v cannot be a line of a script", e)
	}
	return s, nil
}

// ReadScript reads a script: one line per object. Commands are a PipeError
// unless Options.Run is set. Options.Limit bounds the bytes of the script.
func ReadScript(r io.Reader, o Options) ([]Entry, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	var l []Entry
	b := bufio.NewReaderSize(bom.NewReader(r), maxLine)
	at := o.Offset
	for number := 1; ; number++ {
		line, err := b.ReadSlice('\n')
		corrupt := func(key, what string) error {
			return corrupt(o.Name, at, key, "line %d: %s", number, what)
		}
		switch {
		case err == io.EOF && len(line) == 0:
			return l, nil
		case err == io.EOF:
			return nil, corrupt("", "the file ends within the line")
		case err == bufio.ErrBufferFull:
			return nil, corrupt("", fmt.Sprintf("more than %d bytes", maxLine))
		case err != nil:
			return nil, fmt.Errorf("kaldi: %s%w", where(o.Name, "", at), err)
		}
		e, err := ParseEntry(string(line[:len(line)-1]))
		if err != nil {
			return nil, corrupt("", strings.TrimPrefix(err.Error(), "kaldi: "))
		}
		e.Number = number
		if e.Command != "" && o.Run == nil {
			return nil, &PipeError{o.Name, number, e.Key, e.Command}
		}
		l = append(l, e)
		if at += int64(len(line)); at-o.Offset > o.Limit {
			return nil, fmt.Errorf("kaldi: %s%w: the limit is %d", where(o.Name, "", at), records.ErrTooLarge, o.Limit)
		}
	}
}

// maxOpen is the number of files that a Script keeps open.
const maxOpen = 16

// Script reads the objects of a script in any order. It is safe for concurrent
// use. The opener resolves paths; Kaldi resolves them relative to its working
// directory.
type Script struct {
	opener  store.Opener
	entries []Entry
	o       Options
	readers sync.Pool

	mu   sync.Mutex
	keys map[string]int
	open []*openFile // sorted by last use
}

type openFile struct {
	store.File
	name    string
	users   int
	dropped bool // closed when the last user is done
}

// OpenScript opens a script by name.
func OpenScript(ctx context.Context, opener store.Opener, name string, o Options) (*Script, error) {
	f, err := opener.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("kaldi: %w", err)
	}
	o.Name = name
	l, err := ReadScript(io.NewSectionReader(f, 0, f.Size()), o)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return NewScript(opener, l, o)
}

// NewScript returns a Script of the given entries.
func NewScript(opener store.Opener, entries []Entry, o Options) (*Script, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Command != "" && o.Run == nil {
			return nil, &PipeError{o.Name, e.Number, e.Key, e.Command}
		}
	}
	return &Script{opener: opener, entries: entries, o: o}, nil
}

// Len returns the number of entries.
func (s *Script) Len() int { return len(s.entries) }

// Entry returns entry i.
func (s *Script) Entry(i int) Entry { return s.entries[i] }

// Find returns the first entry with a key.
func (s *Script) Find(key string) (i int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = make(map[string]int, len(s.entries))
		for i, e := range s.entries {
			if _, ok := s.keys[e.Key]; !ok {
				s.keys[e.Key] = i
			}
		}
	}
	i, ok = s.keys[key]
	return i, ok
}

// Header returns the header of entry i without reading its data, except for
// text. Shape is that of the entry's range.
func (s *Script) Header(ctx context.Context, i int) (h Header, err error) {
	err = s.with(ctx, i, func(r *Reader, e Entry) error {
		if err := s.checkRange(r, e); err != nil {
			return err
		}
		h = r.h
		if r.isInts() { // its header alone does not tell it from other objects
			if err := r.pass(); err != nil {
				return err
			}
		}
		if e.Range != nil {
			h.Shape, err = e.Range.Shape(h.Shape)
		}
		return err
	})
	return h, err
}

// Read returns the object of entry i, or the part that the entry's range
// selects.
func (s *Script) Read(ctx context.Context, i int) (*tensor.Tensor, error) {
	t := &tensor.Tensor{}
	if err := s.ReadTo(ctx, i, func(tensor.Desc) (*tensor.Tensor, error) { return t, nil }); err != nil {
		return nil, err
	}
	return t, nil
}

// Raw returns the bytes of the object of entry i as stored, which the caller
// owns. An entry with a range is an error.
func (s *Script) Raw(ctx context.Context, i int) (b []byte, err error) {
	err = s.with(ctx, i, func(r *Reader, e Entry) error {
		if e.Range != nil {
			return fmt.Errorf("kaldi: %s: line %d: %q: the range %v of an object has no bytes of its own", store.Redact(s.o.Name), e.Number, e.Key, *e.Range)
		}
		b, err = r.Raw()
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Samples returns the samples from..to of the wave of entry i, with all
// channels. If the wave's length is known, it reads no other samples and does
// not check later bytes.
func (s *Script) Samples(ctx context.Context, i, from, to int) (t *tensor.Tensor, err error) {
	err = s.with(ctx, i, func(r *Reader, e Entry) error {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("kaldi: %s: line %d: %q: %s", store.Redact(s.o.Name), e.Number, e.Key, fmt.Sprintf(format, args...))
		}
		if r.h.Type != Wave || e.Range != nil {
			return fail("samples of a %v, want all of a wave", r.h.Type)
		}
		n := r.h.Shape.At(0)
		if from < 0 || from > to || to > n {
			return fail("samples %d to %d of %d", from, to, n)
		}
		t, err = r.samples(from, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ReadTo is like Read, but reads into the tensor that place returns for a
// description, and reuses its memory if it is large enough. It returns an error
// of place unchanged.
func (s *Script) ReadTo(ctx context.Context, i int, place func(tensor.Desc) (*tensor.Tensor, error)) error {
	return s.with(ctx, i, func(r *Reader, e Entry) error {
		if err := s.checkRange(r, e); err != nil {
			return err
		}
		d := tensor.Desc{DType: r.h.DType, Shape: r.h.Shape}
		if e.Range == nil {
			t, err := place(d)
			if err != nil {
				return err
			}
			return r.ReadTo(t)
		}
		var err error
		if d.Shape, err = e.Range.Shape(d.Shape); err != nil {
			return err
		}
		t, err := place(d)
		if err != nil {
			return err
		}
		whole, err := r.Read()
		if err != nil {
			return err
		}
		return e.Range.apply(whole, t)
	})
}

func (s *Script) checkRange(r *Reader, e Entry) (err error) {
	if e.Range == nil {
		return nil
	}
	if r.h.Type != Matrix && r.h.Type != Vector {
		err = fmt.Errorf("a range of a %v, want a matrix or a vector", r.h.Type)
	} else {
		_, err = e.Range.Shape(r.h.Shape)
	}
	if err != nil {
		return fmt.Errorf("kaldi: %s: line %d: %q: %w", store.Redact(s.o.Name), e.Number, e.Key, err)
	}
	return nil
}

// with calls f with a reader that has read the header of entry i.
func (s *Script) with(ctx context.Context, i int, f func(*Reader, Entry) error) (err error) {
	if i < 0 || i >= len(s.entries) {
		return fmt.Errorf("kaldi: %s: entry %d of %d", store.Redact(s.o.Name), i, len(s.entries))
	}
	e := s.entries[i]
	r, _ := s.readers.Get().(*Reader)
	if r == nil {
		r = &Reader{}
	}
	o := s.o
	o.Name, o.Offset = e.Path, e.Offset
	if e.Command != "" {
		o.Name = e.Command + " |"
		out, err := s.o.Run(e.Command)
		if err != nil {
			return fmt.Errorf("kaldi: %s: line %d: %q: %w", store.Redact(s.o.Name), e.Number, e.Key, err)
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		r.reset(out, o)
	} else {
		file, err := s.file(ctx, e.Path)
		if err != nil {
			return fmt.Errorf("kaldi: %s: line %d: %q: %w", store.Redact(s.o.Name), e.Number, e.Key, err)
		}
		defer func() { err = errors.Join(err, s.done(file)) }()
		if e.Offset >= file.Size() {
			return corrupt(e.Path, e.Offset, e.Key, "the file has %d bytes", file.Size())
		}
		r.reset(section(file, e.Offset), o)
	}
	r.h.Key = e.Key
	if err := r.object(); err != nil {
		return err
	}
	if err := f(r, e); err != nil {
		return err
	}
	r.under = nil
	r.r.Reset(nil)
	s.readers.Put(r)
	return nil
}

// section returns a reader of the bytes after offset, in memory if the file is
// mapped.
func section(f store.File, offset int64) io.Reader {
	if b := store.MappedBytes(f); b != nil {
		return bytes.NewReader(b[offset:])
	}
	return io.NewSectionReader(f, offset, f.Size()-offset)
}

// file opens a file, or returns it if it is open.
func (s *Script) file(ctx context.Context, name string) (*openFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.open {
		if f.name == name {
			s.open = append(slices.Delete(s.open, i, i+1), f)
			f.users++
			return f, nil
		}
	}
	x, err := s.opener.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(s.open) == maxOpen {
		if err := s.drop(); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	f := &openFile{File: x, name: name, users: 1}
	s.open = append(s.open, f)
	return f, nil
}

// drop closes the least recently used file, once nobody uses it.
func (s *Script) drop() error {
	f := s.open[0]
	s.open = slices.Delete(s.open, 0, 1)
	if f.users > 0 {
		f.dropped = true
		return nil
	}
	return f.Close()
}

func (s *Script) done(f *openFile) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.users--; f.users == 0 && f.dropped {
		return f.Close()
	}
	return nil
}

// Close closes the files. The Script opens them again when it is used.
func (s *Script) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for len(s.open) > 0 {
		errs = append(errs, s.drop())
	}
	return errors.Join(errs...)
}
