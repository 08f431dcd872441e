// Package jsonstream reads JSON of any size in little memory: the caller reads
// the values that it needs in order and skips the others.
package jsonstream

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/dataset"
)

// Limits of a Scanner. Annotation files nest six deep. A float64 has up to 25
// bytes, or up to 800 when written in full.
const (
	maxDepth  = 100
	maxNumber = 1024
	maxString = 16 << 20
)

// A Scanner reads one JSON text. Syntax errors wrap dataset.ErrData and state
// the offset in bytes; other errors come from the reader. After an error only
// Reset may be called.
type Scanner struct {
	r        io.Reader
	buf      []byte
	pos, end int
	base     int64 // offset of buf[0]
	depth    int
	text     []byte // last string or number
}

// New returns a Scanner that reads from r.
func New(r io.Reader) *Scanner { return &Scanner{r: r, buf: make([]byte, 64<<10)} }

// Reset starts reading another text and keeps the Scanner's memory.
func (s *Scanner) Reset(r io.Reader) {
	s.r, s.pos, s.end, s.base, s.depth = r, 0, 0, 0, 0
}

// Offset returns the number of bytes read.
func (s *Scanner) Offset() int64 { return s.base + int64(s.pos) }

// Errorf returns an ErrData error at the current offset.
func (s *Scanner) Errorf(format string, args ...any) error {
	return fmt.Errorf("%w: offset %d: %s", dataset.ErrData, s.Offset(), fmt.Sprintf(format, args...))
}

// fill reads the next part of the text. It returns io.EOF at the end.
func (s *Scanner) fill() error {
	s.base += int64(s.end)
	s.pos, s.end = 0, 0
	// A reader may return 0 bytes without an error, but not forever.
	for range 100 {
		n, err := s.r.Read(s.buf)
		if n > 0 {
			s.end = n
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// next returns the next byte and advances.
func (s *Scanner) next() (byte, error) {
	c, err := s.peek()
	if err == nil {
		s.pos++
	}
	return c, err
}

func (s *Scanner) peek() (byte, error) {
	if s.pos == s.end {
		if err := s.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				return 0, s.Errorf("the text ends within a value")
			}
			return 0, err
		}
	}
	return s.buf[s.pos], nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// Kind skips white space and returns the first byte of the next value without
// reading it. In valid JSON that is one of {["tfn, a digit or a minus.
func (s *Scanner) Kind() (byte, error) {
	for {
		c, err := s.peek()
		if err != nil || !isSpace(c) {
			return c, err
		}
		s.pos++
	}
}

// open reads the opening bracket of an array or object.
func (s *Scanner) open(want byte, what string) error {
	c, err := s.Kind()
	if err != nil {
		return err
	}
	if c != want {
		return s.Errorf("%s begins with %q, want %q", what, c, want)
	}
	if s.depth == maxDepth {
		return s.Errorf("nested deeper than %d", maxDepth)
	}
	s.depth++
	s.pos++
	return nil
}

// more advances to the next element of an array or object. It returns false
// after reading end.
func (s *Scanner) more(end byte, first bool) (bool, error) {
	c, err := s.Kind()
	if err != nil {
		return false, err
	}
	switch {
	case c == end:
		s.pos++
		s.depth--
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.pos++
		return true, nil
	}
	return false, s.Errorf("%q, want a comma or %q", c, end)
}

// Object reads an object. member must read or skip the value of each key; the
// key is valid until then.
func (s *Scanner) Object(member func(key []byte) error) error {
	if err := s.open('{', "object"); err != nil {
		return err
	}
	for first := true; ; first = false {
		ok, err := s.more('}', first)
		if !ok {
			return err
		}
		if err := s.string(true); err != nil {
			return err
		}
		c, err := s.Kind()
		if err != nil {
			return err
		}
		if c != ':' {
			return s.Errorf("%q, want a colon", c)
		}
		s.pos++
		if err := member(s.text); err != nil {
			return err
		}
	}
}

// Array reads an array. element must read or skip each value.
func (s *Scanner) Array(element func() error) error {
	if err := s.open('[', "array"); err != nil {
		return err
	}
	for first := true; ; first = false {
		ok, err := s.more(']', first)
		if !ok {
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// Bytes reads a string as UTF-8. The result is valid until the next call.
func (s *Scanner) Bytes() ([]byte, error) {
	err := s.string(true)
	return s.text, err
}

// String reads a string.
func (s *Scanner) String() (string, error) {
	err := s.string(true)
	return string(s.text), err
}

// string reads a string into s.text. If keep is false, it may discard parts
// that it has checked.
func (s *Scanner) string(keep bool) error {
	s.text = s.text[:0]
	c, err := s.Kind()
	if err != nil {
		return err
	}
	if c != '"' {
		return s.Errorf("%q, want a string", c)
	}
	s.pos++
	for {
		// Copy up to the next quote, escape or control character.
		n := s.pos
		for n < s.end && s.buf[n] != '"' && s.buf[n] != '\\' && s.buf[n] >= ' ' {
			n++
		}
		s.text = append(s.text, s.buf[s.pos:n]...)
		if s.pos = n; n < s.end {
			s.pos++
			switch c := s.buf[n]; c {
			case '"':
				if !utf8.Valid(s.text) {
					return s.Errorf("a string is not UTF-8")
				}
				return nil
			case '\\':
				if err := s.escape(); err != nil {
					return err
				}
			default:
				return s.Errorf("control character %#x in a string", c)
			}
		} else if _, err := s.peek(); err != nil {
			return err
		}
		if !keep && len(s.text) > 4096 {
			// Keep an incomplete rune at the end.
			n := len(s.text) - 1
			for n > len(s.text)-utf8.UTFMax && !utf8.RuneStart(s.text[n]) {
				n--
			}
			if !utf8.Valid(s.text[:n]) {
				return s.Errorf("a string is not UTF-8")
			}
			s.text = append(s.text[:0], s.text[n:]...)
		}
		if len(s.text) > maxString {
			return s.Errorf("a string of more than %d bytes", maxString)
		}
	}
}

// escape reads the rest of an escape sequence after its backslash.
func (s *Scanner) escape() error {
	c, err := s.next()
	if err != nil {
		return err
	}
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, err := s.hex()
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) {
			a, err := s.next()
			if err != nil {
				return err
			}
			b, err := s.next()
			if err != nil {
				return err
			}
			low := rune(0)
			if a == '\\' && b == 'u' {
				if low, err = s.hex(); err != nil {
					return err
				}
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return s.Errorf("half of a surrogate pair")
			}
		}
		s.text = utf8.AppendRune(s.text, r)
		return nil
	default:
		return s.Errorf("unknown escape %q", c)
	}
	s.text = append(s.text, c)
	return nil
}

// hex reads four hexadecimal digits.
func (s *Scanner) hex() (r rune, err error) {
	for range 4 {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, s.Errorf("%q, want a hexadecimal digit", c)
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}

// number reads a number's bytes into s.text. integer reports whether it has no
// fraction and no exponent.
func (s *Scanner) number() (integer bool, err error) {
	s.text = s.text[:0]
	c, err := s.Kind()
	if err != nil {
		return false, err
	}
	if c == '"' {
		return false, s.Errorf("a string, want a number")
	}
	if c != '-' && (c < '0' || c > '9') {
		return false, s.Errorf("%q, want a number", c)
	}
	for {
		s.text = append(s.text, c)
		s.pos++
		if len(s.text) > maxNumber {
			return false, s.Errorf("a number of more than %d bytes", maxNumber)
		}
		// The text may end right after a number.
		if s.pos == s.end {
			if err := s.fill(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return false, err
			}
		}
		c = s.buf[s.pos]
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			break
		}
	}
	integer, ok := grammar(s.text)
	if !ok {
		return false, s.Errorf("%q, want a JSON number", s.text)
	}
	return integer, nil
}

// grammar checks JSON's grammar for numbers.
func grammar(b []byte) (integer, ok bool) {
	digits := func() bool {
		n := 0
		for n < len(b) && '0' <= b[n] && b[n] <= '9' {
			n++
		}
		b = b[n:]
		return n > 0
	}
	if b[0] == '-' {
		b = b[1:]
	}
	if len(b) > 1 && b[0] == '0' && '0' <= b[1] && b[1] <= '9' || !digits() {
		return false, false
	}
	integer = len(b) == 0
	if len(b) > 0 && b[0] == '.' {
		if b = b[1:]; !digits() {
			return false, false
		}
	}
	if len(b) > 0 && b[0]|0x20 == 'e' {
		b = b[1:]
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if !digits() {
			return false, false
		}
	}
	return integer, len(b) == 0
}

// Float64 reads a number and rounds it to the nearest float64.
func (s *Scanner) Float64() (float64, error) {
	if _, err := s.number(); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(s.text), 64)
	if err != nil {
		return 0, s.Errorf("%s overflows float64", s.text)
	}
	return f, nil
}

// Float32 reads a number as C++ and Python readers do. An integer is rounded
// once; other numbers are rounded to float64 first and then to float32.
func (s *Scanner) Float32() (float32, error) {
	integer, err := s.number()
	if err != nil {
		return 0, err
	}
	if integer {
		if i, err := strconv.ParseInt(string(s.text), 10, 64); err == nil && i != 0 {
			return float32(i), nil
		}
	}
	f, err := strconv.ParseFloat(string(s.text), 64)
	if err != nil || math.IsInf(float64(float32(f)), 0) {
		return 0, s.Errorf("%s overflows float32", s.text)
	}
	return float32(f), nil
}

// Int reads a whole number, which may be written as 3.0 or 3e0.
func (s *Scanner) Int() (int64, error) {
	integer, err := s.number()
	if err != nil {
		return 0, err
	}
	if integer {
		i, err := strconv.ParseInt(string(s.text), 10, 64)
		if err != nil {
			return 0, s.Errorf("%s overflows int64", s.text)
		}
		return i, nil
	}
	f, err := strconv.ParseFloat(string(s.text), 64)
	// A float64 above 2^53 does not identify one integer.
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, s.Errorf("%s, want a whole number", s.text)
	}
	return int64(f), nil
}

// Skip skips one value.
func (s *Scanner) Skip() error {
	c, err := s.Kind()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return s.Object(func([]byte) error { return s.Skip() })
	case '[':
		return s.Array(s.Skip)
	case '"':
		return s.string(false)
	case 't', 'f', 'n':
		_, err := s.word()
		return err
	}
	_, err = s.number()
	return err
}

// Bool reads true or false. A number is true unless it is 0.
func (s *Scanner) Bool() (bool, error) {
	c, err := s.Kind()
	if err != nil {
		return false, err
	}
	if c != 't' && c != 'f' {
		i, err := s.Int()
		return i != 0, err
	}
	w, err := s.word()
	return w == "true", err
}

// word reads true, false or null.
func (s *Scanner) word() (string, error) {
	c, err := s.peek()
	if err != nil {
		return "", err
	}
	w := map[byte]string{'t': "true", 'f': "false", 'n': "null"}[c]
	for i := range len(w) {
		if c, err = s.next(); err != nil {
			return "", err
		}
		if c != w[i] {
			return "", s.Errorf("%q, want %s", c, w)
		}
	}
	return w, nil
}

// End checks that nothing but white space follows.
func (s *Scanner) End() error {
	for {
		for ; s.pos < s.end; s.pos++ {
			if !isSpace(s.buf[s.pos]) {
				return s.Errorf("%q after the end", s.buf[s.pos])
			}
		}
		if err := s.fill(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
