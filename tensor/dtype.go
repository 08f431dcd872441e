package tensor

import (
	"errors"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
)

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

var dtypeNames = []string{
	Invalid: "invalid", Uint8: "uint8", Int8: "int8", Uint16: "uint16", Int16: "int16", Int32: "int32",
	Int64: "int64", Float16: "float16", BFloat16: "bfloat16", Float32: "float32", Float64: "float64",
	Bool: "bool", Bytes: "bytes",
}

var dtypeSizes = [...]int{
	Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Int32: 4, Int64: 8, Float16: 2, BFloat16: 2, Float32: 4,
	Float64: 8, Bool: 1, Bytes: 0,
}

// errDType is a value, since the small WebAssembly builds link Validate of
// every type that an op has.
var errDType = errors.New("tensor: invalid dtype")

// Validate returns an error unless d is one of the declared types.
func (d DType) Validate() error {
	if d == Invalid || d > Bytes {
		return errDType
	}
	return nil
}

// Size returns the number of bytes of one element, 0 for Bytes and invalid
// types.
func (d DType) Size() int {
	if d > Bytes {
		return 0
	}
	return dtypeSizes[d]
}

// String returns NumPy's name of the type, such as "uint8" or "float32". The
// other types are "bfloat16" and "bytes".
func (d DType) String() string { return enum.String("dtype", dtypeNames, d) }

// ParseDType returns the type with the given name; see String.
func ParseDType(s string) (d DType, err error) {
	err = d.UnmarshalText([]byte(s))
	return d, err
}

// MarshalText returns the type's name.
func (d DType) MarshalText() ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return enum.Format("dtype", dtypeNames, d)
}

// UnmarshalText parses the type's name.
func (d *DType) UnmarshalText(b []byte) error {
	var i DType // without Invalid
	if err := enum.Parse(&i, "dtype", dtypeNames[1:], b); err != nil {
		return errfmt.Errorf("tensor: %w", err)
	}
	*d = i + 1
	return nil
}
