package importer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a text file as people paste and save them, in plain UTF-8. It
// removes a byte order mark, decodes UTF-16 with one, and removes the fence of
// a Markdown code block around the text. It may return a part of data.
func Text(data []byte) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")) && len(data)%2 == 0:
		data = utf16Text(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")) && len(data)%2 == 0:
		data = utf16Text(data[2:], binary.BigEndian)
	}
	const fence = "```"
	inner, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte(fence))
	if !ok {
		return data
	}
	_, inner, _ = bytes.Cut(inner, []byte("\n")) // the language
	inner, ok = bytes.CutSuffix(inner, []byte(fence))
	if !ok || bytes.Contains(inner, []byte(fence)) {
		return data
	}
	return inner
}

func utf16Text(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// other says what a file is that people take for a configuration by mistake. It
// returns "" for other text.
func other(data []byte) string {
	switch text := strings.ToLower(string(bytes.TrimSpace(data[:min(len(data), 100)]))); {
	case strings.HasPrefix(text, "version https://git-lfs."):
		return "a pointer of Git LFS, not the file itself; git lfs pull fetches it"
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"):
		return "an HTML page, not the file itself; download the raw file"
	}
	return ""
}

// ParseLiteral parses data as Parse does, or as a Python literal: a dict, or a
// call of dict or PretrainedCfg with keywords, with tuples, comments and a name
// it is assigned to. Tuples become lists.
func ParseLiteral(data []byte) (*Object, error) {
	o, err := Parse(data)
	if err == nil || len(data) > maxFile || other(data) != "" {
		return o, err
	}
	text := Text(data)
	b, perr := pythonJSON(text)
	switch {
	case perr == nil:
		return Parse(b)
	case bytes.ContainsAny(text, "'("): // of no JSON error's concern
		return nil, jsonErr(perr)
	}
	return nil, err
}

// pythonJSON translates a Python literal to JSON.
func pythonJSON(text []byte) ([]byte, error) {
	p := &literal{text: text}
	p.space()
	if at := p.at; p.name() != "" { // x = {…}
		p.space()
		if p.peek() == '=' {
			p.at++
			p.space()
		} else {
			p.at = at
		}
	}
	if err := p.value(0); err != nil {
		return nil, err
	}
	if p.space(); p.at < len(text) {
		return nil, p.want("the end after the value")
	}
	return p.out, nil
}

// literal translates a Python literal.
type literal struct {
	text []byte
	at   int
	out  []byte
}

func (p *literal) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space skips white space and comments.
func (p *literal) space() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			p.at++
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

// want returns the error of text that is not what is expected here.
func (p *literal) want(what string) error {
	rest, _, _ := strings.Cut(string(p.text[p.at:min(len(p.text), p.at+40)]), "\n")
	return fmt.Errorf("line %d: %q, want %s", 1+bytes.Count(p.text[:p.at], []byte("\n")), rest, what)
}

// name reads an identifier of ASCII letters, which may have points. It returns
// "" if there is none.
func (p *literal) name() string {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (p.at == start || c != '.' && (c < '0' || c > '9')) {
			break
		}
	}
	return string(p.text[start:p.at])
}

func (p *literal) value(depth int) error {
	if depth > maxDepth {
		return p.want(fmt.Sprintf("values nested at most %d deep", maxDepth))
	}
	start := p.at
	switch c := p.peek(); {
	case c == '{':
		p.at++
		return p.members(depth, '}', ':')
	case c == '[' || c == '(':
		p.at++
		return p.elements(depth, c == '(')
	case c == '\'' || c == '"':
		return p.quoted()
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return p.number()
	}
	switch word := p.name(); word {
	case "True":
		p.out = append(p.out, "true"...)
	case "False":
		p.out = append(p.out, "false"...)
	case "None":
		p.out = append(p.out, "null"...)
	case "dict", "PretrainedCfg":
		if p.peek() == '(' {
			p.at++
			return p.members(depth, ')', '=')
		}
		fallthrough
	default:
		p.at = start
		return p.want("a value: a number, a string, True, False, None, a list, a tuple or a dict")
	}
	return nil
}

// members reads the members of a dict or the keywords of a call to the closing
// bracket.
func (p *literal) members(depth int, end, between byte) error {
	p.out = append(p.out, '{')
	for n := 0; ; n++ {
		p.space()
		if p.peek() == end {
			p.at++
			p.out = append(p.out, '}')
			return nil
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		switch c := p.peek(); {
		case between == ':' && (c == '\'' || c == '"'):
			if err := p.quoted(); err != nil {
				return err
			}
		case between == ':' && c >= '0' && c <= '9': // names of classes by number
			number := p.at
			if err := p.number(); err != nil {
				return err
			}
			p.out = strconv.AppendQuote(p.out[:len(p.out)-(p.at-number)], string(p.text[number:p.at]))
		case between == '=':
			name := p.name()
			if name == "" {
				return p.want("NAME=VALUE")
			}
			p.out = strconv.AppendQuote(p.out, name)
		default:
			return p.want("a key in quotation marks")
		}
		p.space()
		if p.peek() != between {
			return p.want(strconv.QuoteRune(rune(between)) + " after a key")
		}
		p.at++
		p.out = append(p.out, ':')
		p.space()
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if err := p.comma(end); err != nil {
			return err
		}
	}
}

// comma reads the comma after a value, which the last one may lack.
func (p *literal) comma(end byte) error {
	p.space()
	switch p.peek() {
	case ',':
		p.at++
	case end:
	default:
		return p.want(fmt.Sprintf("a comma or %q", end))
	}
	return nil
}

// elements reads the elements of a list or tuple. Parentheses around a single
// value without a comma are just that.
func (p *literal) elements(depth int, tuple bool) error {
	end := byte(']')
	if tuple {
		end = ')'
	}
	start := len(p.out)
	p.out = append(p.out, '[')
	for n, before := 0, byte(0); ; n++ {
		p.space()
		if p.peek() == end {
			p.at++
			if tuple && n == 1 && before != ',' {
				p.out = append(p.out[:start], p.out[start+1:]...)
			} else {
				p.out = append(p.out, ']')
			}
			return nil
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if err := p.comma(end); err != nil {
			return err
		}
		before = p.text[p.at-1]
	}
}

// number reads a number in JSON's form, or one that has an equal in it: 1., .5
// and +1.
func (p *literal) number() error {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.eE0123456789", p.text[p.at]) >= 0 {
		p.at++
	}
	s := strings.TrimPrefix(string(p.text[start:p.at]), "+")
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if i := strings.IndexByte(s, '.'); i >= 0 && (i == len(s)-1 || s[i+1] < '0' || s[i+1] > '9') {
		s = s[:i+1] + "0" + s[i+1:]
	}
	if !json.Valid([]byte(sign + s)) {
		p.at = start
		return p.want("a number")
	}
	p.out = append(append(p.out, sign...), s...)
	return nil
}

// quoted reads a string, or several one after another, which Python joins.
func (p *literal) quoted() error {
	var text []byte
	for c := p.peek(); c == '\'' || c == '"'; c = p.peek() {
		start := p.at
		end := errors.New("unterminated string")
		for p.at++; p.at < len(p.text) && p.text[p.at] != '\n'; p.at++ {
			if p.text[p.at] == c {
				p.at++
				end = nil
				break
			}
			if p.text[p.at] != '\\' {
				text = append(text, p.text[p.at])
				continue
			}
			p.at++
			i := strings.IndexByte(`\'"nrt`, p.peek())
			if i < 0 {
				return p.want(`one of the escapes \\, \', \", \n, \r and \t`)
			}
			text = append(text, "\\'\"\n\r\t"[i])
		}
		if end != nil {
			p.at = start
			return p.want("a string with a closing quotation mark")
		}
		p.space()
	}
	if !utf8.Valid(text) {
		return errors.New("a string that is not UTF-8")
	}
	b, err := json.Marshal(string(text))
	p.out = append(p.out, b...)
	return err
}
