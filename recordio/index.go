package recordio

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Entry is a line of an .idx file: the key of a record and the offset of its
// first part.
type Entry struct {
	Key    int64
	Offset int64
}

// ReadIndex reads an .idx file: one line for each record, with key and offset
// separated by white space. It returns the entries in the order of the file;
// keys need not ascend. An invalid line or an empty index is a CorruptionError.
func ReadIndex(name string, r io.Reader) ([]Entry, error) {
	var l []Entry
	s := bufio.NewScanner(r)
	for at := int64(0); s.Scan(); at += int64(len(s.Bytes())) + 1 {
		f := bytes.Fields(s.Bytes())
		if len(f) == 0 {
			continue
		}
		var e Entry
		err := errors.New("not two of them")
		if len(f) == 2 {
			if e.Key, err = strconv.ParseInt(string(f[0]), 10, 64); err == nil {
				e.Offset, err = strconv.ParseInt(string(f[1]), 10, 64)
			}
		}
		if err != nil || e.Offset < 0 || e.Offset%align != 0 {
			return nil, records.Corruptf(formatName, name, at, "%.60q, want a key and an offset that is a multiple of %d", s.Text(), align)
		}
		l = append(l, e)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("recordio: %s: %w", store.Redact(name), err)
	}
	if len(l) == 0 {
		return nil, records.Corruptf(formatName, name, 0, "no entries")
	}
	return l, nil
}

// AppendText appends the entry's line to b.
func (e Entry) AppendText(b []byte) ([]byte, error) {
	b = strconv.AppendInt(b, e.Key, 10)
	b = append(b, '\t')
	b = strconv.AppendInt(b, e.Offset, 10)
	return append(b, '\n'), nil
}

// IndexedWriter writes records and their index. It is for one goroutine at a
// time.
type IndexedWriter struct {
	Writer
	index io.Writer
	line  []byte
}

// NewIndexedWriter returns a writer of records to w, as NewWriter does, and of
// their index to index.
func NewIndexedWriter(w, index io.Writer, offset int64) (*IndexedWriter, error) {
	r, err := NewWriter(w, offset)
	if err != nil {
		return nil, err
	}
	return &IndexedWriter{Writer: *r, index: index}, nil
}

// WriteKey writes one record and its key.
func (w *IndexedWriter) WriteKey(key int64, record []byte) error {
	at := w.Offset()
	if err := w.Write(record); err != nil {
		return err
	}
	w.line, _ = Entry{key, at}.AppendText(w.line[:0])
	if n, err := w.index.Write(w.line); err != nil || n < len(w.line) {
		if err == nil {
			err = io.ErrShortWrite
		}
		w.err = fmt.Errorf("recordio: index: %w", err)
	}
	return w.err
}

// Indexed reads the records of a stream in any order, by an index. It is safe
// for concurrent use with one Buffer per goroutine.
type Indexed struct {
	stream  *Stream
	entries []Entry
	ends    []int64 // where each record ends
	limit   int
}

// Indexed returns a reader of the records of an index; record i is that of
// entry i. An entry beyond the end of the stream, or two entries at one place,
// are a CorruptionError. Reading a record checks that one begins at its entry.
func (s *Stream) Indexed(index []Entry, o Options) (*Indexed, error) {
	return s.IndexedTo(s.Size(), index, o)
}

// IndexedTo is like Indexed for a part of the stream whose last record ends at
// end.
func (s *Stream) IndexedTo(end int64, index []Entry, o Options) (*Indexed, error) {
	if o.Limit <= 0 || o.Limit > MaxRecord {
		o.Limit = MaxRecord
	}
	x := &Indexed{stream: s, entries: index, ends: make([]int64, len(index)), limit: o.Limit}
	order := make([]int, len(index))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(index[a].Offset, index[b].Offset) })
	for k, i := range order {
		end := end
		if k+1 < len(order) {
			end = index[order[k+1]].Offset
		}
		if x.ends[i] = end; end-index[i].Offset < header {
			return nil, records.Corruptf(formatName, o.Name, index[i].Offset, "the index has a record of %d bytes there (key %d)", end-index[i].Offset, index[i].Key)
		}
	}
	return x, nil
}

// Len returns the number of records.
func (x *Indexed) Len() int { return len(x.entries) }

// Key returns the key of record i.
func (x *Indexed) Key(i int) int64 { return x.entries[i].Key }

// Place returns the file of record i and its offset in it.
func (x *Indexed) Place(i int) (file string, offset int64) {
	f, offset := x.stream.At(x.entries[i].Offset)
	return x.stream.files[f].Name, offset
}

// Buffer is reusable memory for Record. It is for one goroutine; the zero
// Buffer is ready for use.
type Buffer struct {
	b []byte
	r Reader
}

// Record reads record i. If shared is true, the record is a view of the file,
// valid until the stream is closed; else it is valid until the next use of b.
func (x *Indexed) Record(i int, b *Buffer) (record []byte, shared bool, err error) {
	at, end := x.entries[i].Offset, x.ends[i]
	n := end - at
	file, offset := x.stream.At(at)
	name := x.stream.files[file].Name
	if n > x.stream.files[file].Size-offset {
		return nil, false, records.Corruptf(formatName, name, offset, "the index has a record of %d bytes there, beyond the file's end", n)
	}
	part, err := x.stream.view(file, offset, offset+n)
	if err != nil {
		return nil, false, err
	}
	if shared = part != nil; !shared {
		// The parts of a record take a few more bytes each.
		if n > int64(x.limit)*3+header {
			return nil, false, fmt.Errorf("recordio: %s: at byte %d: %w: %d bytes, the limit is %d", store.Redact(name), offset, records.ErrTooLarge, n, x.limit)
		}
		if int64(cap(b.b)) < n {
			b.b = make([]byte, n+n/4) // room for larger records
		}
		part = b.b[:n]
		if _, err := x.stream.ReadAt(part, at); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, false, err
		}
	}
	b.r = Reader{o: Options{Name: name, Limit: x.limit}, buf: part, base: offset, end: io.EOF, join: b.r.join}
	if record, err = b.r.Next(); err != nil {
		if err == io.EOF {
			err = records.Corruptf(formatName, name, offset, "no record")
		}
		return nil, false, err
	}
	if b.r.End() != offset+n {
		return nil, false, records.Corruptf(formatName, name, b.r.End(), "the record ends, the next one of the index begins at %d", offset+n)
	}
	return record, shared && !b.r.joined, nil
}

// Index returns the index of a stream by reading all of it. The keys are the
// records' numbers.
func (s *Stream) Index(o Options) (l []Entry, err error) {
	l, _, err = s.IndexPart(0, 1, o)
	return l, err
}

// IndexPart is like Index for part k of n, as divided by Part, and reads only
// that part. It also returns where the last record ends. The keys are the
// records' numbers within the part.
func (s *Stream) IndexPart(k, n int, o Options) (l []Entry, end int64, err error) {
	from, end, err := s.Part(k, n, false)
	if err != nil {
		return nil, 0, err
	}
	err = s.within(from, end, o, func(at int64, _ []byte) error {
		l = append(l, Entry{int64(len(l)), at})
		return nil
	})
	return l, end, err
}

// PartIndex returns part k of n of an index, sorted by offset, and where its
// last record ends. It divides as dmlc-core does: ceil(records/n) for each part
// until all are used. An entry beyond the end of the stream is a
// CorruptionError.
func (s *Stream) PartIndex(index []Entry, k, n int, o Options) (part []Entry, end int64, err error) {
	index = slices.Clone(index)
	slices.SortStableFunc(index, func(a, b Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	if len(index) > 0 {
		if e := index[len(index)-1]; e.Offset >= s.Size() {
			return nil, 0, records.Corruptf(formatName, o.Name, 0, "key %d is at byte %d, the files have %d", e.Key, e.Offset, s.Size())
		}
	}
	step := (len(index) + n - 1) / n
	from, to := min(k*step, len(index)), min((k+1)*step, len(index))
	if end = s.Size(); to < len(index) {
		end = index[to].Offset
	}
	return index[from:to:to], end, nil
}
