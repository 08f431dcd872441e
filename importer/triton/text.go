package triton

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
)

// This file reads protobuf's text format as far as configurations use it:
// numbers, names, strings, messages and lists of them, with comments. It does
// not read extensions and Any values ([name]).

// These are the limits of a file.
const (
	maxFile   = 16 << 20
	maxDepth  = 64
	maxFields = 1 << 20
)

// value is a field's value: a *message, unquoted text as written, or a quoted
// string.
type value struct {
	msg    *message
	text   string
	quoted bool
}

// field is one occurrence of a field.
type field struct {
	name string
	value
}

// message holds the fields in the order of the file.
type message struct{ fields []field }

// parser splits the text into tokens.
type parser struct {
	b      string
	at     int
	fields int
}

func (p *parser) fail(format string, args ...any) error {
	line := 1 + strings.Count(p.b[:min(p.at, len(p.b))], "\n")
	return &importer.Error{Kind: importer.ErrFormat, Path: fmt.Sprintf("line %d", line), Text: fmt.Sprintf(format, args...)}
}

// space skips white space and comments. It returns the next byte, 0 at the end.
func (p *parser) space() byte {
	for p.at < len(p.b) {
		switch c := p.b[p.at]; c {
		case ' ', '\t', '\r', '\n', '\v', '\f':
			p.at++
		case '#':
			if i := strings.IndexByte(p.b[p.at:], '\n'); i >= 0 {
				p.at += i
			} else {
				p.at = len(p.b)
			}
		default:
			return c
		}
	}
	return 0
}

// skip skips the next byte if it is c.
func (p *parser) skip(c byte) bool {
	if p.space() != c || p.at == len(p.b) {
		return false
	}
	p.at++
	return true
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c == '+'
}

func (p *parser) word() string {
	p.space()
	from := p.at
	for p.at < len(p.b) && wordByte(p.b[p.at]) {
		p.at++
	}
	return p.b[from:p.at]
}

// message reads fields up to the closing byte, or with 0 up to the file's end.
func (p *parser) message(end byte, depth int) (*message, error) {
	if depth > maxDepth {
		return nil, p.fail("messages nested more than %d deep", maxDepth)
	}
	m := &message{}
	for {
		c := p.space()
		if p.at == len(p.b) {
			if end == 0 {
				return m, nil
			}
			return nil, p.fail("unexpected end of file, want %q", end)
		}
		if end != 0 && c == end {
			p.at++
			return m, nil
		}
		name := p.word()
		if name == "" {
			return nil, p.fail("%q, want the name of a field", c)
		}
		colon := p.skip(':')
		if p.skip('[') {
			if !colon && p.space() != '{' && p.space() != '<' {
				return nil, p.fail("%s: a list of values without a colon", name)
			}
			for first := true; !p.skip(']'); first = false {
				if !first && !p.skip(',') {
					return nil, p.fail("%s: want a comma or ] in the list", name)
				}
				if err := p.value(m, name, true, depth); err != nil {
					return nil, err
				}
			}
		} else if err := p.value(m, name, colon, depth); err != nil {
			return nil, err
		}
		if !p.skip(',') {
			p.skip(';')
		}
	}
}

// value reads a value and appends it to m.
func (p *parser) value(m *message, name string, colon bool, depth int) error {
	if p.fields++; p.fields > maxFields {
		return p.fail("more than %d values", maxFields)
	}
	f := field{name: name}
	switch c := p.space(); {
	case p.at == len(p.b):
		return p.fail("%s: unexpected end of file, want a value", name)
	case c == '{' || c == '<':
		p.at++
		end := byte('}')
		if c == '<' {
			end = '>'
		}
		var err error
		if f.msg, err = p.message(end, depth+1); err != nil {
			return err
		}
	case !colon:
		return p.fail("%s: want a colon or a message", name)
	case c == '"' || c == '\'':
		f.quoted = true
		for c == '"' || c == '\'' { // adjacent strings are one
			s, err := p.quoted(c)
			if err != nil {
				return err
			}
			f.text += s
			if c = p.space(); p.at == len(p.b) {
				break
			}
		}
	default:
		if f.text = p.word(); f.text == "" {
			return p.fail("%s: %q, want a value", name, c)
		}
	}
	m.fields = append(m.fields, f)
	return nil
}

// quoted reads a string in quotes of the given kind.
func (p *parser) quoted(quote byte) (string, error) {
	p.at++
	var s strings.Builder
	for p.at < len(p.b) {
		c := p.b[p.at]
		p.at++
		switch {
		case c == quote:
			return s.String(), nil
		case c == '\n':
			p.at--
			return "", p.fail("unterminated string")
		case c != '\\':
			s.WriteByte(c)
			continue
		}
		if p.at == len(p.b) {
			break
		}
		c = p.b[p.at]
		p.at++
		if i := strings.IndexByte(`abfnrtv\'"?`, c); i >= 0 {
			s.WriteByte("\a\b\f\n\r\t\v\\'\"?"[i])
			continue
		}
		base, most := 0, 0
		switch {
		case c == 'x' || c == 'X':
			base, most = 16, 2
		case c >= '0' && c <= '7':
			base, most = 8, 3
			p.at--
		}
		n := 0
		for base > 0 && n < most && p.at+n < len(p.b) {
			if _, err := strconv.ParseUint(p.b[p.at:p.at+n+1], base, 32); err != nil {
				break
			}
			n++
		}
		v, err := strconv.ParseUint(p.b[p.at:p.at+n], max(base, 2), 8)
		if err != nil {
			return "", p.fail(`unknown escape \%c`, c)
		}
		s.WriteByte(byte(v))
		p.at += n
	}
	return "", p.fail("unterminated string")
}
