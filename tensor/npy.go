package tensor

import (
	"encoding/binary"
	"io"
	"strconv"
	"strings"
)

// NumPy's format (numpy/lib/_format_impl.py and NEP 1, NumPy 2.4.6) is a magic
// string, a version, the header's length, the header as a Python dictionary,
// and the data. Padding makes the data start at a multiple of 64.
const (
	npyMagic     = "\x93NUMPY"
	npyAlign     = 64
	npyGrow      = 21    // width to which the first size's digits are padded, so that it can grow in place
	npyMaxHeader = 10000 // NumPy's default limit
)

var npyDescr = [...]string{
	Uint8: "|u1", Int8: "|i1", Uint16: "<u2", Int16: "<i2", Int32: "<i4", Int64: "<i8",
	Float16: "<f2", Float32: "<f4", Float64: "<f8", Bool: "|b1",
}

// WriteNPY writes t in format 1.0, little-endian and row-major. The file equals
// numpy.save's of a C-contiguous array byte for byte. BFloat16 and Bytes are
// ErrUnsupported.
func WriteNPY(w io.Writer, t *Tensor) error {
	head, err := npyHeader("npy", "", t)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	return writeElems(w, t)
}

func npyHeader(format, name string, t *Tensor) ([]byte, error) {
	if err := t.sound(); err != nil {
		return nil, err
	}
	if t.DType == BFloat16 || t.DType == Bytes {
		return nil, refuse(format, name, t, "has no type in NumPy's format")
	}
	var b strings.Builder
	b.WriteString("{'descr': '" + npyDescr[t.DType] + "', 'fortran_order': False, 'shape': " + t.Shape.String() + ", }")
	if t.Shape.Rank() > 0 {
		b.WriteString(strings.Repeat(" ", npyGrow-len(strconv.Itoa(t.Shape.At(0)))))
	}
	const fixed = len(npyMagic) + 2 + 2
	n := b.Len() + 1 // the newline
	n += npyAlign - (fixed+n)%npyAlign
	head := make([]byte, 0, fixed+n)
	head = append(head, npyMagic+"\x01\x00"...)
	head = binary.LittleEndian.AppendUint16(head, uint16(n))
	head = append(head, b.String()...)
	head = append(head, strings.Repeat(" ", fixed+n-1-len(head))...)
	return append(head, '\n'), nil
}

// ReadNPY reads one array in format 1.0, 2.0 or 3.0, and reads no further. It
// swaps big-endian elements. It converts Fortran order to row-major, which
// needs twice the memory. Other element types, such as pickled objects, are
// ErrUnsupported, and so are types of several bytes without a byte order. A
// header of more than 10,000 bytes is ErrLimit.
func ReadNPY(r io.Reader, limit int64) (*Tensor, error) {
	d := decoder{r: r, format: "npy", have: remaining(r), limit: limit}
	return d.npy()
}

func (d *decoder) npy() (*Tensor, error) {
	pre, err := d.bytes(int64(len(npyMagic))+2, "the magic string")
	if err != nil {
		return nil, err
	}
	if string(pre[:6]) != npyMagic {
		return nil, d.fail(ErrFormat, 0, "starts with %q, want %q", pre[:6], npyMagic)
	}
	major, minor := pre[6], pre[7]
	if major < 1 || major > 3 || minor != 0 {
		return nil, d.fail(ErrUnsupported, 6, "version %d.%d, want 1.0, 2.0 or 3.0", major, minor)
	}
	width := int64(4)
	if major == 1 {
		width = 2
	}
	field, err := d.bytes(width, "the header's length")
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint16(field))
	if major > 1 {
		n = int64(binary.LittleEndian.Uint32(field))
	}
	if n > npyMaxHeader {
		return nil, d.fail(ErrLimit, 8, "header of %d bytes, want at most %d", n, npyMaxHeader)
	}
	at := d.off
	head, err := d.bytes(n, "the header")
	if err != nil {
		return nil, err
	}
	p := npyParser{d: d, s: string(head), at: at, version: major}
	if err := p.dict(); err != nil {
		return nil, err
	}
	t, little, err := d.npyType(p.descr, at)
	if err != nil {
		return nil, err
	}
	desc, err := d.desc(t, p.shape, at)
	if err != nil {
		return nil, err
	}
	if !p.fortran || desc.Shape.Rank() < 2 {
		return d.elems(desc, little)
	}
	// Fortran order is the row-major order of the reversed shape.
	rev := desc
	rank := desc.Shape.Rank()
	for i := range rank {
		rev.Shape = rev.Shape.With(i, desc.Shape.At(rank-1-i))
	}
	src, err := d.elems(rev, little)
	if err != nil {
		return nil, err
	}
	view := *src
	view.Desc = desc
	for i := range rank {
		view.Strides[i] = src.Strides[rank-1-i]
	}
	return view.Clone(), nil
}

// npyType parses a dtype string. It reports whether the order is little-endian.
func (d *decoder) npyType(descr string, at int64) (DType, bool, error) {
	for t, s := range npyDescr {
		if s == "" {
			continue
		}
		if descr == s || s[0] == '|' && (descr == s[1:] || len(descr) == 3 && strings.ContainsRune("<>=", rune(descr[0])) && descr[1:] == s[1:]) {
			return DType(t), true, nil
		}
		if s[0] == '<' && len(descr) == 3 && descr[0] == '>' && descr[1:] == s[1:] {
			return DType(t), false, nil
		}
	}
	return Invalid, false, d.fail(ErrUnsupported, at, "dtype %q", descr)
}

// npyParser parses the header: a Python dictionary literal with three keys, as
// NumPy writes it, also under Python 2.
type npyParser struct {
	d       *decoder
	s       string
	i       int
	at      int64 // of s in the input
	version byte

	descr   string
	fortran bool
	shape   []int64
}

func (p *npyParser) fail(format string, args ...any) error {
	return p.d.fail(ErrFormat, p.at+int64(p.i), format, args...)
}

func (p *npyParser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n\f", p.s[p.i]) >= 0 {
		p.i++
	}
}

// take skips white space, and then c if it comes next.
func (p *npyParser) take(c byte) bool {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *npyParser) want(c byte) error {
	if !p.take(c) {
		return p.fail("the header lacks %q", c)
	}
	return nil
}

func (p *npyParser) dict() error {
	if err := p.want('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for !p.take('}') {
		if len(seen) > 0 {
			if err := p.want(','); err != nil {
				return err
			}
			if p.take('}') {
				break
			}
		}
		key, err := p.str()
		if err != nil {
			return err
		}
		if seen[key] {
			return p.fail("the header has the key %q twice", key)
		}
		seen[key] = true
		if err := p.want(':'); err != nil {
			return err
		}
		p.space()
		switch key {
		case "descr":
			if strings.HasPrefix(p.s[p.i:], "[") || strings.HasPrefix(p.s[p.i:], "(") {
				return p.d.fail(ErrUnsupported, p.at+int64(p.i), "structured dtype")
			}
			p.descr, err = p.str()
		case "fortran_order":
			p.fortran, err = p.boolean()
		case "shape":
			p.shape, err = p.tuple()
		default:
			return p.fail("the header has the unknown key %q", key)
		}
		if err != nil {
			return err
		}
	}
	if len(seen) != 3 {
		return p.fail("the header has %d keys, want descr, fortran_order and shape", len(seen))
	}
	if p.space(); p.i != len(p.s) {
		return p.fail("the header has data after the dictionary")
	}
	return nil
}

func (p *npyParser) str() (string, error) {
	p.space()
	rest := p.s[p.i:]
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return "", p.fail("the header lacks a string")
	}
	n := strings.IndexByte(rest[1:], rest[0])
	if n < 0 || strings.ContainsAny(rest[1:1+n], "\\\n") {
		return "", p.fail("the header has an invalid string")
	}
	p.i += n + 2
	return rest[1 : 1+n], nil
}

func (p *npyParser) boolean() (bool, error) {
	for _, w := range [...]string{"True", "False"} {
		if strings.HasPrefix(p.s[p.i:], w) {
			p.i += len(w)
			return w == "True", nil
		}
	}
	return false, p.fail("the header lacks True or False")
}

// tuple reads (), (n,), (n, m), and so on. In Python, (n) is not a tuple.
func (p *npyParser) tuple() ([]int64, error) {
	if err := p.want('('); err != nil {
		return nil, err
	}
	var dims []int64
	comma := true
	for !p.take(')') {
		if !comma {
			return nil, p.fail("the shape lacks a comma")
		}
		p.space()
		j := p.i
		for j < len(p.s) && p.s[j] >= '0' && p.s[j] <= '9' {
			j++
		}
		digits := p.s[p.i:j]
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || len(digits) > 1 && digits[0] == '0' && n != 0 {
			return nil, p.fail("the shape lacks a size of 0 or more")
		}
		dims = append(dims, n)
		p.i = j
		if p.version < 3 && p.i < len(p.s) && p.s[p.i] == 'L' { // a Python 2 long
			p.i++
		}
		comma = p.take(',')
	}
	if len(dims) == 1 && !comma {
		return nil, p.fail("the shape is a number, want a tuple")
	}
	return dims, nil
}
