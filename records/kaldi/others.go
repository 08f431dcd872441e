package kaldi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/records"
)

// Kaldi's other objects are refused by name. A binary vector of vectors, vector
// of pairs or posterior of n parts begins like a vector of n int32: all their
// numbers are 04 and four bytes. Only the byte after the vector differs. It is
// 04, which begins no key, unless all parts are empty; then the bytes are those
// of a vector of zeros.

func (r *Reader) unsupported(format string, args ...any) error {
	return fmt.Errorf("kaldi: %s%w: %s", where(r.o.Name, r.h.Key, r.h.Offset), records.ErrUnsupported, fmt.Sprintf(format, args...))
}

// intSize is the size of a number in a binary object: 04 and four bytes.
const intSize = 5

// intsEnd returns an error if the binary vector of int32 that was just read or
// skipped goes on. b is its elements, nil if they were skipped.
func (r *Reader) intsEnd(b []byte) error {
	more := func() bool {
		c, err := r.r.Peek(1)
		return err == nil && c[0] == 4 // the next read reports errors
	}
	if !more() {
		return nil
	}
	n := r.h.Shape.At(0)
	if int64(len(b)) != intSize*int64(n) {
		return r.unsupported("a vector of vectors, a vector of pairs or a posterior of %d parts", n)
	}
	kinds := []struct {
		name string
		parts
	}{
		{"a vector of vectors", parts{left: n, width: 1}},
		{"a vector of pairs", parts{}},
		{"a posterior", parts{left: n, width: 2}},
	}
	kinds[1].inner = 2 * int64(n)
	add := func(b []byte) {
		v := int32(binary.LittleEndian.Uint32(b[1:]))
		for i := range kinds {
			kinds[i].add(v)
		}
	}
	for at := 0; at < len(b); at += intSize {
		add(b[at:])
	}
	for size := int64(len(b)); more() && size < r.o.Limit; size += intSize {
		next, err := r.r.Peek(intSize)
		if err != nil {
			break
		}
		add(next)
		if err := r.over(intSize); err != nil {
			return err
		}
	}
	var names []string
	for _, k := range kinds {
		if k.whole() {
			names = append(names, k.name)
		}
	}
	if names == nil {
		return r.corrupt("a vector of %d int32 with more numbers behind it", n)
	}
	return r.unsupported("%s of %d parts", strings.Join(names, " or "), n)
}

// parts counts the numbers of an object of lists. Each list is a count and that
// many elements of width numbers.
type parts struct {
	left  int   // lists that did not begin
	width int64 // numbers in an element
	inner int64 // numbers to the end of the list
	bad   bool
}

func (p *parts) add(v int32) {
	switch {
	case p.inner > 0:
		p.inner--
	case p.left > 0 && v >= 0:
		p.left--
		p.inner = p.width * int64(v)
	default:
		p.bad = true
	}
}

func (p *parts) whole() bool { return !p.bad && p.left == 0 && p.inner == 0 }

// maxAhead is the number of bytes in which number looks for the next entry.
const maxAhead = 256

// number reports whether the object is a number and not the length of a vector:
// an entry follows it instead of an element.
func (r *Reader) number() bool {
	if b, err := r.r.Peek(1); err != nil || b[0] == 4 {
		return false // a stream is not asked for bytes that it may not have yet
	}
	b, _ := r.r.Peek(maxAhead)
	key, object, ok := bytes.Cut(b, []byte(" "))
	return ok && utf8.Valid(key) && CheckKey(string(key)) == nil && bytes.HasPrefix(object, []byte("\x00B"))
}

// otherToken returns the error of a token that another binary object of Kaldi
// begins with, nil for unknown ones.
func (r *Reader) otherToken(token string) error {
	switch token {
	case "FP ", "DP ":
		return r.unsupported("a packed matrix %q", token)
	case "SM ", "SV ":
		return r.unsupported("a sparse %s %q", map[byte]string{'M': "matrix", 'V': "vector"}[token[1]], token)
	}
	return nil
}
