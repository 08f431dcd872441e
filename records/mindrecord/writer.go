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

// WriterOptions are the options of a Writer. The zero value is ready for use.
type WriterOptions struct {
	// HeaderSize is the size of the header in bytes, which must have room for
	// the entries of all pages. PageSize is the size of a page, which must have
	// room for a row. Defaults 16 and 32 MiB, limits 16 KiB to 128 MiB and 32
	// KiB to 256 MiB, as in MindSpore.
	HeaderSize, PageSize int64
	// Rows is the largest number of rows of a file. More rows are written into
	// several files: NAME0, NAME1, …, with as many digits as the last one
	// needs. Default: all rows in one file, NAME.
	Rows int64
}

// Writer writes rows. It is for one goroutine at a time.
//
// The data file has the same bytes as that of MindSpore's FileWriter with one
// row per call, except that the unused end of a page is zero. A row whose only
// blob is empty can be written here and read by MindSpore, which cannot write
// it.
//
// Files of the local disk have temporary names until Close, which writes the
// indexes and then renames all files, each index after its data file. No name
// ever has an incomplete file. If a program is killed within Close, some data
// files may have no index or an old one; reading them is an error, and [Index]
// repairs it. [CreateStore] describes other stores.
type Writer struct {
	name   string
	schema Schema
	o      WriterOptions
	done   []*shard
	now    *shard
	blob   []byte // of a row
	raw    []byte
	dense  []tensor.Tensor
	paths  []string // of all files, if the set existed before
	upload *upload  // nil for files of the local disk
	closed bool
	err    error
}

var errClosed = errors.New("mindrecord: closed")

// shard is a data file that is being written.
type shard struct {
	f      *os.File // nil while it is closed
	temp   string   // temporary name; empty once renamed
	number int      // in the set
	h      header
	room   int64  // bytes that the pages take in the header
	rows   int64  // so far
	groups int    // so far, including the current one
	page   int    // the group's blob page
	at     int64  // position in page at which buffer begins
	buffer []byte // blob records
	group  []byte // raw records
	raw    int    // the last raw page, -1 for none
}

// Create returns a writer of rows with the fields of the schema. Close replaces
// existing files of the name; nothing is visible before.
func Create(name string, schema Schema, o WriterOptions) (*Writer, error) {
	p, err := path(name)
	if err != nil {
		return nil, err
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
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	w := &Writer{name: p, schema: schema, o: o}
	if err := w.begin(); err != nil {
		return nil, err
	}
	return w, nil
}

func validText(s string) bool { return strings.ToValidUTF8(s, "") == s }

// begin starts a file.
func (w *Writer) begin() error {
	if len(w.done) == maxShards {
		return fmt.Errorf("mindrecord: %s: more than %d files, want more rows in each", store.Redact(w.name), maxShards)
	}
	f, err := store.CreateTemp(w.name)
	if err != nil {
		return err
	}
	w.now = &shard{f: f, temp: f.Name(), raw: -1, number: len(w.done), h: header{size: w.o.HeaderSize, page: w.o.PageSize, schema: w.schema}}
	return nil
}

// Write writes a row: a value for each field of the schema, sorted by name.
// Values that do not fit the schema are an ErrField, and a row larger than a
// page is an ErrTooLarge. In both cases Write writes nothing, and the writer
// remains usable. After any other error, and after an ErrTooLarge that reports
// a full header, Write returns the error again.
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

// encode encodes the two records of a row, with their lengths.
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

// chunk is the number of bytes of a blob page that are buffered.
const chunk = 1 << 20

// add adds a row. It starts a group if the row does not fit the blob page, or
// the group's raw records would not fit a page.
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

// addPage reserves room for a page in the header, for the largest numbers that
// the page can get.
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

// fixed is the approximate size of a header without pages. finish checks the
// names of many files.
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

// endGroup writes the group's raw records into the last raw page, or into a new
// one if that is full.
func (s *shard) endGroup() error {
	if len(s.group) == 0 {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if s.raw < 0 || s.h.pages[s.raw].used+int64(len(s.group)) > s.h.page {
		kind := 0 // as in MindSpore
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

// finish completes the last file.
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

// Close writes the indexes and makes all files appear under their names.
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
	if w.err == nil && w.upload != nil {
		w.err = w.upload.send(len(w.done))
	}
	err := w.err
	err = errors.Join(err, w.Abort())
	w.err = errClosed
	return err
}

// Abort discards the files. After Close it does nothing.
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
	if w.upload != nil {
		errs = append(errs, os.RemoveAll(w.upload.dir))
	}
	if w.err == nil {
		w.err = errClosed
	}
	return errors.Join(errs...)
}

// number returns what the name of file i of n files ends with.
func number(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%0*d", len(fmt.Sprint(n-1)), i)
}

func (w *Writer) publish() error {
	paths := w.paths
	if paths == nil {
		for i := range w.done {
			paths = append(paths, w.name+number(i, len(w.done)))
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
		return fmt.Errorf("mindrecord: %s: %w", store.Redact(w.name), err)
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

// makeIndex writes the index of a data file under a temporary name beside the
// final one.
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
	err = d.writeIndex(f)
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Index rebuilds the indexes of data files from these files alone. It replaces
// an old index when the new one is complete. The names are as for Open.
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

// Append returns a writer that adds rows after those of a set. The name is as
// for Open.
//
// Append copies the last file first, so that no name ever has an incomplete
// file. It needs the time and room of that copy. MindSpore appends in place,
// and spreads the rows over all files.
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
		// Continue the last group: its raw records are written again when it
		// ends, at the same place or another. If the group is not the last of
		// its page, which no known writer leaves, the rows start a new group.
		g := last.groups[s.groups-1]
		p := &s.h.pages[g.raw]
		if n := len(p.groups) - 1; g.raw == s.raw && p.groups[n].group == s.groups-1 {
			s.group = make([]byte, g.rawEnd-g.rawStart)
			if _, err := last.file.ReadAt(s.group, h.at(g.raw)+g.rawStart); err != nil {
				return w, fmt.Errorf("mindrecord: %s: %w", store.Redact(last.name), err)
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

// copyPage copies the used bytes of a page.
func (s *shard) copyPage(from io.ReaderAt, i int) error {
	at := s.h.at(i)
	_, err := io.Copy(io.NewOffsetWriter(s.f, at), io.NewSectionReader(from, at, s.h.pages[i].used))
	if err != nil {
		return fmt.Errorf("mindrecord: %w", err)
	}
	return nil
}
