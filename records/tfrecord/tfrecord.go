// Package tfrecord reads and writes TFRecord, TensorFlow's record files:
// records of bytes with checksums. Package tfexample reads the tf.train.Example
// messages in them, and package records reads them like any other record
// format.
//
// A record is, with all integers little-endian:
//
//	length (uint64) | its masked CRC-32C (uint32) | data | its masked CRC-32C (uint32)
//
// A checksum is masked as ((crc>>15 | crc<<17) + 0xa282ead8). Reading detects
// every changed byte and every truncation. The format has no index, and a
// reader cannot continue after a damaged length.
//
// Reference: TensorFlow 2's tfrecord documentation; tests compare with files of
// the tfrecord package 1.14.6 of PyPI (docs/format/tfrecord.md).
package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/infer-prep/infer-prep/records"
)

// The sizes of the parts before and after the data.
const (
	head = 8 + 4
	tail = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// Options are the options of a Reader. The zero value is ready for use.
type Options struct {
	Name   string // of the file, for errors
	Offset int64  // position in the file of the first byte
	// Limit is the size of the largest record, in bytes. Default 1 GiB.
	Limit int64
}

// Reader reads records in order. It is for one goroutine at a time.
type Reader struct {
	o    Options
	r    io.Reader // nil if mem is the whole input
	mem  []byte    // the rest of the input
	at   int64     // of the record
	next int64
	buf  []byte
	err  error
}

// NewReader returns a reader of the records in r.
func NewReader(r io.Reader, o Options) *Reader {
	if o.Limit <= 0 {
		o.Limit = 1 << 30
	}
	return &Reader{o: o, r: r, at: o.Offset, next: o.Offset}
}

// NewBytes returns a reader of the records in b, for example a mapped file.
// Records are views of b.
func NewBytes(b []byte, o Options) *Reader {
	r := NewReader(nil, o)
	r.mem = b
	return r
}

// Next returns the next record, valid until the next call, and io.EOF at the
// end. It returns any other error again at every later call.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.read()
	if err != nil {
		r.err = err
		return nil, err
	}
	return b, nil
}

func (r *Reader) corrupt(format string, args ...any) error {
	return records.Corruptf(formatName, r.o.Name, r.at, format, args...)
}

// full fills b, or reads up to the end.
func (r *Reader) full(b []byte) (int, error) {
	if r.r != nil {
		return io.ReadFull(r.r, b)
	}
	n := copy(b, r.mem)
	r.mem = r.mem[n:]
	switch {
	case n == len(b):
		return n, nil
	case n == 0:
		return 0, io.EOF
	}
	return n, io.ErrUnexpectedEOF
}

// head reads the head of a record, and returns io.EOF at the end.
func (r *Reader) head() (length int, err error) {
	r.at = r.next
	var h [head]byte
	n, err := r.full(h[:])
	switch {
	case err == io.EOF:
		return 0, io.EOF
	case err == io.ErrUnexpectedEOF:
		return 0, r.corrupt("the file ends %d bytes into a head of %d", n, head)
	case err != nil:
		return 0, fmt.Errorf("tfrecord: %s: at byte %d: %w", r.o.Name, r.at, err)
	}
	if got, want := binary.LittleEndian.Uint32(h[8:]), masked(h[:8]); got != want {
		return 0, r.corrupt("the checksum of the length is %08x, want %08x", got, want)
	}
	l := binary.LittleEndian.Uint64(h[:])
	if l > uint64(r.o.Limit) {
		return 0, fmt.Errorf("tfrecord: %s: at byte %d: %w: %d bytes, the limit is %d", r.o.Name, r.at, records.ErrTooLarge, l, r.o.Limit)
	}
	return int(l), nil
}

func (r *Reader) read() ([]byte, error) {
	length, err := r.head()
	if err != nil {
		return nil, err
	}
	total := length + tail
	if r.r == nil {
		if len(r.mem) < total {
			return nil, r.corrupt("the file ends %d bytes into a record of %d", head+len(r.mem), head+total)
		}
		b := r.mem[:total]
		r.mem = r.mem[total:]
		return r.check(b)
	}
	// Memory grows with the input, not with the stated length.
	const step = 1 << 20
	r.buf = r.buf[:0]
	for len(r.buf) < total {
		at := len(r.buf)
		want := min(total, max(cap(r.buf), at+max(step, at)))
		if cap(r.buf) < want {
			b := make([]byte, want)
			copy(b, r.buf)
			r.buf = b
		}
		r.buf = r.buf[:want]
		n, err := r.full(r.buf[at:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, r.corrupt("the file ends %d bytes into a record of %d", head+at+n, head+total)
		}
		if err != nil {
			return nil, fmt.Errorf("tfrecord: %s: at byte %d: %w", r.o.Name, r.at, err)
		}
	}
	return r.check(r.buf)
}

// check returns the data of b, which ends with the data's checksum.
func (r *Reader) check(b []byte) ([]byte, error) {
	length := len(b) - tail
	data := b[:length:length]
	if got, want := binary.LittleEndian.Uint32(b[length:]), masked(data); got != want {
		return nil, r.corrupt("the checksum of %d bytes of data is %08x, want %08x", length, got, want)
	}
	r.next = r.at + head + int64(len(b))
	return data, nil
}

// Scan returns the position of each record of a file of size bytes, from
// Options.Offset on, and where the last one ends. It reads and verifies only
// the heads: reading a record verifies its data.
func Scan(f io.ReaderAt, size int64, o Options) (offsets []int64, err error) {
	r := NewReader(nil, o)
	for {
		r.r = io.NewSectionReader(f, r.next, size-r.next)
		length, err := r.head()
		if err == io.EOF {
			return append(offsets, r.at), nil
		}
		if err != nil {
			return nil, err
		}
		total := head + int64(length) + tail
		if total > size-r.at {
			return nil, r.corrupt("the file ends %d bytes into a record of %d", size-r.at, total)
		}
		offsets = append(offsets, r.at)
		r.next = r.at + total
	}
}

// Offset returns the position in the file at which the last record of Next
// begins.
func (r *Reader) Offset() int64 { return r.at }

// Writer writes records. It is for one goroutine at a time.
type Writer struct {
	w      io.Writer
	offset int64
	err    error
	b      [head]byte
}

// NewWriter returns a writer whose first record is at offset of the file.
func NewWriter(w io.Writer, offset int64) *Writer { return &Writer{w: w, offset: offset} }

// Offset returns the position of the next record.
func (w *Writer) Offset() int64 { return w.offset }

// Write writes one record. After an error all later calls return it too, since
// the file may end within a record.
func (w *Writer) Write(record []byte) error {
	binary.LittleEndian.PutUint64(w.b[:], uint64(len(record)))
	binary.LittleEndian.PutUint32(w.b[8:], masked(w.b[:8]))
	w.put(w.b[:])
	w.put(record)
	binary.LittleEndian.PutUint32(w.b[:], masked(record))
	w.put(w.b[:tail])
	return w.err
}

func (w *Writer) put(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("tfrecord: %w", err)
	}
}
