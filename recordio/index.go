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
)

// Entry is a line of an .idx file: the key by which a record is found, and the
// offset of its first part.
type Entry struct {
	Key    int64
	Offset int64
}

// ReadIndex reads an .idx file: a line for each record, key and offset with white
// space between. Keys need not be ascending; the entries are in the file's order.
// An index that has none, or anything else in it, is an error.
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
		return nil, fmt.Errorf("recordio: %s: %w", name, err)
	}
	if len(l) == 0 {
		return nil, records.Corruptf(formatName, name, 0, "no entries")
	}
	return l, nil
}

// AppendText appends the entry's line.
func (e Entry) AppendText(b []byte) ([]byte, error) {
	b = strconv.AppendInt(b, e.Key, 10)
	b = append(b, '\t')
	b = strconv.AppendInt(b, e.Offset, 10)
	return append(b, '\n'), nil
}

// IndexedWriter writes records and their index. It is used by one goroutine at a time.
type IndexedWriter struct {
	Writer
	index io.Writer
	line  []byte
}

// NewIndexedWriter makes a writer, as NewWriter does, which writes the index to index.
func NewIndexedWriter(w, index io.Writer, offset int64) (*IndexedWriter, error) {
	r, err := NewWriter(w, offset)
	if err != nil {
		return nil, err
	}
	return &IndexedWriter{Writer: *r, index: index}, nil
}

// WriteKey writes one record, to be found by key.
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

// Indexed reads the records of a stream in any order, by an index. It may be used by
// several goroutines.
type Indexed struct {
	stream  *Stream
	entries []Entry
	ends    []int64 // of the records
	limit   int
}

// Indexed makes a reader of the records that an index has. Record i is that of entry i.
// An entry beyond the end, or two of one place, are a records.CorruptionError; whether a
// record begins there shows when it is read.
func (s *Stream) Indexed(index []Entry, o Options) (*Indexed, error) {
	return s.IndexedTo(s.Size(), index, o)
}

// IndexedTo is Indexed of a part, whose last record ends at end.
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

// Len is the number of records.
func (x *Indexed) Len() int { return len(x.entries) }

// Key is the key of record i.
func (x *Indexed) Key(i int) int64 { return x.entries[i].Key }

// Place is where record i begins: its file, and the offset in it.
func (x *Indexed) Place(i int) (file string, offset int64) {
	f, offset := x.stream.At(x.entries[i].Offset)
	return x.stream.files[f].Name, offset
}

// Buffer is the memory of Record, for one goroutine. The zero Buffer is ready for use.
type Buffer struct {
	b []byte
	r Reader
}

// Record reads record i. It is valid until b is used again. It is a view of the file, valid until
// that is closed, if shared is true.
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
		// A record of several parts has a few bytes more for each.
		if n > int64(x.limit)*3+header {
			return nil, false, fmt.Errorf("recordio: %s: at byte %d: %w: %d bytes, the limit is %d", name, offset, records.ErrTooLarge, n, x.limit)
		}
		if int64(cap(b.b)) < n {
			b.b = make([]byte, n+n/4) // some more, for the next ones
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

// Index finds where the records of a stream begin, by reading all of it. Keys are the
// records' numbers.
func (s *Stream) Index(o Options) (l []Entry, err error) {
	l, _, err = s.IndexPart(0, 1, o)
	return l, err
}

// IndexPart is the Index of part k of n, as Part divides, and where its last record ends. It reads nothing but
// the part. Keys are numbers within it.
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

// PartIndex is part k of n of an index, in the order of offsets, and where its last record ends: dmlc-core's rule for
// dividing records of an index, ceil(records/n) for each part until there are no more. An
// entry beyond the stream's end is a CorruptionError.
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
