// Package protowire reads and writes the wire format of protocol buffers
// (protobuf.dev/programming-guides/encoding). It has the part of
// google.golang.org/protobuf/encoding/protowire that this module uses, with the
// same names and results. That package reads samples of the program's file
// whenever a program starts.
//
// A Consume function returns a value and its number of bytes, or a negative
// number, for which ParseError returns the error. Values of bytes alias the
// input.
package protowire

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
)

// Number is the number of a field, at least 1.
type Number int32

// Type is the wire type of a field.
type Type int8

// The wire types.
const (
	VarintType     Type = 0
	Fixed64Type    Type = 1
	BytesType      Type = 2
	StartGroupType Type = 3
	EndGroupType   Type = 4
	Fixed32Type    Type = 5
)

// typeBits is the number of bits of the type in a tag.
const typeBits = 3

// The negative lengths of errors.
const (
	truncated = -1 - iota
	badNumber
	overflow
	reserved
)

var (
	errNumber   = errors.New("invalid field number")
	errOverflow = errors.New("variable length integer overflow")
	errReserved = errors.New("cannot parse reserved wire type")
)

// ParseError returns the error of a negative length, nil for others.
func ParseError(n int) error {
	switch n {
	case truncated:
		return io.ErrUnexpectedEOF
	case badNumber:
		return errNumber
	case overflow:
		return errOverflow
	case reserved:
		return errReserved
	}
	return nil
}

// ConsumeTag reads the tag of a field: its number and its type.
func ConsumeTag(b []byte) (Number, Type, int) {
	v, n := ConsumeVarint(b)
	if n < 0 {
		return 0, 0, n
	}
	if number := v >> typeBits; number < 1 || number > math.MaxInt32 {
		return 0, 0, badNumber
	}
	return Number(v >> typeBits), Type(v & (1<<typeBits - 1)), n
}

// ConsumeVarint reads an integer of 1 to 10 bytes.
func ConsumeVarint(b []byte) (uint64, int) {
	v, n := binary.Uvarint(b)
	switch {
	case n > 0:
		return v, n
	case n < 0 || len(b) >= binary.MaxVarintLen64:
		return 0, overflow
	}
	return 0, truncated
}

// ConsumeFixed32 reads an integer of 4 bytes.
func ConsumeFixed32(b []byte) (uint32, int) {
	if len(b) < 4 {
		return 0, truncated
	}
	return binary.LittleEndian.Uint32(b), 4
}

// ConsumeFixed64 reads an integer of 8 bytes.
func ConsumeFixed64(b []byte) (uint64, int) {
	if len(b) < 8 {
		return 0, truncated
	}
	return binary.LittleEndian.Uint64(b), 8
}

// ConsumeBytes reads bytes with their number in front.
func ConsumeBytes(b []byte) ([]byte, int) {
	v, n := ConsumeVarint(b)
	if n < 0 {
		return nil, n
	}
	if v > uint64(len(b[n:])) {
		return nil, truncated
	}
	return b[n:][:v], n + int(v)
}

// ConsumeValue returns the number of bytes of a field's value. It reads no
// groups.
func ConsumeValue(t Type, b []byte) (n int) {
	switch t {
	case VarintType:
		_, n = ConsumeVarint(b)
	case Fixed32Type:
		_, n = ConsumeFixed32(b)
	case Fixed64Type:
		_, n = ConsumeFixed64(b)
	case BytesType:
		_, n = ConsumeBytes(b)
	default:
		n = reserved
	}
	return n
}

// AppendTag appends the tag of a field.
func AppendTag(b []byte, n Number, t Type) []byte {
	return AppendVarint(b, uint64(n)<<typeBits|uint64(t))
}

// AppendVarint appends an integer in as few bytes as it needs.
func AppendVarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// SizeVarint returns the number of bytes that AppendVarint appends.
func SizeVarint(v uint64) int { return (max(bits.Len64(v), 1) + 6) / 7 }

// AppendFixed32 appends an integer of 4 bytes.
func AppendFixed32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// AppendBytes appends bytes with their number in front.
func AppendBytes(b, v []byte) []byte { return append(AppendVarint(b, uint64(len(v))), v...) }

// AppendString is AppendBytes of a string.
func AppendString(b []byte, s string) []byte { return append(AppendVarint(b, uint64(len(s))), s...) }
