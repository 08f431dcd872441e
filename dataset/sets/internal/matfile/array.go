package matfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"
)

// Arrays are the arrays of a file by their names.
type Arrays map[string]*Array

// Get returns the array with a name.
func (f Arrays) Get(name string) (*Array, error) {
	if a := f[name]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("no array %q", name)
}

// Ints returns the numbers of an array; see Array.Ints.
func (f Arrays) Ints(name string, low, high int32) ([]int32, error) {
	a, err := f.Get(name)
	if err != nil {
		return nil, err
	}
	return a.Ints(low, high)
}

// Array is an array of a file. Its elements are in column-major order: the
// first axis is the fastest.
type Array struct {
	Name   string
	Dims   []int // sizes of the axes, two at least
	Fields []string
	// Cells are the arrays of a cell array or a structure. A structure has
	// those of all fields of its first element, then those of the second.
	Cells []*Array
	// Data is the numbers as stored. MATLAB stores numbers in the smallest type
	// that holds them. A sparse matrix may have more numbers than Sparse
	// yields.
	Data []byte

	kind   uint32
	order  binary.ByteOrder
	isText bool
	text   string

	// Of a sparse matrix: the rows of its numbers, and the index of each
	// column's first number, with their count at the end.
	rows, starts []int32
}

// sizes lists the bytes of a number of each type.
var sizes = map[uint32]int{
	typeInt8: 1, typeUint8: 1, typeInt16: 2, typeUint16: 2, typeInt32: 4, typeUint32: 4,
	typeSingle: 4, typeDouble: 8, typeInt64: 8, typeUint64: 8,
}

// Len returns the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Dims {
		n *= d
	}
	return n
}

// Text returns the characters of a text of one line.
func (a *Array) Text() (string, error) {
	if !a.isText {
		return "", errors.New("an array, want a text")
	}
	return a.text, nil
}

// Bytes returns the elements of an array that is stored as uint8.
func (a *Array) Bytes() ([]byte, error) {
	if a.kind != typeUint8 {
		return nil, fmt.Errorf("array %.80q has numbers of type %d, want uint8", a.Name, a.kind)
	}
	return a.Data, nil
}

// Floats returns the numbers.
func (a *Array) Floats() ([]float64, error) {
	size := sizes[a.kind]
	if size == 0 {
		return nil, fmt.Errorf("array %.80q has no numbers", a.Name)
	}
	l := make([]float64, len(a.Data)/size)
	for i := range l {
		l[i] = a.float(a.Data[i*size:])
	}
	return l, nil
}

func (a *Array) float(b []byte) float64 {
	switch a.kind {
	case typeInt8:
		return float64(int8(b[0]))
	case typeUint8:
		return float64(b[0])
	case typeInt16:
		return float64(int16(a.order.Uint16(b)))
	case typeUint16:
		return float64(a.order.Uint16(b))
	case typeInt32:
		return float64(int32(a.order.Uint32(b)))
	case typeUint32:
		return float64(a.order.Uint32(b))
	case typeSingle:
		return float64(math.Float32frombits(a.order.Uint32(b)))
	case typeInt64:
		return float64(int64(a.order.Uint64(b)))
	case typeUint64:
		return float64(a.order.Uint64(b))
	}
	return math.Float64frombits(a.order.Uint64(b))
}

// Ints returns numbers from low to high. Each must be whole.
func (a *Array) Ints(low, high int32) ([]int32, error) {
	f, err := a.Floats()
	if err != nil {
		return nil, err
	}
	l := make([]int32, len(f))
	for i, v := range f {
		if !(v >= float64(low) && v <= float64(high)) || v != math.Trunc(v) {
			return nil, fmt.Errorf("element %d of array %.80q is %v, want a whole number from %d to %d", i, a.Name, v, low, high)
		}
		l[i] = int32(v)
	}
	return l, nil
}

// Int returns the only number of an array, from low to high.
func (a *Array) Int(low, high int32) (int32, error) {
	l, err := a.Ints(low, high)
	switch {
	case err != nil:
		return 0, err
	case len(l) != 1:
		return 0, fmt.Errorf("%d numbers, want one", len(l))
	}
	return l[0], nil
}

// Field returns a field of element i of a structure.
func (a *Array) Field(i int, name string) (*Array, error) {
	k := slices.Index(a.Fields, name)
	if k < 0 {
		return nil, fmt.Errorf("no field %q in %q", name, a.Fields)
	}
	at := i*len(a.Fields) + k
	if i < 0 || at >= len(a.Cells) {
		return nil, fmt.Errorf("no element %d in a structure of %d", i, a.Len())
	}
	return a.Cells[at], nil
}

// text reads characters. They are UTF-16 or UTF-8, also where the type only
// says that they are numbers.
func (p *parser) text(a *Array, n int64) error {
	kind, data, err := p.next()
	if err != nil {
		return fmt.Errorf("text: %w", err)
	}
	// UTF-16 is numbers, runes and then UTF-8.
	if err := p.charge(5 * len(data)); err != nil {
		return fmt.Errorf("text: %w", err)
	}
	a.isText = true
	if n > 0 && a.Dims[0] != 1 {
		return fmt.Errorf("text of sizes %v, want one line", a.Dims)
	}
	switch kind {
	case typeUTF8, typeInt8, typeUint8:
		a.text = string(data)
	case typeUTF16, typeUint16:
		u := make([]uint16, len(data)/2)
		for i := range u {
			u[i] = p.order.Uint16(data[2*i:])
		}
		a.text = string(utf16.Decode(u))
	default:
		return fmt.Errorf("text of type %d, want UTF-8 or UTF-16", kind)
	}
	return nil
}
