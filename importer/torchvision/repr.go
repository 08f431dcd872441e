package torchvision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
)

// maxDepth limits the nesting of transforms. The importer's JSON allows 64, of
// which a transform takes two.
const maxDepth = 24

// maxText limits the text in bytes. A preset prints about 200.
const maxText = 1 << 20

// callsKey and formKey hold a transform's inner transforms, and the version of
// torchvision that indents them so. No argument has such a name.
const (
	callsKey = "transforms"
	formKey  = "(form)"
)

// parse translates what Python prints for transforms to JSON: a call becomes an
// object with its name as the only key, and its arguments as that key's object.
// Inner calls are the list callsKey of the arguments. Words are strings.
func parse(text []byte) ([]byte, error) {
	if len(text) > maxText {
		return nil, formatErr("%d bytes, want at most %d", len(text), maxText)
	}
	p := &parser{cursor: cursor{text: text}}
	p.space()
	p.indent = text[bytes.LastIndexByte(text[:p.at], '\n')+1 : p.at]
	if err := p.call(0); err != nil {
		return nil, err
	}
	if p.space(); p.at < len(text) {
		return nil, p.want("the end after the last parenthesis")
	}
	return p.out.Bytes(), nil
}

type parser struct {
	cursor
	indent []byte // of the first line, and so of all
	out    bytes.Buffer
}

// cursor is a place in a text.
type cursor struct {
	text []byte
	at   int
}

func formatErr(format string, args ...any) error {
	return fmt.Errorf("importer: torchvision: %w", &importer.Error{Kind: importer.ErrFormat, Text: fmt.Sprintf(format, args...)})
}

// want returns the error of text that is not what is expected here.
func (c *cursor) want(what string) error {
	line := 1 + bytes.Count(c.text[:c.at], []byte("\n"))
	rest, _, _ := strings.Cut(string(c.text[c.at:min(len(c.text), c.at+40)]), "\n")
	return formatErr("line %d: %q, want %s", line, rest, what)
}

// peek returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	if c.at < len(c.text) {
		return c.text[c.at]
	}
	return 0
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// isName reports whether b is a Python identifier of ASCII letters.
func isName(b []byte) bool {
	for i, c := range b {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0
}

// name reads an identifier, which may be empty.
func (p *parser) name() string {
	end := p.at
	for end < len(p.text) && isName(p.text[p.at:end+1]) {
		end++
	}
	s := string(p.text[p.at:end])
	p.at = end
	return s
}

// call reads NAME(…).
func (p *parser) call(depth int) error {
	if depth > maxDepth {
		return p.want(fmt.Sprintf("transforms nested at most %d deep", maxDepth))
	}
	name := p.name()
	if name == "" || p.peek() != '(' {
		return p.want("a transform: NAME(…)")
	}
	if name == "Lambda" { // its arguments are a function's name and a list of types
		p.out.WriteString(`{"Lambda":{}}`)
		return p.skip()
	}
	p.at++
	fmt.Fprintf(&p.out, "{%q:{", name)
	var calls [][]byte
	seen := map[string]bool{}
	form := either
	for {
		start := p.at
		p.space()
		if p.peek() == ',' && start != p.at-1 {
			p.at++
			p.space()
		}
		if p.peek() == ')' {
			p.at++
			break
		}
		if p.peek() == '(' { // Sequential prints a number before each
			end := bytes.IndexByte(p.text[p.at:], ':')
			if end < 0 || strings.Trim(string(p.text[p.at:p.at+end]), "(0123456789)") != "" {
				return p.want("(NUMBER): before a transform")
			}
			p.at += end + 1
			p.space()
		}
		before := p.at
		word := p.name()
		switch {
		case word != "" && p.peek() == '=':
			if seen[word] {
				p.at = before
				return p.want("each argument once")
			}
			p.at++
			if len(seen) > 0 {
				p.out.WriteByte(',')
			}
			seen[word] = true
			fmt.Fprintf(&p.out, "%q:", word)
			if err := p.value(depth); err != nil {
				return err
			}
		case word != "" && p.peek() == '(':
			if len(calls) == 0 {
				form = p.formOf(p.text[start:before])
			}
			p.at = before
			outer := p.out
			p.out = bytes.Buffer{}
			if err := p.call(depth + 1); err != nil {
				return err
			}
			calls = append(calls, p.out.Bytes())
			p.out = outer
		case word == "" && p.peek() == '<', word == "functools":
			p.at = before
			if len(calls) == 0 {
				form = p.formOf(p.text[start:before])
			}
			object, err := p.object()
			if err != nil {
				return err
			}
			calls = append(calls, object)
		default:
			p.at = before
			return p.want("an argument NAME=VALUE, a transform NAME(…), or a parenthesis that closes " + name)
		}
	}
	if calls != nil {
		if len(seen) > 0 {
			p.out.WriteByte(',')
		}
		fmt.Fprintf(&p.out, "%q:%d,%q:[%s]", formKey, form, callsKey, bytes.Join(calls, []byte(",")))
	}
	p.out.WriteString("}}")
	return nil
}

// skip skips parentheses and what is in them.
func (p *parser) skip() error {
	for i, depth := p.at, 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				p.at = i + 1
				return nil
			}
		}
	}
	return p.want("a closing parenthesis")
}

// object reads what Python prints for a function, such as <function f at 0x1>,
// or for an object without a form of its own: up to the line's last >, and the
// arguments of functools.partial. It returns a call of that name.
func (p *parser) object() ([]byte, error) {
	line, _, _ := bytes.Cut(p.text[p.at:], []byte("\n"))
	end := bytes.LastIndexByte(line, '>')
	if end < 0 {
		return nil, p.want("a > that ends what Python prints for a function or an object")
	}
	if p.peek() != '<' {
		end += max(0, bytes.IndexByte(line[end:], ')'))
	}
	p.at += end + 1
	return fmt.Appendf(nil, "{%s:{}}", quoted(string(line[:end+1]))), nil
}

// quoted returns s as a string of JSON.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // strings have no errors
	return b
}

// formOf returns the version that prints gap before the first transform of a
// Compose: v1 a line break and 4 spaces, v2 a line break and 6 spaces, or 4
// spaces alone before a single transform. The indentation of the whole text
// does not count.
func (p *parser) formOf(gap []byte) generation {
	gap = bytes.ReplaceAll(gap, []byte("\r"), nil)
	line, broken := bytes.CutPrefix(gap, []byte("\n"))
	if broken {
		line = bytes.TrimPrefix(line, p.indent)
	}
	switch n := len(line); {
	case bytes.Count(line, []byte(" ")) != n:
	case broken && n == 4:
		return v1
	case broken && n == 6, !broken && n == 4:
		return v2
	}
	return either
}

// value reads a number, a string, a list, a tuple or a word, such as True or
// InterpolationMode.BICUBIC.
func (p *parser) value(depth int) error {
	if depth > maxDepth {
		return p.want(fmt.Sprintf("values nested at most %d deep", maxDepth))
	}
	switch c := p.peek(); c {
	case '[', '(':
		p.at++
		p.out.WriteByte('[')
		for n, comma := 0, true; ; n++ {
			p.space()
			if end := p.peek(); end == ']' || end == ')' {
				p.at++
				p.out.WriteByte(']')
				return nil
			}
			if !comma {
				return p.want("a comma; Python prints none, and only eight digits of each number, for a NumPy array: make the transform with lists")
			}
			if n > 0 {
				p.out.WriteByte(',')
			}
			if err := p.value(depth + 1); err != nil {
				return err
			}
			p.space()
			if comma = p.peek() == ','; comma {
				p.at++
			}
		}
	case '\'', '"':
		end := bytes.IndexByte(p.text[p.at+1:], c)
		if end < 0 {
			return p.want("a closing quotation mark")
		}
		p.string(string(p.text[p.at+1 : p.at+1+end]))
		p.at += end + 2
		return nil
	}
	end := p.at
	for end < len(p.text) && strings.IndexByte(" \t\r\n,()[]=", p.text[end]) < 0 {
		end++
	}
	word := p.text[p.at:end]
	p.at = end
	switch {
	case len(word) == 0:
		return p.want("a value")
	case string(word) == "True":
		p.out.WriteString("true")
	case string(word) == "False":
		p.out.WriteString("false")
	case string(word) == "None":
		p.out.WriteString("null")
	case strings.IndexByte("-0123456789", word[0]) >= 0 && json.Valid(word):
		p.out.Write(word)
	case p.peek() == '(': // tensor([…]): four digits of each number
		start := p.at + 1
		if err := p.skip(); err != nil {
			return err
		}
		// The elements of list(array) of NumPy 2 have all digits.
		if number := p.text[start : p.at-1]; (string(word) == "np.float64" || string(word) == "np.float32") && json.Valid(number) {
			p.out.Write(number)
			return nil
		}
		p.string(string(word) + "(…)")
	default:
		p.string(string(word))
	}
	return nil
}

func (p *parser) string(s string) { p.out.Write(quoted(s)) }
