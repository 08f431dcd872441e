package csv

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// splitter finds the starts of rows. To keep the damage of a malformed row
// local, it treats a quote within a field and bytes after a closing quote as
// ordinary bytes.
type splitter struct {
	delim   byte
	header  bool
	headers []int64 // offset of each file's header, or -1
	state   state
	base    int64 // offset of the file
	next    int64
}

type state uint8

const (
	lineStart state = iota
	fieldStart
	unquoted
	quoted
	closed // after a quote within quotes: the end, or half of a doubled quote
)

func (s *splitter) Reset() {
	s.state = lineStart
	s.base = s.next
	s.headers = append(s.headers, -1)
}

func (s *splitter) Split(starts []int64, b []byte, at int64) []int64 {
	s.next = at + int64(len(b))
	state, delim := s.state, s.delim
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch state {
		case quoted:
			k := bytes.IndexByte(b[i:], '"')
			if k < 0 {
				s.state = quoted
				return starts
			}
			i += k
			state = closed
			continue
		case closed:
			if c == '"' {
				state = quoted
				continue
			}
			state = unquoted
		case lineStart:
			if c == '\n' || c == '\r' {
				continue
			}
			if h := &s.headers[len(s.headers)-1]; s.header && *h < 0 {
				*h = at + int64(i) - s.base
			} else {
				starts = append(starts, at+int64(i))
			}
			state = fieldStart
		}
		switch {
		case c == delim:
			state = fieldStart
		case c == '\n' || c == '\r':
			state = lineStart
		case c == '"' && state == fieldStart:
			state = quoted
		default:
			state = unquoted
		}
	}
	s.state = state
	return starts
}

// errCut reports that the bytes end within the row.
var errCut = errors.New("csv: cut")

// field is the bytes of a field without the quotes around them.
type field struct {
	b       []byte
	doubled bool // has doubled quotes
}

// split passes the fields of the row at the beginning of b to f. whole states
// that b contains the whole row. On error, pos is its position.
func split(b []byte, delim byte, whole bool, f func(k int, f field) error) (pos int, err error) {
	for k := 0; ; k++ {
		start := pos
		var fd field
		if pos < len(b) && b[pos] == '"' {
			lo := pos + 1
			for pos = lo; ; pos++ {
				n := bytes.IndexByte(b[pos:], '"')
				if n < 0 && !whole {
					return 0, errCut
				}
				if n < 0 {
					return start, errors.New("the file ends within quotes")
				}
				pos += n + 1
				if pos == len(b) || b[pos] != '"' {
					break
				}
				fd.doubled = true
			}
			fd.b = b[lo : pos-1]
		} else {
			for pos < len(b) && b[pos] != delim && b[pos] != '\n' && b[pos] != '\r' {
				if b[pos] == '"' {
					return pos, errors.New("a quote within an unquoted field")
				}
				pos++
			}
			fd.b = b[start:pos]
		}
		end := pos == len(b)
		if end && !whole {
			return 0, errCut
		}
		if !end && b[pos] != delim && b[pos] != '\n' && b[pos] != '\r' {
			return pos, fmt.Errorf("%q after a closing quote", b[pos])
		}
		if err := f(k, fd); err != nil {
			return start, err
		}
		if end || b[pos] != delim {
			return pos, nil
		}
		pos++
	}
}

// appendTo appends the field's value.
func (f field) appendTo(to []byte) []byte {
	b := f.b
	for f.doubled {
		n := bytes.IndexByte(b, '"')
		if n < 0 {
			break
		}
		to = append(to, b[:n+1]...)
		b = b[n+2:]
	}
	return append(to, b...)
}

// set stores the field's value in v.
func (f field) set(v *dataset.Value, t tensor.DType) error {
	if t == tensor.Bytes {
		v.Data = f.appendTo(v.Bytes(len(f.b))[:0])
		return nil
	}
	if err := v.Reset(tensor.Desc{DType: t}); err != nil {
		return err
	}
	b := bytes.Trim(f.b, " \t")
	// The longest name of infinity has 8 bytes, but a float may have many
	// digits.
	ok := len(b) > 0 && len(b) <= 1024
	if ok {
		var err error
		switch t {
		case tensor.Int32:
			var n int64
			n, err = strconv.ParseInt(string(b), 10, 32)
			tensor.View[int32](&v.Tensor)[0] = int32(n)
		case tensor.Int64:
			tensor.View[int64](&v.Tensor)[0], err = strconv.ParseInt(string(b), 10, 64)
		case tensor.Float32:
			var x float64
			x, err = strconv.ParseFloat(string(b), 32)
			tensor.View[float32](&v.Tensor)[0] = float32(x)
		case tensor.Float64:
			tensor.View[float64](&v.Tensor)[0], err = strconv.ParseFloat(string(b), 64)
		}
		// ParseFloat and ParseInt would accept 0x1p3 and 1_000.
		ok = err == nil && !bytes.ContainsAny(b, "xX_")
	}
	if !ok {
		return fmt.Errorf("%.40q, want a valid %v", f.b, t)
	}
	return nil
}
