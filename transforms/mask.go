package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Relation compares two numbers.
type Relation uint8

// The relations.
const (
	RelationEQ Relation = iota // equal
	RelationNE                 // not equal
	RelationLT                 // less
	RelationLE                 // less or equal
	RelationGT                 // greater
	RelationGE                 // greater or equal
)

var relationNames = []string{"eq", "ne", "lt", "le", "gt", "ge"}

func (r Relation) String() string { return enum.String("relation", relationNames, r) }

// MarshalText returns the name.
func (r Relation) MarshalText() ([]byte, error) { return enum.Format("relation", relationNames, r) }

// UnmarshalText parses the name.
func (r *Relation) UnmarshalText(t []byte) error { return enum.Parse(r, "relation", relationNames, t) }

// Mask compares each element of a tensor with a constant. It takes any tensor
// of fixed-size elements and keeps layout and shape. The output is bool; use
// ToType for another dtype. NaN is not equal to the constant, and neither less
// nor greater.
//
// The constant is rounded to the input's dtype, for float16 and bfloat16 by way
// of float32. A constant that the dtype cannot hold is an ErrInput.
//
// Reference: MindSpore 2.10.0, transforms.Mask, with numbers. It wraps and
// truncates a constant that an integer dtype cannot hold.
type Mask struct {
	Operator Relation `json:"operator"` // of an element to the constant: eq, ne, lt, le, gt or ge
	Constant float64  `json:"constant"` // a finite number
}

//msgp:tuple Mask
//sheet:mask {"operator": "gt", "constant": 128}

// NewMask returns the op.
func NewMask(operator Relation, constant float64) *Mask {
	return &Mask{Operator: operator, Constant: constant}
}

// Info describes the op.
func (*Mask) Info() Info {
	return Info{
		Name: "mask", Version: 1, New: func() Op { return NewMask(RelationEQ, 0) },
		Reference: "MindSpore 2.10.0 transforms.Mask", Exactness: "0",
	}
}

// Validate checks the parameters.
func (o *Mask) Validate() error {
	if err := checkEnum("operator", o.Operator, relationNames); err != nil {
		return err
	}
	return checkFinite("constant", o.Constant)
}

// constant returns the constant as an element of a dtype, and whether the dtype
// holds it.
func (o *Mask) constant(d tensor.DType) (float64, bool) {
	v := o.Constant
	if !holds(d, v) {
		return 0, false
	}
	switch d {
	case tensor.Float32:
		v = float64(float32(v))
	case tensor.Float16:
		v = float64(tensor.Float16ToFloat32(tensor.Float16FromFloat32(float32(v))))
	case tensor.BFloat16:
		v = float64(tensor.BFloat16ToFloat32(tensor.BFloat16FromFloat32(float32(v))))
	}
	return v, true
}

// Infer sets the dtype.
func (o *Mask) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	if _, ok := o.constant(d.DType); !ok {
		return inputErr("%v cannot hold constant = %v", d.DType, o.Constant)
	}
	dst[0] = d
	dst[0].DType = tensor.Bool
	return nil
}

// Apply compares.
func (o *Mask) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	v, _ := o.constant(s.DType)
	out := dst[0].Data
	var floats [blockLen]float64
	var ints [blockLen]int64
	for i := 0; i < len(out); i += blockLen {
		n := min(blockLen, len(out)-i)
		if isFloat(s.DType) {
			loadFloats(floats[:n], s, i)
			compare(out[i:][:n], floats[:n], o.Operator, v)
		} else {
			loadInts(ints[:n], s, i)
			compare(out[i:][:n], ints[:n], o.Operator, int64(v))
		}
	}
	return nil
}

// compare writes 1 for each element that has the relation to v, else 0.
func compare[T int64 | float64](out []byte, l []T, r Relation, v T) {
	switch r {
	case RelationEQ:
		for i, x := range l {
			out[i] = boolByte(x == v)
		}
	case RelationNE:
		for i, x := range l {
			out[i] = boolByte(x != v)
		}
	case RelationLT:
		for i, x := range l {
			out[i] = boolByte(x < v)
		}
	case RelationLE:
		for i, x := range l {
			out[i] = boolByte(x <= v)
		}
	case RelationGT:
		for i, x := range l {
			out[i] = boolByte(x > v)
		}
	case RelationGE:
		for i, x := range l {
			out[i] = boolByte(x >= v)
		}
	}
}
