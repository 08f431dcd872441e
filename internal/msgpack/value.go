package msgpack

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// ErrShort reports input that ends within a value.
var ErrShort = errors.New("msgp: too few bytes")

// The largest sizes in bytes of the parts of msgp forms.
const (
	HeaderSize = 5 // of an array's or a string's length
	NumberSize = 9
)

// AppendArray appends the length of an array; its values follow.
func AppendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xdc), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
}

// AppendString appends a string.
func AppendString(b []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		b = append(b, 0xa0|byte(n))
	case n <= math.MaxUint8:
		b = append(b, 0xd9, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(n))
	}
	return append(b, s...)
}

// AppendBool appends a bool.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0xc3)
	}
	return append(b, 0xc2)
}

// AppendInt appends an integer in the shortest signed form.
func AppendInt[T int | int64](b []byte, v T) []byte {
	switch i := int64(v); {
	case i >= -32 && i <= math.MaxInt8:
		return append(b, byte(i))
	case i == int64(int8(i)):
		return append(b, 0xd0, byte(i))
	case i == int64(int16(i)):
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(i))
	case i == int64(int32(i)):
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(i))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(i))
	}
}

// AppendUint appends an integer in the shortest unsigned form.
func AppendUint[T uint8 | uint64](b []byte, v T) []byte {
	switch u := uint64(v); {
	case u <= math.MaxInt8:
		return append(b, byte(u))
	case u <= math.MaxUint8:
		return append(b, 0xcc, byte(u))
	case u <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(u))
	case u <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(u))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), u)
	}
}

// AppendFloat32 appends a float32.
func AppendFloat32(b []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0xca), math.Float32bits(v))
}

// AppendFloat64 appends a float64.
func AppendFloat64(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
}

// The functions below read the first value of b and return it and the rest of
// b. Their errors are ErrShort or name the kind of the value.

// ReadArray reads the length of an array.
func ReadArray(b []byte) (int64, []byte, error) {
	size, n := head(b)
	if size > uint64(len(b)) {
		return 0, nil, ErrShort
	}
	if kindOf(b[0]) != array {
		return 0, nil, unexpected(b[0], array)
	}
	return int64(n), b[size:], nil
}

// ReadString reads a string. The result aliases b.
func ReadString(b []byte) ([]byte, []byte, error) {
	size, _ := head(b)
	if size > uint64(len(b)) {
		return nil, nil, ErrShort
	}
	skip := 1
	switch c := b[0]; {
	case kindOf(c) != text:
		return nil, nil, unexpected(c, text)
	case c >= 0xd9:
		skip += 1 << (c - 0xd9)
	}
	return b[skip:size], b[size:], nil
}

// ReadBool reads a bool.
func ReadBool(b []byte) (bool, []byte, error) {
	switch {
	case len(b) == 0:
		return false, nil, ErrShort
	case kindOf(b[0]) != boolean:
		return false, nil, unexpected(b[0], boolean)
	}
	return b[0] == 0xc3, b[1:], nil
}

// ReadInt64 reads an integer in any form.
func ReadInt64(b []byte) (int64, []byte, error) {
	u, negative, rest, err := readInteger(b)
	if err == nil && !negative && u > math.MaxInt64 {
		return 0, nil, errfmt.Errorf("msgp: %d overflows int64", u)
	}
	return int64(u), rest, err
}

// ReadInt reads an integer in any form.
func ReadInt(b []byte) (int, []byte, error) {
	i, rest, err := ReadInt64(b)
	if err == nil && int64(int(i)) != i {
		return 0, nil, errfmt.Errorf("msgp: %d overflows int", i)
	}
	return int(i), rest, err
}

// ReadUint64 reads an integer that is not negative, in any form.
func ReadUint64(b []byte) (uint64, []byte, error) {
	u, negative, rest, err := readInteger(b)
	if err == nil && negative {
		return 0, nil, errfmt.Errorf("msgp: %d, want at least 0", int64(u))
	}
	return u, rest, err
}

// ReadUint8 reads an integer of 0 to 255, in any form.
func ReadUint8(b []byte) (uint8, []byte, error) {
	u, rest, err := ReadUint64(b)
	if err == nil && u > math.MaxUint8 {
		return 0, nil, errfmt.Errorf("msgp: %d overflows uint8", u)
	}
	return uint8(u), rest, err
}

// readInteger returns an integer's bits, extended to 64 by its sign.
func readInteger(b []byte) (u uint64, negative bool, rest []byte, err error) {
	size, _ := head(b)
	if size > uint64(len(b)) {
		return 0, false, nil, ErrShort
	}
	c := b[0]
	if kindOf(c) != integer {
		return 0, false, nil, unexpected(c, integer)
	}
	i := int64(int8(c)) // the value of a single byte
	signed := true
	if size > 1 {
		signed = c >= 0xd0
		for _, x := range b[1:size] {
			u = u<<8 | uint64(x)
		}
		shift := 72 - 8*size
		if i = int64(u); signed {
			i = int64(u<<shift) >> shift
		}
	}
	return uint64(i), signed && i < 0, b[size:], nil
}

// ReadFloat32 reads a float32.
func ReadFloat32(b []byte) (float32, []byte, error) {
	switch {
	case len(b) == 0 || b[0] == 0xca && len(b) < 5:
		return 0, nil, ErrShort
	case b[0] != 0xca:
		return 0, nil, unexpected(b[0], float32s)
	}
	return math.Float32frombits(binary.BigEndian.Uint32(b[1:])), b[5:], nil
}

// ReadFloat64 reads a float64 or a float32.
func ReadFloat64(b []byte) (float64, []byte, error) {
	switch {
	case len(b) > 0 && b[0] == 0xca:
		f, rest, err := ReadFloat32(b)
		return float64(f), rest, err
	case len(b) == 0 || b[0] == 0xcb && len(b) < 9:
		return 0, nil, ErrShort
	case b[0] != 0xcb:
		return 0, nil, unexpected(b[0], float64s)
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b[1:])), b[9:], nil
}

// The kinds of values, for errors.
const (
	integer  = "integer"
	text     = "string"
	boolean  = "bool"
	array    = "array"
	table    = "map"
	float32s = "float32"
	float64s = "float64"
)

// kindOf returns the kind of the value that starts with c.
func kindOf(c byte) string {
	switch {
	case c <= 0x7f || c >= 0xe0 || c >= 0xcc && c <= 0xd3:
		return integer
	case c <= 0x8f || c == 0xde || c == 0xdf:
		return table
	case c <= 0x9f || c == 0xdc || c == 0xdd:
		return array
	case c <= 0xbf || c >= 0xd9 && c <= 0xdb:
		return text
	case c == 0xc2 || c == 0xc3:
		return boolean
	case c == 0xca:
		return float32s
	case c == 0xcb:
		return float64s
	case c >= 0xc4 && c <= 0xc6:
		return "bytes"
	case c == 0xc0:
		return "nil"
	case c == 0xc1:
		return "invalid byte"
	}
	return "extension"
}

func unexpected(c byte, want string) error {
	return errfmt.Errorf("msgp: %s, want %s", kindOf(c), want)
}
