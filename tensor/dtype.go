package tensor

import "github.com/infer-prep/infer-prep/internal/errfmt"

// DType is the type of a tensor's elements.
type DType uint8

// The element types. Bytes is a byte string of any length, such as an encoded
// image; it has no fixed size, so a Bytes tensor is always a scalar whose value
// is the whole of Data.
const (
	Invalid DType = iota
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Int64
	Float16  // IEEE 754 binary16
	BFloat16 // the upper half of a binary32
	Float32
	Float64
	Bool // one byte, 0 or 1
	Bytes
)

var dtypeNames = [...]string{
	Invalid: "invalid", Uint8: "uint8", Int8: "int8", Uint16: "uint16", Int16: "int16", Int32: "int32",
	Int64: "int64", Float16: "float16", BFloat16: "bfloat16", Float32: "float32", Float64: "float64",
	Bool: "bool", Bytes: "bytes",
}

var dtypeSizes = [...]int{
	Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Int32: 4, Int64: 8, Float16: 2, BFloat16: 2, Float32: 4,
	Float64: 8, Bool: 1, Bytes: 0,
}

// Valid reports whether d is one of the declared types.
func (d DType) Valid() bool { return d > Invalid && d <= Bytes }

// Size returns the number of bytes of one element, 0 for Bytes.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypeSizes[d]
}

// String returns NumPy's name of the type, such as "uint8" or "float32". The
// other types are "bfloat16" and "bytes".
func (d DType) String() string {
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return errfmt.Sprintf("dtype(%d)", uint8(d))
}

// ParseDType returns the type with the given name; see String.
func ParseDType(s string) (DType, error) {
	for d, n := range dtypeNames {
		if n == s && DType(d).Valid() {
			return DType(d), nil
		}
	}
	return Invalid, errfmt.Errorf("tensor: unknown dtype %q: must be one of %v", s, dtypeNames[1:])
}

// MarshalText returns the type's name.
func (d DType) MarshalText() ([]byte, error) {
	if !d.Valid() {
		return nil, errfmt.Errorf("tensor: invalid dtype %d", uint8(d))
	}
	return []byte(d.String()), nil
}

// UnmarshalText parses the type's name.
func (d *DType) UnmarshalText(b []byte) (err error) {
	*d, err = ParseDType(string(b))
	return err
}
