package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

//msgp:shim tensor.DType as:uint8 using:uint8/tensor.DType

// CastRule is the rule by which ToType converts a number to a narrower type.
type CastRule uint8

// The rules. They differ only for integer targets.
const (
	// CastTruncate is NumPy's astype. Integers keep their low bits (300 becomes
	// 44 as uint8), and floating-point numbers are truncated. NumPy and C leave
	// floating-point numbers outside the target's range to the platform; here
	// they become the nearest number in the range, and NaN becomes 0.
	CastTruncate CastRule = iota
	// CastSaturate is OpenCV's saturate_cast. Numbers are rounded half to even,
	// and numbers outside the target's range become the nearest number in it.
	// NaN becomes 0. Numbers beyond int32, which OpenCV leaves to the platform,
	// saturate too.
	CastSaturate
)

var castRuleNames = []string{"truncate", "saturate"}

func (r CastRule) String() string { return enum.String("cast rule", castRuleNames, r) }

// MarshalText returns the name.
func (r CastRule) MarshalText() ([]byte, error) {
	return enum.Format("cast rule", castRuleNames, r)
}

// UnmarshalText parses the name.
func (r *CastRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "cast rule", castRuleNames, t)
}

// ToType converts every value to another dtype without scaling. It takes a
// tensor of any shape, with or without a layout, and any dtype of fixed size.
//
// Numbers are rounded half to even to a floating-point type, and too large
// numbers become infinite. bfloat16 is rounded from float32. Everything but 0,
// also NaN, becomes true in bool. CastRule defines the conversion to integer
// types. The same dtype is copied.
//
// Reference: NumPy 2.4.6, astype (with ml_dtypes for bfloat16); OpenCV 5.0.0,
// convertTo for saturate. The rules above define NaN and numbers out of range.
type ToType struct {
	DType tensor.DType `json:"dtype"` // of the output: any except bytes
	Rule  CastRule     `json:"rule"`  // default truncate
}

//msgp:tuple ToType

// NewToType returns the op that truncates, as NumPy's astype.
func NewToType(d tensor.DType) *ToType { return &ToType{DType: d, Rule: CastTruncate} }

// Info describes the op.
func (*ToType) Info() Info {
	return Info{
		Name: "to_type", Version: 1, New: func() Op { return NewToType(tensor.Float32) },
		Reference: "NumPy 2.4.6 astype; OpenCV 5.0.0 Mat::convertTo", Exactness: "0",
	}
}

// Validate checks the dtype and the rule.
func (o *ToType) Validate() error {
	if err := checkElement("dtype", o.DType); err != nil {
		return err
	}
	if err := checkEnum("rule", o.Rule, castRuleNames); err != nil {
		return err
	}
	return nil
}

// Infer changes the dtype.
func (o *ToType) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if in[0].DType == tensor.Bytes {
		return inputErr("%v, want a tensor of fixed-size elements", in[0])
	}
	dst[0] = in[0]
	dst[0].DType = o.DType
	return inferred(dst[0])
}

// Apply converts.
func (o *ToType) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == o.DType {
		copy(dst[0].Data, s.Data)
		return nil
	}
	if s.DType.Size() == 1 {
		return o.lookUp(c, dst[0], s)
	}
	o.convert(dst[0], s)
	return nil
}

// toTypeState holds the converted value of every byte.
type toTypeState struct {
	op     ToType
	values *tensor.Tensor
	from   tensor.DType
}

// lookUp converts one-byte elements with a table.
func (o *ToType) lookUp(c *Context, dst, src *tensor.Tensor) error {
	st, ok := c.State.(*toTypeState)
	if !ok || st.op != *o || st.from != src.DType {
		all, err := tensor.New(tensor.Desc{DType: src.DType, Shape: tensor.Dims(256)})
		if err != nil {
			return err
		}
		for v := range all.Data {
			all.Data[v] = byte(v)
		}
		st = &toTypeState{op: *o, from: src.DType}
		if st.values, err = tensor.New(tensor.Desc{DType: o.DType, Shape: all.Shape}); err != nil {
			return err
		}
		o.convert(st.values, all)
		c.State = st
	}
	switch out, in, table := dst.Data, src.Data[:src.Len()], st.values.Data; o.DType.Size() {
	case 1:
		kernel.LookupHWC(out, in, 1, table)
	case 2:
		kernel.LookupHWC(tensor.Cast[uint16](out), in, 1, tensor.Cast[uint16](table))
	case 4:
		kernel.LookupHWC(tensor.Cast[int32](out), in, 1, tensor.Cast[int32](table))
	case 8:
		kernel.LookupHWC(tensor.Cast[int64](out), in, 1, tensor.Cast[int64](table))
	}
	return nil
}

// convert converts every element.
func (o *ToType) convert(dst, s *tensor.Tensor) {
	n := int(s.Len())
	lo, hi, toInteger := intRange(o.DType)
	if o.DType == tensor.Bool {
		toInteger = false
	}
	var ints [blockLen]int64
	var floats [blockLen]float64
	for i := 0; i < n; i += blockLen {
		size := min(blockLen, n-i)
		k, f := ints[:size], floats[:size]
		switch {
		case !isFloat(s.DType):
			loadInts(k, s, i)
			if toInteger && o.Rule == CastSaturate && o.DType != tensor.Int64 {
				for j, v := range k {
					k[j] = min(max(v, int64(lo)), int64(hi))
				}
			}
			storeInts(dst, i, k)
		case toInteger:
			loadFloats(f, s, i)
			for j, v := range f {
				if o.Rule == CastSaturate {
					v = math.RoundToEven(v)
				}
				k[j] = toInt(v, lo, hi)
			}
			storeInts(dst, i, k)
		default:
			loadFloats(f, s, i)
			storeFloats(dst, i, f)
		}
	}
}

// Pointwise marks the op as Pointwise.
func (o *ToType) Pointwise() {}

// Linear returns v for float32, which rounds only. It reports false for other
// dtypes.
func (o *ToType) Linear() (LinearMap, bool) {
	return LinearMap{}, o.DType == tensor.Float32
}
