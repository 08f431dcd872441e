package msgpack

import (
	"strings"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// maxList is the largest number of elements of a list in a tuple. Lists of
// parameters are short: one value per channel.
const maxList = 4096

// Value is a value with methods of its own for the msgp form.
type Value interface {
	MarshalMsg(b []byte) ([]byte, error)
	UnmarshalMsg(b []byte) ([]byte, error)
	Msgsize() int
}

// The functions below take pointers to the fields of a tuple, in order: *bool,
// *uint8, *int, *int64, *uint64, *float32, *float64, pointers to slices of int,
// of float64 and of those, and Values. Code that loops over them is a tenth of
// the size of code for each field.

// AppendTuple appends a tuple to b.
func AppendTuple(b []byte, fields []any) (_ []byte, err error) {
	b = AppendArray(b, len(fields))
	for _, f := range fields {
		if b, err = appendField(b, f); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendField(b []byte, f any) ([]byte, error) {
	switch f := f.(type) {
	case *bool:
		return AppendBool(b, *f), nil
	case *uint8:
		return AppendUint(b, *f), nil
	case *int:
		return AppendInt(b, *f), nil
	case *int64:
		return AppendInt(b, *f), nil
	case *uint64:
		return AppendUint(b, *f), nil
	case *float32:
		return AppendFloat32(b, *f), nil
	case *float64:
		return AppendFloat64(b, *f), nil
	case *[]int:
		return appendList(b, *f)
	case *[]float64:
		return appendList(b, *f)
	case *[][]int:
		return appendList(b, *f)
	case *[][]float64:
		return appendList(b, *f)
	case Value:
		return f.MarshalMsg(b)
	}
	return nil, unknown()
}

func appendList[T any](b []byte, l []T) (_ []byte, err error) {
	b = AppendArray(b, len(l))
	for i := range l {
		if b, err = appendField(b, &l[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// ReadTuple reads a tuple from the beginning of b and returns the rest. Errors
// name the field; names are separated by spaces.
func ReadTuple(b []byte, fields []any, names string) ([]byte, error) {
	n, b, err := ReadArray(b)
	if err != nil {
		return nil, err
	}
	if n != int64(len(fields)) {
		return nil, errfmt.Errorf("msgp: array of %d, want %d", n, len(fields))
	}
	for i, f := range fields {
		if b, err = readField(b, f); err != nil {
			return nil, errfmt.Errorf("%s: %w", strings.Split(names, " ")[i], err)
		}
	}
	return b, nil
}

func readField(b []byte, f any) (_ []byte, err error) {
	switch f := f.(type) {
	case *bool:
		*f, b, err = ReadBool(b)
	case *uint8:
		*f, b, err = ReadUint8(b)
	case *int:
		*f, b, err = ReadInt(b)
	case *int64:
		*f, b, err = ReadInt64(b)
	case *uint64:
		*f, b, err = ReadUint64(b)
	case *float32:
		*f, b, err = ReadFloat32(b)
	case *float64:
		*f, b, err = ReadFloat64(b)
	case *[]int:
		return readList(b, f)
	case *[]float64:
		return readList(b, f)
	case *[][]int:
		return readList(b, f)
	case *[][]float64:
		return readList(b, f)
	case Value:
		return f.UnmarshalMsg(b)
	default:
		err = unknown()
	}
	return b, err
}

// readList reads a list. An empty list leaves a nil slice nil.
func readList[T any](b []byte, l *[]T) ([]byte, error) {
	n, b, err := ReadArray(b)
	if err != nil {
		return nil, err
	}
	if n > maxList {
		return nil, errfmt.Errorf("msgp: list of %d, want at most %d", n, maxList)
	}
	if n > int64(cap(*l)) {
		*l = make([]T, n)
	}
	*l = (*l)[:n]
	for i := range *l {
		if b, err = readField(b, &(*l)[i]); err != nil {
			return nil, errfmt.Errorf("[%d]: %w", i, err)
		}
	}
	return b, nil
}

// TupleSize returns an upper bound of the size of a tuple's msgp form.
func TupleSize(fields []any) int {
	n := HeaderSize
	for _, f := range fields {
		n += fieldSize(f)
	}
	return n
}

func fieldSize(f any) int {
	switch f := f.(type) {
	case *[]int:
		return listSize(*f)
	case *[]float64:
		return listSize(*f)
	case *[][]int:
		return listSize(*f)
	case *[][]float64:
		return listSize(*f)
	case Value:
		return f.Msgsize()
	}
	return NumberSize // the largest of the numbers
}

func listSize[T any](l []T) int {
	n := HeaderSize
	for i := range l {
		n += fieldSize(&l[i])
	}
	return n
}

func unknown() error { return errfmt.Errorf("a field of an unknown type") }

// List returns the Value of a list of Values.
func List[T any](l *[]T) Value { return list[T]{l} }

type list[T any] struct{ l *[]T }

func (v list[T]) MarshalMsg(b []byte) ([]byte, error)   { return appendList(b, *v.l) }
func (v list[T]) UnmarshalMsg(b []byte) ([]byte, error) { return readList(b, v.l) }
func (v list[T]) Msgsize() int                          { return listSize(*v.l) }

// String returns the Value of a string.
func String(s *string) Value { return stringValue{s} }

type stringValue struct{ s *string }

func (v stringValue) MarshalMsg(b []byte) ([]byte, error) { return AppendString(b, *v.s), nil }
func (v stringValue) UnmarshalMsg(b []byte) ([]byte, error) {
	s, b, err := ReadString(b)
	*v.s = string(s)
	return b, err
}
func (v stringValue) Msgsize() int { return HeaderSize + len(*v.s) }
