package mindrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// WriterOptions are those of a Writer.
type WriterOptions struct {
	// HeaderSize and PageSize are the bytes of the header, which must have room for what it says of all pages, and of
	// a page, which must have room for a row. Defaults: 16 and 32 MiB, as in MindSpore, whose limits are 16 KiB
	// to 128 MiB and 32 KiB to 256 MiB.
	HeaderSize, PageSize int64
	// Rows is the most rows of a file. More are written into several: NAME0, NAME1, …, with as many digits as
	// the last one needs. Default: all in one, NAME.
	Rows int64
}

// Writer writes rows. It is used by one goroutine at a time.
//
// The data file has the bytes of MindSpore's FileWriter with one row a call, but for what is left in a page's room
// behind its end, which is zeros here. A row whose only blob is empty is one that MindSpore does not write, but reads.
//
// Files are written under temporary names. Close makes the indexes and then puts all files under their names, each index behind
// its data file. So a name never has half a file. A program that is killed within Close may leave some
// data files with no index, or with an older one, which is an error when they are read: [Index] makes it again.
type Writer struct {
	name   string
	schema Schema
	o      WriterOptions
	done   []*shard
	now    *shard
	blob   []byte // of a row
	raw    []byte
	dense  []tensor.Tensor
	paths  []string // of all files, if the set was there before
	closed bool
	err    error
}

var errClosed = errors.New("mindrecord: closed")

// shard is a data file that is being written.
type shard struct {
	f      *os.File // nil while it is closed
	temp   string   // its name; empty when it has its own
	number int      // in the set
	h      header
	room   int64  // what the pages take in the header
	rows   int64  // so far
	groups int    // so far, with that which goes on
	page   int    // the group's blob page
	at     int64  // where in it the buffer begins
	buffer []byte // blob records
	group  []byte // raw records
	raw    int    // the last raw page, -1 for none
}

// Create makes a writer of rows with the schema's fields. Nothing is seen under the name before Close; what was
// there is replaced then.
func Create(name string, schema Schema, o WriterOptions) (*Writer, error) {
	p, err := path(name)
	if err != nil {
		return nil, err
	}
	if !ported {
		return nil, fmt.Errorf("mindrecord: %s: %w", p, ErrPlatform)
	}
	if o.HeaderSize == 0 {
		o.HeaderSize = defaultHeader
	}
	if o.PageSize == 0 {
		o.PageSize = defaultPage
	}
	if o.HeaderSize < minHeader || o.HeaderSize > maxHeader || o.PageSize < minPage || o.PageSize > maxPage || o.PageSize%4 != 0 || o.Rows < 0 {
		return nil, fmt.Errorf("mindrecord: a header of %d bytes, want %d to %d; pages of %d, want %d to %d, a multiple of 4; %d rows, want none below 0",
			o.HeaderSize, minHeader, maxHeader, o.PageSize, minPage, maxPage, o.Rows)
	}
	if base := filepath.Base(p); p == "" || !validText(schema.Doc) || !validText(base) || base == "." || base == string(filepath.Separator) {
		return nil, fmt.Errorf("mindrecord: the name %q or the schema's text %.80q, want UTF-8", p, schema.Doc)
	}
	if err := schema.Check(); err != nil {
		return nil, err
	}
	w := &Writer{name: p, schema: schema, o: o}
	if err := w.begin(); err != nil {
		return nil, err
	}
	return w, nil
}

func validText(s string) bool { return strings.ToValidUTF8(s, "") == s }

// begin begins a file.
func (w *Writer) begin() error {
	if len(w.done) == maxShards {
		return fmt.Errorf("mindrecord: %s: more than %d files, want more rows in each", w.name, maxShards)
	}
	f, err := store.CreateTemp(w.name)
	if err != nil {
		return err
	}
	w.now = &shard{f: f, temp: f.Name(), raw: -1, number: len(w.done), h: header{size: w.o.HeaderSize, page: w.o.PageSize, schema: w.schema}}
	return nil
}

// Write writes a row: a value for each field of the schema, in the order of their names. What does not fit the schema is an
// ErrField, a row that is larger than a page an records.ErrTooLarge, and nothing of it is written. After another error, or
// an ErrTooLarge that says that the header is full, nothing more is.
func (w *Writer) Write(values []tensor.Tensor) error {
	if w.err != nil {
		return w.err
	}
	if len(values) != len(w.schema.Fields) {
		return fmt.Errorf("mindrecord: %w: %d values, want %d", ErrField, len(values), len(w.schema.Fields))
	}
	saved, err := w.encode(values)
	if err != nil {
		return err
	}
	if n := max(len(w.blob), len(w.raw)); int64(n) > w.o.PageSize {
		return fmt.Errorf("mindrecord: %w: %d bytes, a page has %d", records.ErrTooLarge, n, w.o.PageSize)
	}
	if w.o.Rows > 0 && w.now.rows == w.o.Rows {
		if w.err = w.finish(); w.err == nil {
			w.err = w.begin()
		}
	}
	if w.err == nil {
		w.err = w.now.add(w.blob, w.raw, saved)
	}
	return w.err
}

// encode makes the two records of a row, with their lengths.
func (w *Writer) encode(values []tensor.Tensor) (saved int64, err error) {
	fields := w.schema.Fields
	w.dense = append(w.dense[:0], values...)
	blobs := 0
	for i := range fields {
		t := &w.dense[i]
		if err := fields[i].check(t); err != nil {
			return 0, err
		}
		if t.DType != tensor.Bytes && !t.Dense() {
			w.dense[i] = *t.Clone()
		}
		if fields[i].blob() {
			blobs++
		}
	}
	w.blob, w.raw = append(w.blob[:0], make([]byte, 8)...), append(w.raw[:0], make([]byte, 8)...)
	w.raw = msgp.AppendMapHeader(w.raw, uint32(max(len(fields)-blobs, 1)))
	if len(fields) == blobs {
		w.raw = appendInt(msgp.AppendString(w.raw, filler), 0)
	}
	for i := range fields {
		f := &fields[i]
		if !f.blob() {
			w.raw = f.appendValue(msgp.AppendString(w.raw, f.Name), &w.dense[i])
			continue
		}
		at := len(w.blob)
		if blobs > 1 {
			w.blob = append(w.blob, make([]byte, 8)...)
		}
		var n int64
		w.blob, n = f.appendBlob(w.blob, &w.dense[i])
		saved += n
		if blobs > 1 {
			binary.BigEndian.PutUint64(w.blob[at:], uint64(len(w.blob)-at-8))
		}
	}
	if blobs == 0 {
		w.blob = append(w.blob, 0, 0, 0, 0)
	}
	binary.LittleEndian.PutUint64(w.blob, uint64(len(w.blob)-8))
	binary.LittleEndian.PutUint64(w.raw, uint64(len(w.raw)-8))
	return saved, nil
}

// chunk is how much of a blob page is kept before it is written.
const chunk = 1 << 20

// add adds a row. It begins a group where the row does not fit the blob page, or the group's raw records not a page.
func (s *shard) add(blob, raw []byte, saved int64) error {
	if len(s.group) > 0 {
		if s.h.pages[s.page].used+int64(len(blob)) > s.h.page || int64(len(s.group)+len(raw)) > s.h.page {
			if err := s.endGroup(); err != nil {
				return err
			}
		}
	}
	if len(s.group) == 0 {
		s.page, s.at = len(s.h.pages), 0
		if err := s.addPage(page{start: s.rows, end: s.rows, kind: s.groups}); err != nil {
			return err
		}
		s.groups++
	}
	s.group = append(s.group, raw...)
	s.buffer = append(s.buffer, blob...)
	p := &s.h.pages[s.page]
	p.used += int64(len(blob))
	p.end++
	s.rows++
	s.h.compression += saved
	if len(s.buffer) >= chunk {
		return s.flush()
	}
	return nil
}

// addPage takes room for a page in the header: with the largest numbers that it may come to have.
func (s *shard) addPage(p page) error {
	s.h.pages = append(s.h.pages, p)
	return s.take(260)
}

func (s *shard) take(n int64) error {
	if s.room += n; s.room > s.h.size-s.fixed() {
		return fmt.Errorf("mindrecord: %w: %d pages do not fit a header of %d bytes: want larger pages, a larger header, or several files", records.ErrTooLarge, len(s.h.pages), s.h.size)
	}
	return nil
}

// fixed is about what the header takes without pages; the names of a thousand files are told in finish.
func (s *shard) fixed() int64 {
	h := s.h
	h.pages = nil
	return int64(len(h.appendJSON(nil))) + 8
}

func (s *shard) flush() error {
	if _, err := s.f.WriteAt(s.buffer, s.h.at(s.page)+s.at); err != nil {
		return fmt.Errorf("mindrecord: %w", err)
	}
	s.at += int64(len(s.buffer))
	s.buffer = s.buffer[:0]
	return nil
}

// endGroup puts the group's raw records into the last raw page, or into one of their own if it has no room.
func (s *shard) endGroup() error {
	if len(s.group) == 0 {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if s.raw < 0 || s.h.pages[s.raw].used+int64(len(s.group)) > s.h.page {
		kind := 0 // as MindSpore has it
		if s.raw >= 0 {
			kind = s.raw + 1
		}
		s.raw = len(s.h.pages)
		if err := s.addPage(page{raw: true, kind: kind}); err != nil {
			return err
		}
	} else if err := s.take(40); err != nil {
		return err
	}
	p := &s.h.pages[s.raw]
	if _, err := s.f.WriteAt(s.group, s.h.at(s.raw)+p.used); err != nil {
		return fmt.Errorf("mindrecord: %w", err)
	}
	p.groups = append(p.groups, place{s.groups - 1, p.used})
	p.used += int64(len(s.group))
	s.group = s.group[:0]
	return nil
}

// finish ends the last file.
func (w *Writer) finish() error {
	s := w.now
	w.now = nil
	w.done = append(w.done, s)
	err := s.endGroup()
	s.buffer, s.group = nil, nil
	if err == nil {
		err = s.f.Close()
		s.f = nil
	}
	return err
}

// Close makes the indexes and puts all files under their names.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	if w.err == nil {
		w.err = w.finish()
	}
	if w.err == nil {
		w.err = w.publish()
	}
	err := w.err
	err = errors.Join(err, w.Abort())
	w.err = errClosed
	return err
}

// Abort drops what was written. After Close it does nothing.
func (w *Writer) Abort() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.now != nil {
		w.done = append(w.done, w.now)
		w.now = nil
	}
	var errs []error
	for _, s := range w.done {
		if s.f != nil {
			errs = append(errs, s.f.Close())
		}
		if s.temp != "" {
			errs = append(errs, os.Remove(s.temp))
		}
	}
	if w.err == nil {
		w.err = errClosed
	}
	return errors.Join(errs...)
}

func (w *Writer) publish() error {
	paths := w.paths
	if paths == nil {
		paths = []string{w.name}
		if n := len(w.done); n > 1 {
			paths = nil
			for i := range n {
				paths = append(paths, fmt.Sprintf("%s%0*d", w.name, len(fmt.Sprint(n-1)), i))
			}
		}
		var shards []string
		for _, p := range paths {
			shards = append(shards, filepath.Base(p))
		}
		for _, s := range w.done {
			s.h.shard, s.h.shards = s.number, shards
		}
	}
	indexes := make([]string, len(w.done)) // temporary
	err := func() (err error) {
		for i, s := range w.done {
			if err = s.end(); err == nil {
				indexes[i], err = makeIndex(s.temp, paths[s.number])
			}
			if err != nil {
				return err
			}
		}
		for i, s := range w.done {
			if err = os.Rename(s.temp, paths[s.number]); err == nil {
				s.temp = ""
				err = os.Rename(indexes[i], indexName(paths[s.number]))
			}
			if err != nil {
				return err
			}
			indexes[i] = ""
		}
		return nil
	}()
	for _, name := range indexes {
		if name != "" {
			err = errors.Join(err, os.Remove(name))
		}
	}
	if err != nil {
		return fmt.Errorf("mindrecord: %s: %w", w.name, err)
	}
	return nil
}

// end writes the header.
func (s *shard) end() error {
	b := s.h.appendJSON(make([]byte, 8))
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	if int64(len(b)) > s.h.size {
		return fmt.Errorf("%w: a header of %d bytes, want at most %d", records.ErrTooLarge, len(b), s.h.size)
	}
	f, err := os.OpenFile(s.temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
}

// makeIndex makes the index of a data file under a temporary name, beside what will be the data file's name.
func makeIndex(name, final string) (index string, err error) {
	d, err := openData(disk, name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	f, err := store.CreateTemp(indexName(final))
	if err != nil {
		return "", err
	}
	if err = f.Close(); err == nil {
		err = d.writeIndex(f.Name())
	}
	if err == nil {
		err = finish(f.Name())
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// finish gives a file that SQLite made its mode, and the disk time to have it.
func finish(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o644), f.Sync(), f.Close())
}

// Index makes the index of a data file again: everything in it stands in the data file too. The old one is replaced when
// the new one is whole. The names are as for Open.
func Index(names ...string) error {
	if len(names) == 1 {
		d, err := openSet(disk, names[0])
		if err != nil {
			return err
		}
		names, err = d.siblings()
		if err = errors.Join(err, d.Close()); err != nil {
			return err
		}
	}
	for _, name := range names {
		p, err := path(name)
		if err != nil {
			return err
		}
		index, err := makeIndex(p, p)
		if err != nil {
			return err
		}
		if err := os.Rename(index, indexName(p)); err != nil {
			return errors.Join(fmt.Errorf("mindrecord: %w", err), os.Remove(index))
		}
	}
	return nil
}

// Append makes a writer that adds rows to the last file of a set, so that they follow all others. The name is as for Open.
//
// The last file is copied first, so that a name never has half of one, here too: appending takes as long as copying it, and as much room.
// MindSpore writes into the files themselves, and divides the rows among them.
func Append(name string) (w *Writer, err error) {
	set, err := Open([]string{name})
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, set.Close())
		if err != nil && w != nil {
			err = errors.Join(err, w.Abort())
			w = nil
		}
	}()
	last := set.files[len(set.files)-1]
	h := last.h
	w = &Writer{name: last.name, schema: h.schema, o: WriterOptions{HeaderSize: h.size, PageSize: h.page}, paths: set.Files()}
	if err := w.begin(); err != nil {
		return w, err
	}
	s := w.now
	s.number, s.rows, s.groups = len(set.files)-1, last.rows(), len(last.groups)
	s.h = *h
	s.h.pages = slices.Clone(h.pages)
	for i, p := range h.pages {
		if p.raw {
			s.raw = i
		}
		if err := s.take(int64(len(p.appendJSON(nil, i, h.shard))) + 40); err != nil {
			return w, err
		}
	}
	if s.groups > 0 {
		// The last group goes on; its raw records are written again when it ends, where they are or elsewhere. If it is not the
		// last of its page, which no known writer leaves, the rows begin another group.
		g := last.groups[s.groups-1]
		p := &s.h.pages[g.raw]
		if n := len(p.groups) - 1; g.raw == s.raw && p.groups[n].group == s.groups-1 {
			s.group = make([]byte, g.rawEnd-g.rawStart)
			if _, err := last.file.ReadAt(s.group, h.at(g.raw)+g.rawStart); err != nil {
				return w, fmt.Errorf("mindrecord: %s: %w", last.name, err)
			}
			p.groups, p.used = slices.Clone(p.groups[:n]), g.rawStart
			s.page, s.at = g.blob, g.blobEnd
		}
	}
	for i := range s.h.pages {
		if err := s.copyPage(last.file, i); err != nil {
			return w, err
		}
	}
	return w, nil
}

// copyPage copies what is used of a page.
func (s *shard) copyPage(from io.ReaderAt, i int) error {
	at := s.h.at(i)
	_, err := io.Copy(io.NewOffsetWriter(s.f, at), io.NewSectionReader(from, at, s.h.pages[i].used))
	if err != nil {
		return fmt.Errorf("mindrecord: %w", err)
	}
	return nil
}
