// Package matfile reads MATLAB files of version 5 (MAT-file level 5), which
// MATLAB writes with -v6 and -v7: numeric arrays, sparse ones too, texts, cells
// and structures, compressed or not. Reference: scipy.io.loadmat 1.17.1.
//
// Objects, functions and files of version 4 and 7.3 (HDF5) are errors.
package matfile

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
)

// Limits of a file. The files of data sets nest four deep.
const (
	maxDepth = 16
	maxAxes  = 32
	header   = 128
	// maxTree bounds the memory of all arrays besides their numbers: an empty
	// cell of 8 bytes is an Array. Stanford Cars has the largest, 100,000
	// arrays of 25 MB.
	maxTree = 64 << 20
	// arrayBytes is what an Array and its parser take.
	arrayBytes = 288
)

// Types of the elements of a file.
const (
	typeInt8       = 1
	typeUint8      = 2
	typeInt16      = 3
	typeUint16     = 4
	typeInt32      = 5
	typeUint32     = 6
	typeSingle     = 7
	typeDouble     = 9
	typeInt64      = 12
	typeUint64     = 13
	typeMatrix     = 14
	typeCompressed = 15
	typeUTF8       = 16
	typeUTF16      = 17
)

// Classes of arrays.
const (
	classCell   = 1
	classStruct = 2
	classChar   = 4
	classSparse = 5
	classDouble = 6
	classUint64 = 15
)

// Open reads the arrays of a file by their names. It reads a file of at most
// limit bytes, and unpacks at most limit bytes in all. The arrays, texts, names
// and indices take at most limit or 64 MiB besides, whichever is less.
func Open(ctx context.Context, o store.Opener, name string, limit int64) (_ Arrays, err error) {
	f, err := files.OpenReader(ctx, o, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Size() > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes, want at most %d", dataset.ErrData, store.Redact(name), f.Size(), limit)
	}
	r := &reader{r: f, left: limit, tree: min(limit, maxTree)}
	arrays, err := r.file()
	switch {
	case r.err != nil: // of the store
		return nil, fmt.Errorf("%s: %w", store.Redact(name), r.err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: in the array at byte %d: %w", dataset.ErrData, store.Redact(name), r.at, err)
	}
	return arrays, nil
}

// reader reads a file from its beginning.
type reader struct {
	r    io.Reader
	err  error // of r
	pos  int64 // bytes read
	at   int64 // start of the element that is read
	left int64 // bytes that may still be unpacked
	tree int64 // bytes that arrays may still take besides
}

// Read remembers an error of the store, to tell it from one of the format.
func (r *reader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.pos += int64(n)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func (r *reader) file() (Arrays, error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("%w, want a header of %d bytes", ended(err), header)
	}
	var order binary.ByteOrder
	switch string(head[126:]) {
	case "IM":
		order = binary.LittleEndian
	case "MI":
		order = binary.BigEndian
	default:
		return nil, fmt.Errorf("endian mark %q, want IM or MI: a file of version 5", head[126:])
	}
	if v := order.Uint16(head[124:]); v != 0x100 {
		return nil, fmt.Errorf("version %#x, want 0x100", v)
	}
	arrays := Arrays{}
	for {
		r.at = r.pos
		var tag [8]byte
		switch _, err := io.ReadFull(r, tag[:]); {
		case err == io.EOF:
			return arrays, nil
		case err != nil:
			return nil, fmt.Errorf("%w, want a tag of 8 bytes", ended(err))
		}
		b, err := r.element(order, order.Uint32(tag[:]), int64(order.Uint32(tag[4:])))
		if err != nil {
			return nil, err
		}
		p := &parser{b: b, order: order, tree: &r.tree}
		a, err := p.matrix(0)
		if err != nil {
			return nil, fmt.Errorf("offset %d of its data: %w", p.pos, err)
		}
		if _, ok := arrays[a.Name]; ok {
			return nil, fmt.Errorf("a second array %.80q", a.Name)
		}
		arrays[a.Name] = a
	}
}

// element reads the n bytes of an array's data, unpacked.
func (r *reader) element(order binary.ByteOrder, kind uint32, n int64) ([]byte, error) {
	switch kind {
	case typeMatrix:
		return r.take(r, n)
	case typeCompressed:
	default:
		return nil, fmt.Errorf("element of type %d, want an array", kind)
	}
	z, err := zlib.NewReader(&io.LimitedReader{R: r, N: n})
	if err != nil {
		return nil, fmt.Errorf("%w, want zlib data", ended(err))
	}
	defer z.Close()
	var tag [8]byte
	if _, err := io.ReadFull(z, tag[:]); err != nil {
		return nil, fmt.Errorf("%w, want a packed tag of 8 bytes", ended(err))
	}
	if k := order.Uint32(tag[:]); k != typeMatrix {
		return nil, fmt.Errorf("packed element of type %d, want an array", k)
	}
	b, err := r.take(z, int64(order.Uint32(tag[4:])))
	if err != nil {
		return nil, err
	}
	// The checksum is verified when the end is read. A file may be read in
	// pieces larger than the data, so its position is set to the end of the
	// element.
	if k, err := z.Read(make([]byte, 1)); k != 0 || err != io.EOF {
		return nil, fmt.Errorf("%w, want the end of the packed data", ended(err))
	}
	if skip := r.at + 8 + n - r.pos; skip < 0 {
		return nil, errors.New("the packed data is longer than its element")
	} else if k, err := io.CopyN(io.Discard, r, skip); err != nil {
		return nil, fmt.Errorf("%w after %d of %d bytes", ended(err), n-skip+k, n)
	}
	return b, nil
}

// take reads n bytes. Its memory grows with what is there, so that a false size
// in a short file allocates little.
func (r *reader) take(from io.Reader, n int64) ([]byte, error) {
	if n > r.left {
		return nil, fmt.Errorf("%d bytes of data, want at most %d", n, r.left)
	}
	r.left -= n
	var b []byte
	for int64(len(b)) < n {
		have := len(b)
		grown := make([]byte, min(n, max(64<<10, 2*int64(have))))
		copy(grown, b)
		b = grown
		if k, err := io.ReadFull(from, b[have:]); err != nil {
			return nil, fmt.Errorf("%w after %d bytes, want %d", ended(err), have+k, n)
		}
	}
	return b, nil
}

// ended gives the ends of a file the words of this package.
func ended(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the data ends")
	}
	if err == nil {
		return errors.New("more data")
	}
	return err
}

// parser parses the data of one array.
type parser struct {
	b     []byte
	pos   int
	order binary.ByteOrder
	tree  *int64 // see reader
}

// charge counts memory that the caller is about to take.
func (p *parser) charge(n int) error {
	if *p.tree -= int64(n); *p.tree < 0 {
		return errors.New("the arrays, texts and names of the file take too much memory")
	}
	return nil
}

// next returns the next element. Numbers of up to four bytes may be inside the
// tag. The data of an element ends at a multiple of eight bytes.
func (p *parser) next() (kind uint32, data []byte, err error) {
	rest := p.b[p.pos:]
	if len(rest) < 8 {
		return 0, nil, fmt.Errorf("%d bytes left, want a tag of 8", len(rest))
	}
	word := p.order.Uint32(rest)
	if n := word >> 16; n != 0 {
		if n > 4 {
			return 0, nil, fmt.Errorf("a short element of %d bytes, want at most 4", n)
		}
		p.pos += 8
		return word & 0xffff, rest[4 : 4+n], nil
	}
	n := int64(p.order.Uint32(rest[4:]))
	if n > int64(len(rest)-8) {
		return 0, nil, fmt.Errorf("an element of %d bytes, want at most the %d that are left", n, len(rest)-8)
	}
	data = rest[8 : 8+n]
	p.pos += min(int(8+(n+7)&^7), len(rest)) // the last padding may be missing
	return word, data, nil
}

// want returns the data of the next element, which must have a type.
func (p *parser) want(what string, kinds ...uint32) ([]byte, error) {
	kind, data, err := p.next()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	for _, k := range kinds {
		if k == kind {
			return data, nil
		}
	}
	return nil, fmt.Errorf("%s: type %d, want %v", what, kind, kinds)
}

// matrix parses an array whose tag was read.
func (p *parser) matrix(depth int) (*Array, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	flags, err := p.want("flags", typeUint32)
	if err != nil {
		return nil, err
	}
	if len(flags) != 8 {
		return nil, fmt.Errorf("flags of %d bytes, want 8", len(flags))
	}
	class := p.order.Uint32(flags) & 0xff
	if p.order.Uint32(flags)&0x800 != 0 {
		return nil, errors.New("a complex array, want a real one")
	}
	dims, err := p.want("sizes", typeInt32)
	if err != nil {
		return nil, err
	}
	if err := p.charge(arrayBytes + 2*len(dims)); err != nil {
		return nil, err
	}
	a := &Array{}
	n, err := a.shape(p.order, dims)
	if err != nil {
		return nil, err
	}
	name, err := p.want("name", typeInt8)
	if err != nil {
		return nil, err
	}
	if err := p.charge(len(name)); err != nil {
		return nil, err
	}
	a.Name = string(name)
	switch {
	case class >= classDouble && class <= classUint64:
		return a, p.numbers(a, n)
	case class == classSparse:
		return a, p.sparse(a)
	case class == classChar:
		return a, p.text(a, n)
	case class == classCell:
		return a, p.cells(a, n, depth)
	case class == classStruct:
		if err := p.fields(a); err != nil {
			return nil, err
		}
		if n *= int64(len(a.Fields)); len(a.Fields) == 0 {
			return a, nil
		}
		return a, p.cells(a, n, depth)
	}
	return nil, fmt.Errorf("array %.80q of class %d, want numbers, a sparse matrix, text, cells or a structure", a.Name, class)
}

// shape sets the sizes of the axes and returns their product.
func (a *Array) shape(order binary.ByteOrder, b []byte) (int64, error) {
	axes := len(b) / 4
	if len(b)%4 != 0 || axes < 2 || axes > maxAxes {
		return 0, fmt.Errorf("sizes of %d bytes, want 2 to %d numbers", len(b), maxAxes)
	}
	n := int64(1)
	a.Dims = make([]int, 0, axes)
	for i := range axes {
		d := int32(order.Uint32(b[4*i:]))
		if d < 0 {
			return 0, fmt.Errorf("size %d of axis %d, want 0 or more", d, i)
		}
		if n *= int64(d); n > math.MaxInt32 {
			return 0, fmt.Errorf("more than %d elements", math.MaxInt32)
		}
		a.Dims = append(a.Dims, int(d))
	}
	return n, nil
}

func (p *parser) numbers(a *Array, n int64) error {
	kind, data, err := p.next()
	if err != nil {
		return fmt.Errorf("numbers: %w", err)
	}
	size := sizes[kind]
	if size == 0 {
		return fmt.Errorf("numbers of type %d", kind)
	}
	if int64(len(data)) != n*int64(size) {
		return fmt.Errorf("%d bytes of numbers, want %d for sizes %v", len(data), n*int64(size), a.Dims)
	}
	a.kind, a.Data, a.order = kind, data, p.order
	return nil
}

func (p *parser) cells(a *Array, n int64, depth int) error {
	// An array has a tag of 8 bytes at least.
	if n > int64(len(p.b)-p.pos)/8 {
		return fmt.Errorf("%d cells in %d bytes", n, len(p.b)-p.pos)
	}
	if err := p.charge(8 * int(n)); err != nil {
		return err
	}
	a.Cells = make([]*Array, n)
	for i := range a.Cells {
		data, err := p.want("cell", typeMatrix)
		if err != nil {
			return err
		}
		// An empty cell may have no data at all.
		if len(data) == 0 {
			if err := p.charge(arrayBytes + 16); err != nil {
				return fmt.Errorf("cell %d: %w", i, err)
			}
			a.Cells[i] = &Array{Dims: []int{0, 0}}
			continue
		}
		inner := &parser{b: data, order: p.order, tree: p.tree}
		if a.Cells[i], err = inner.matrix(depth + 1); err != nil {
			return fmt.Errorf("cell %d: offset %d: %w", i, inner.pos, err)
		}
	}
	return nil
}

// fields reads the names of a structure's fields.
func (p *parser) fields(a *Array) error {
	b, err := p.want("length of field names", typeInt32)
	if err != nil {
		return err
	}
	if len(b) != 4 {
		return fmt.Errorf("length of field names of %d bytes, want 4", len(b))
	}
	n := int(int32(p.order.Uint32(b)))
	names, err := p.want("field names", typeInt8)
	if err != nil {
		return err
	}
	if n < 1 || n > 1<<10 || len(names)%n != 0 {
		return fmt.Errorf("field names of %d bytes, want a multiple of their length %d", len(names), n)
	}
	// A name takes a header, and 16 bytes at least.
	if err := p.charge(len(names) / n * (32 + n)); err != nil {
		return err
	}
	a.Fields = make([]string, 0, len(names)/n)
	for ; len(names) > 0; names = names[n:] {
		name, _, _ := bytes.Cut(names[:n], []byte{0})
		a.Fields = append(a.Fields, string(name))
	}
	return nil
}
