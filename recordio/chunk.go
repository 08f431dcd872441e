package recordio

import (
	"bytes"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Chunk is a run of whole records, or lines, of one file, in memory.
type Chunk struct {
	Data   []byte
	File   string
	Offset int64 // position of Data in the file
	Text   bool

	own     []byte // memory for Data if the file is not mapped
	lenient bool
	limit   int
}

// Records iterates over records or lines. [Reader] implements it.
type Records interface {
	// Next returns the next record or line, and io.EOF at the end.
	Next() ([]byte, error)
	// Offset returns the position in the file at which it begins.
	Offset() int64
}

// Records returns the records of the chunk.
func (c *Chunk) Records() Records { return c.Part(0, 1) }

// Part returns the records of part k of n of the chunk, so that several
// goroutines can share it. Each record is in exactly one part, by the rule of
// Stream.Part.
func (c *Chunk) Part(k, n int) Records {
	unit := align
	if c.Text {
		unit = 1
	}
	step := (len(c.Data) + n - 1) / n
	step = (step + unit - 1) / unit * unit
	cut := func(place int) int {
		if place = min(place, len(c.Data)); place == 0 || place == len(c.Data) {
			return place
		}
		j := -1
		if c.Text {
			j, _ = (&lineEnd{}).find(c.Data[place:], true)
		} else {
			j, _ = findHead(c.Data[place:], true)
		}
		if j < 0 {
			return len(c.Data)
		}
		return place + j
	}
	from, to := cut(step*k), cut(step*(k+1))
	b, at := c.Data[from:to:to], c.Offset+int64(from)
	if c.Text {
		return newLines(b, at)
	}
	return NewBytes(b, Options{Name: c.File, Offset: at, Lenient: c.lenient, Limit: c.limit})
}

// chunked iterates over the records of a sequence of chunks.
type chunked struct {
	fill  func(*Chunk) error // fills the next chunk
	ended func(Records)      // called at the end of each chunk; may be nil
	chunk Chunk
	in    Records
	err   error
}

// next returns the next record or line. It returns an error again at every
// later call.
func (c *chunked) next() ([]byte, error) {
	for c.err == nil {
		if c.in != nil {
			b, err := c.in.Next()
			if err == nil {
				return b, nil
			}
			if c.ended != nil {
				c.ended(c.in)
			}
			c.in = nil
			if err != io.EOF {
				c.err = err
				break
			}
		}
		if c.err = c.fill(&c.chunk); c.err == nil {
			c.in = c.chunk.Records()
		}
	}
	return nil, c.err
}

// begin discards the current chunk and the error.
func (c *chunked) begin() { c.in, c.err = nil, nil }

// lastCut returns the last position above 0 where a record or line begins, or
// 0.
func lastCut(b []byte, text bool) int {
	if text {
		return bytes.LastIndexAny(b, "\r\n") + 1
	}
	for i := (len(b) - header) &^ (align - 1); i > 0; i -= align {
		if word(b[i:]) == Magic && isHead(b[i:]) {
			return i
		}
	}
	return 0
}

// reach returns the size of the first record of b, or the number of bytes that
// must be seen to know it. It returns 0 if no readable record begins at b.
func reach(b []byte, limit int) int {
	// Every part but the first holds at least 4 bytes of the record and has a
	// head of 8.
	for at := 0; at <= 3*limit+header; {
		if at+header > len(b) {
			return at + header
		}
		kind, length := split(word(b[at+align:]))
		goesOn := kind == middle || kind == last
		if word(b[at:]) != Magic || kind > last || length > limit || goesOn != (at > 0) {
			return 0
		}
		if at += header + padded(length); kind == whole || kind == last {
			return at
		}
	}
	return 0
}

// fill fills c with about size bytes of records from position from of the
// stream, and returns the position after them.
func (c *Chunk) fill(s *Stream, from, to int64, size int) (rest int64, err error) {
	if from >= to {
		return from, io.EOF
	}
	i, offset := s.At(from)
	end := min(to-s.starts[i], s.files[i].Size)
	c.File, c.Offset = s.files[i].Name, offset
	for n := min(end-offset, int64(size)); ; {
		b, err := s.view(i, offset, offset+n)
		if err != nil {
			return from, err
		}
		if b == nil {
			if int64(cap(c.own)) < n {
				c.own = make([]byte, n)
			}
			b = c.own[:n]
			if _, err := s.ReadAt(b, from); err != nil {
				return from, err
			}
		}
		cut := len(b)
		if offset+n < end {
			if cut = lastCut(b, c.Text); cut == 0 {
				// The first record is larger than n. Grow by the lengths that
				// the heads of its parts state; the reader reports invalid
				// ones.
				more := int64(0)
				if !c.Text {
					more = int64(reach(b, c.limit)) + header
				} else if more = 2 * n; n > int64(c.limit) {
					return from, fmt.Errorf("recordio: %s: at byte %d: %w: a line of more than %d bytes, the limit is %d", store.Redact(c.File), offset, records.ErrTooLarge, n, c.limit)
				}
				if more = min(more, end-offset); more > n {
					n = more
					continue
				}
				// An incomplete head belongs to the next chunk.
				if cut = (len(b) - align) &^ (align - 1); cut <= 0 || c.Text {
					cut = len(b)
				}
			}
		}
		c.Data = b[:cut:cut]
		return from + int64(cut), nil
	}
}
