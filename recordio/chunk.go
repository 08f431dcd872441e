package recordio

import (
	"bytes"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/records"
)

// Chunk is whole records, or lines, of one file, in memory.
type Chunk struct {
	Data   []byte
	File   string
	Offset int64 // of Data in the file
	Text   bool

	own     []byte // memory for Data, where the file is not in memory
	lenient bool
	limit   int
}

// Records are what Reader and Lines are alike in.
type Records interface {
	// Next is the next record or line; io.EOF at the end.
	Next() ([]byte, error)
	// Offset is where in the file it begins.
	Offset() int64
}

// Records are those of the chunk.
func (c *Chunk) Records() Records { return c.Part(0, 1) }

// Part are the records of part k of n of the chunk, for one of several goroutines: each record
// is in exactly one part. It divides as Stream.Part does.
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
		return NewLines(b, at)
	}
	return NewBytes(b, Options{Name: c.File, Offset: at, Lenient: c.lenient, Limit: c.limit})
}

// chunked gives the records of chunks one after another.
type chunked struct {
	fill  func(*Chunk) error // makes the next chunk
	ended func(Records)      // is told of the records of a chunk that has no more; may be nil
	chunk Chunk
	in    Records
	err   error
}

// next is the next record or line; an error again and again.
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

// begin forgets the chunk, and an error.
func (c *chunked) begin() { c.in, c.err = nil, nil }

// lastCut is the last place above 0 of b where a record or line begins; 0 if there is none.
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

// reach is how many bytes of b, which begins where a record does, its first record
// has, or as many as must be seen to know; 0 if none begins there that can be read.
func reach(b []byte, limit int) int {
	// Every part but the first has four bytes of the record at least, and eight of its own.
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

// fill makes c the records of a range of the stream from its beginning on, about
// size bytes of them, and gives where the rest begins.
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
				// The first record is larger. Memory grows by what its parts say, of those that
				// are there; what is no record is the reader's to tell.
				more := int64(0)
				if !c.Text {
					more = int64(reach(b, c.limit)) + header
				} else if more = 2 * n; n > int64(c.limit) {
					return from, fmt.Errorf("recordio: %s: at byte %d: %w: a line of more than %d bytes, the limit is %d", c.File, offset, records.ErrTooLarge, n, c.limit)
				}
				if more = min(more, end-offset); more > n {
					n = more
					continue
				}
				// A head that is not all there is the next chunk's.
				if cut = (len(b) - align) &^ (align - 1); cut <= 0 || c.Text {
					cut = len(b)
				}
			}
		}
		c.Data = b[:cut:cut]
		return from + int64(cut), nil
	}
}
