package recordio

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/records"
)

// Options are the options of a Reader. The zero value is ready for use.
type Options struct {
	// Name is the name of the file in errors.
	Name string
	// Offset is the position in the file of the first byte.
	Offset int64
	// Lenient skips damage: reading continues at the next place where a record
	// begins, and Skipped counts the loss. A last record without its padding is
	// accepted.
	Lenient bool
	// Limit is the size of the largest record, in bytes. Default MaxRecord.
	Limit int
}

// Reader reads records in order. It is for one goroutine at a time.
type Reader struct {
	o       Options
	src     io.Reader // nil if buf is the whole input
	buf     []byte    // the input from base on
	pos     int       // position in buf of the next record
	base    int64
	end     error // error of src, io.EOF at its end
	err     error
	join    []byte // a record of several parts, joined
	joined  bool   // the last record is in join
	at      int64
	skipped Skipped
	dirty   int64 // parts whose padding is not zero, which all readers ignore
}

// Skipped describes the damage that a lenient reader skipped.
type Skipped struct {
	Places int64 // damaged places
	Bytes  int64
	// First is the damage at the first place.
	First *records.CorruptionError
}

// bufferSize is the smallest number of bytes that one read asks for.
const bufferSize = 256 << 10

// NewReader returns a reader of the records in r. For a file in memory,
// NewBytes is faster since it copies nothing.
func NewReader(r io.Reader, o Options) *Reader {
	d := NewBytes(nil, o)
	d.src, d.end = r, nil
	return d
}

// NewBytes returns a reader of the records in b, for example a mapped file.
// Records of one part, as nearly all are, are views of b.
func NewBytes(b []byte, o Options) *Reader {
	if o.Limit <= 0 || o.Limit > MaxRecord {
		o.Limit = MaxRecord
	}
	return &Reader{o: o, buf: b, base: o.Offset, end: io.EOF}
}

// Next returns the next record, valid until the next call, and io.EOF at the
// end. Damage is a *CorruptionError. Next returns an error again at every later
// call.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		r.at = r.base + int64(r.pos)
		record, n, err := r.record()
		if err == nil {
			r.pos += n
			return record, nil
		}
		var c *records.CorruptionError
		if !r.o.Lenient || !errors.As(err, &c) {
			r.err = err
			return nil, err
		}
		if r.skipped.Places++; r.skipped.First == nil {
			r.skipped.First = c
		}
		if err := r.resync(); err != nil {
			r.err = err
			return nil, err
		}
	}
}

// Offset returns the position in the file at which the last record of Next
// begins.
func (r *Reader) Offset() int64 { return r.at }

// End returns the position in the file at which the last record of Next ends,
// with its padding.
func (r *Reader) End() int64 { return r.base + int64(r.pos) }

// Skipped returns the damage that the reader has skipped so far.
func (r *Reader) Skipped() Skipped { return r.skipped }

func (r *Reader) corrupt(at int, format string, args ...any) error {
	return records.Corruptf(formatName, r.o.Name, r.base+int64(at), format, args...)
}

// have reads into buf until it holds n bytes from position at on, and returns
// the available number. It may move buf.
func (r *Reader) have(at, n int) (int, error) {
	for len(r.buf)-at < n && r.end == nil {
		r.more(at + n)
	}
	got := min(len(r.buf)-at, n)
	if got < n && r.end != io.EOF {
		return got, fmt.Errorf("recordio: %s: at byte %d: %w", r.o.Name, r.base+int64(len(r.buf)), r.end)
	}
	return got, nil
}

// more reads more input. Memory grows with the input, not with the length that
// a damaged head states.
func (r *Reader) more(want int) {
	if cap(r.buf) == len(r.buf) {
		size := max(bufferSize, min(want, 2*len(r.buf)+bufferSize))
		b := make([]byte, len(r.buf), size)
		copy(b, r.buf)
		r.buf = b
	}
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	if n < 0 || n > cap(r.buf)-len(r.buf) {
		n, err = 0, errors.New("a reader gave more than was asked for")
	}
	r.buf = r.buf[:len(r.buf)+n]
	r.end = err
}

// shift discards the records that were read.
func (r *Reader) shift() {
	if r.src == nil || r.pos == 0 {
		return
	}
	n := copy(r.buf, r.buf[r.pos:])
	r.buf = r.buf[:n]
	r.base += int64(r.pos)
	r.pos = 0
}

// record parses the record at pos and returns its total size n.
func (r *Reader) record() (record []byte, n int, err error) {
	if len(r.buf)-r.pos < header || r.src != nil && r.pos > cap(r.buf)/2 {
		r.shift()
	}
	kind, data, n, err := r.part(r.pos)
	r.joined = kind != whole
	switch {
	case err != nil:
		return nil, 0, err
	case kind == whole:
		return data, n, nil
	case kind != first:
		return nil, 0, r.corrupt(r.pos, "a part of kind %d, want the beginning of a record (0 or 1)", kind)
	}
	r.join = append(r.join[:0], data...)
	for kind != last {
		var m int
		at := r.pos + n
		if kind, data, m, err = r.part(at); err != nil {
			if err == io.EOF {
				err = r.corrupt(r.pos, "the file ends within a record of several parts")
			}
			return nil, 0, err
		}
		if kind != middle && kind != last {
			return nil, 0, r.corrupt(at, "a part of kind %d, want one that goes on (2 or 3)", kind)
		}
		if len(r.join)+align+len(data) > r.o.Limit {
			return nil, 0, r.tooLarge(len(r.join) + align + len(data))
		}
		r.join = append(append(r.join, magicBytes...), data...)
		n += m
	}
	return r.join, n, nil
}

var magicBytes = []byte{Magic & 0xff, Magic >> 8 & 0xff, Magic >> 16 & 0xff, Magic >> 24}

func (r *Reader) tooLarge(n int) error {
	return fmt.Errorf("recordio: %s: at byte %d: %w: %d bytes, the limit is %d", r.o.Name, r.base+int64(r.pos), records.ErrTooLarge, n, r.o.Limit)
}

// part parses the part at a position of buf and returns its total size n. It
// returns io.EOF if the input ends there.
func (r *Reader) part(at int) (kind int, data []byte, n int, err error) {
	got, err := r.have(at, header)
	switch {
	case err != nil:
		return 0, nil, 0, err
	case got == 0:
		return 0, nil, 0, io.EOF
	case got < header:
		return 0, nil, 0, r.corrupt(at, "the file ends %d bytes into a part's head of %d", got, header)
	}
	b := r.buf[at:]
	if word(b) != Magic {
		return 0, nil, 0, r.corrupt(at, "% x, want the magic % x", b[:align], magicBytes)
	}
	kind, length := split(word(b[align:]))
	if kind > last {
		return 0, nil, 0, r.corrupt(at, "a part of kind %d, want 0 to 3", kind)
	}
	if length > r.o.Limit {
		return 0, nil, 0, r.tooLarge(length)
	}
	if (kind == first || kind == middle) && length%align != 0 {
		return 0, nil, 0, r.corrupt(at, "%d bytes before the next part, want a multiple of %d", length, align)
	}
	n = header + padded(length)
	if got, err = r.have(at, n); err != nil {
		return 0, nil, 0, err
	}
	if got < n && !(r.o.Lenient && got >= header+length) {
		return 0, nil, 0, r.corrupt(at, "the file ends %d bytes into a part of %d", got, n)
	}
	n = got
	data = r.buf[at+header:][:length:length]
	if i := findMagic(data); i >= 0 {
		return 0, nil, 0, r.corrupt(at, "the magic word %d bytes into the data, where no writer leaves it: the length is wrong, or the next head", i)
	}
	if pad := r.buf[at+header+length : at+n]; !bytes.Equal(pad, zeros[:len(pad)]) {
		r.dirty++
	}
	return kind, data, n, nil
}

// resync moves pos to the next place where a record begins.
func (r *Reader) resync() error {
	at := r.pos + align
	// Parts are aligned in the file, even if the reader's input is not.
	if rest := int((r.base + int64(at)) % align); rest != 0 {
		at += align - rest
	}
	for {
		got, err := r.have(at, header)
		if err != nil {
			return err
		}
		if got < header {
			r.skipped.Bytes += int64(len(r.buf) - r.pos)
			r.pos = len(r.buf)
			return io.EOF
		}
		i := findMagic(r.buf[at:])
		switch {
		case i < 0:
			at += (len(r.buf) - at) &^ (align - 1)
		case at+i+header > len(r.buf) && r.end == nil:
			at += i // the head is incomplete
		default:
			if at += i; isHead(r.buf[at:]) {
				r.skipped.Bytes += int64(at - r.pos)
				r.pos = at
				return nil
			}
			at += align
		}
		if at-r.pos >= bufferSize && r.src != nil { // free the skipped bytes
			r.skipped.Bytes += int64(at - r.pos)
			r.pos = at
			r.shift()
			at = 0
		}
	}
}
