// Package errfmt formats messages as package fmt does, without linking fmt and
// reflect, which small WebAssembly builds cannot afford.
//
// It knows the verbs %d %s %q %v %w %x %f and %%, the flags 0 and #, width,
// precision and argument indexes. Arguments are errors, values with a String
// method, bools, integers, floating-point numbers, strings, and slices of byte,
// string, int, int64 or float64. The text then equals fmt's. Any other argument
// prints as "%!verb(unsupported)"; a test checks all calls in this repository.
package errfmt

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// Errorf returns an error whose text is the formatted message. It unwraps to
// the operands of %w, like the result of fmt.Errorf.
func Errorf(format string, args ...any) error {
	checkErrorf(format, args...)
	p := printer{args: args}
	p.print(format)
	switch len(p.wrapped) {
	case 0:
		return errors.New(string(p.b))
	case 1:
		return &wrapError{string(p.b), p.wrapped[0]}
	}
	return &wrapErrors{string(p.b), p.wrapped}
}

// Sprintf returns the formatted message.
func Sprintf(format string, args ...any) string {
	checkPrintf(format, args...)
	return string(Appendf(nil, format, args...))
}

// Appendf appends the formatted message to b.
func Appendf(b []byte, format string, args ...any) []byte {
	checkPrintf(format, args...)
	p := printer{b: b, args: args}
	p.print(format)
	return p.b
}

// Strings returns the texts of a list, for %v.
func Strings[T interface{ String() string }](l []T) []string {
	texts := make([]string, len(l))
	for i, v := range l {
		texts[i] = v.String()
	}
	return texts
}

type wrapError struct {
	text string
	err  error
}

func (e *wrapError) Error() string { return e.text }
func (e *wrapError) Unwrap() error { return e.err }

type wrapErrors struct {
	text string
	errs []error
}

func (e *wrapErrors) Error() string   { return e.text }
func (e *wrapErrors) Unwrap() []error { return e.errs }

// printer formats one message.
type printer struct {
	b       []byte
	args    []any
	wrapped []error // the operands of %w, in the order of the format

	// The directive that is being printed.
	verb        byte
	zero, sharp bool
	width, prec int // prec is -1 if absent
}

func (p *printer) print(format string) {
	next := 0 // argument
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			p.b = append(p.b, format[i])
			continue
		}
		p.zero, p.sharp, p.width, p.prec = false, false, 0, -1
		number := &p.width
	directive:
		for i++; i < len(format); i++ {
			switch c := format[i]; {
			case c == '0' && p.width == 0 && p.prec < 0:
				p.zero = true
			case c >= '0' && c <= '9':
				*number = *number*10 + int(c-'0')
			case c == '#':
				p.sharp = true
			case c == '.':
				p.prec = 0
				number = &p.prec
			case c == '[':
				next = 0
				for i++; i < len(format) && format[i] != ']'; i++ {
					next = next*10 + int(format[i]-'0')
				}
				next--
			default:
				p.verb = c
				break directive
			}
		}
		switch {
		case i == len(format):
			p.b = append(p.b, "%!(NOVERB)"...)
		case p.verb == '%':
			p.b = append(p.b, '%')
		case next < 0 || next >= len(p.args):
			p.bad("MISSING")
		default:
			p.arg(p.args[next])
			next++
		}
	}
}

// bad prints a directive that has no meaning.
//
//go:noinline
func (p *printer) bad(why string) {
	p.b = append(p.b, '%', '!', p.verb, '(')
	p.b = append(append(p.b, why...), ')')
}

// arg prints an argument.
func (p *printer) arg(a any) {
	if p.verb == 'w' {
		err, ok := a.(error)
		if !ok {
			p.bad("unsupported")
			return
		}
		p.wrapped = append(p.wrapped, err)
		p.b = append(p.b, err.Error()...)
		return
	}
	if p.verb == 'v' || p.verb == 's' || p.verb == 'q' {
		switch v := a.(type) {
		case error:
			p.text(v.Error())
			return
		case interface{ String() string }:
			p.text(v.String())
			return
		}
	}
	switch v := a.(type) {
	case nil:
		if p.verb == 'v' {
			p.b = append(p.b, "<nil>"...)
		} else {
			p.bad("<nil>")
		}
	case bool:
		if p.verb != 'v' {
			p.bad("unsupported")
			return
		}
		p.b = strconv.AppendBool(p.b, v)
	case int:
		p.signed(int64(v))
	case int8:
		p.signed(int64(v))
	case int16:
		p.signed(int64(v))
	case int32:
		p.signed(int64(v))
	case int64:
		p.signed(v)
	case uint:
		p.integer(uint64(v), false)
	case uint8:
		p.integer(uint64(v), false)
	case uint16:
		p.integer(uint64(v), false)
	case uint32:
		p.integer(uint64(v), false)
	case uint64:
		p.integer(v, false)
	case uintptr:
		p.integer(uint64(v), false)
	case float32:
		p.float(float64(v), 32)
	case float64:
		p.float(v, 64)
	case string:
		p.text(v)
	case []byte:
		switch p.verb {
		case 's', 'q', 'x':
			p.text(string(v))
		default:
			list(p, v)
		}
	case []string:
		list(p, v)
	case []int:
		list(p, v)
	case []int64:
		list(p, v)
	case []float64:
		list(p, v)
	default:
		p.bad("unsupported")
	}
}

// list prints every element of a list.
func list[T any](p *printer, l []T) {
	p.b = append(p.b, '[')
	for i, v := range l {
		if i > 0 {
			p.b = append(p.b, ' ')
		}
		p.arg(v)
	}
	p.b = append(p.b, ']')
}

// pad puts what was printed from start on into the width, with zeros after a
// sign if the directive says so.
func (p *printer) pad(start int) {
	n := p.width - utf8.RuneCount(p.b[start:])
	if n <= 0 {
		return
	}
	fill := byte(' ')
	if p.zero {
		fill = '0'
		if p.b[start] == '-' || p.b[start] == '+' {
			start++
		}
	}
	text := string(p.b[start:])
	p.b = p.b[:start]
	for range n {
		p.b = append(p.b, fill)
	}
	p.b = append(p.b, text...)
}

// text prints a string.
func (p *printer) text(s string) {
	start := len(p.b)
	switch p.verb {
	case 's', 'v':
		p.b = append(p.b, s...)
	case 'q':
		p.b = strconv.AppendQuote(p.b, s)
	case 'x':
		const digits = "0123456789abcdef"
		for i := range len(s) {
			p.b = append(p.b, digits[s[i]>>4], digits[s[i]&15])
		}
	default:
		p.bad("unsupported")
		return
	}
	p.pad(start)
}

func (p *printer) signed(v int64) {
	if v < 0 {
		p.integer(-uint64(v), true)
	} else {
		p.integer(uint64(v), false)
	}
}

// integer prints an integer of the given size and sign.
func (p *printer) integer(v uint64, negative bool) {
	start := len(p.b)
	if negative && p.verb != 'q' {
		p.b = append(p.b, '-')
	}
	switch p.verb {
	case 'd', 'v':
		p.b = strconv.AppendUint(p.b, v, 10)
	case 'x':
		if p.sharp {
			p.b = append(p.b, '0', 'x')
		}
		p.b = strconv.AppendUint(p.b, v, 16)
	case 'q':
		r := rune(utf8.RuneError)
		if !negative && v <= utf8.MaxRune {
			r = rune(v)
		}
		p.b = strconv.AppendQuoteRune(p.b, r)
	default:
		p.b = p.b[:start]
		p.bad("unsupported")
		return
	}
	p.pad(start)
}

// float prints a floating-point number.
func (p *printer) float(v float64, bits int) {
	start := len(p.b)
	switch p.verb {
	case 'v':
		p.b = strconv.AppendFloat(p.b, v, 'g', p.prec, bits)
	case 'f':
		prec := p.prec
		if prec < 0 {
			prec = 6
		}
		p.b = strconv.AppendFloat(p.b, v, 'f', prec, bits)
	default:
		p.bad("unsupported")
		return
	}
	p.pad(start)
}
