package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// Reshape gives a tensor the axes of Shape. It takes any tensor of fixed-size
// elements, such as the patches of several tiles, and keeps the dtype and the
// order of the elements, in which the last axis varies first. The output has
// no layout. An input with another number of elements is an ErrInput.
//
// Reference: NumPy 2.4.6, reshape.
type Reshape struct {
	Shape IndexList `json:"shape"` // size of each axis, 0 to 2^24; -1, at most once, is what the other sizes leave
}

//msgp:tuple Reshape
//sheet:reshape {"shape": [-1, 96, 3]}

// NewReshape returns the op.
func NewReshape(shape ...int) *Reshape { return &Reshape{Shape: shape} }

// Info describes the op.
func (*Reshape) Info() Info {
	return Info{
		Name: "reshape", Version: 1, New: func() Op { return NewReshape(-1) },
		Reference: "NumPy 2.4.6 reshape", Exactness: "0",
	}
}

// Validate checks the sizes.
func (o *Reshape) Validate() error {
	if len(o.Shape) > tensor.MaxRank {
		return paramErr("shape has %d sizes, want at most %d", len(o.Shape), tensor.MaxRank)
	}
	open := 0
	for i, n := range o.Shape {
		if n < -1 || n > maxSide {
			return paramErr("shape[%d] is %d, want -1 to %d", i, n, maxSide)
		}
		if n == -1 {
			open++
		}
	}
	if open > 1 {
		return paramErr("shape has %d sizes of -1, want at most 1", open)
	}
	return nil
}

// Infer sets the sizes.
func (o *Reshape) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	elements := int64(1)
	for i := range d.Shape.Rank() {
		if n := d.Shape.At(i); n == tensor.Unknown {
			elements = tensor.Unknown
			break
		} else if elements > 0 && int64(n) > math.MaxInt64/elements {
			return inputErr("%v has too many elements", d)
		} else {
			elements *= int64(n)
		}
	}
	known, open := int64(1), -1
	for i, n := range o.Shape {
		switch {
		case n == -1:
			open = i
		case known > 0 && int64(n) > math.MaxInt64/known:
			return inputErr("%v, want more elements than there can be", d)
		default:
			known *= int64(n)
		}
	}
	dst[0] = tensor.Desc{DType: d.DType}
	for _, n := range o.Shape {
		dst[0].Shape = dst[0].Shape.Append(n)
	}
	switch {
	case elements == tensor.Unknown:
		if open >= 0 {
			dst[0].Shape = dst[0].Shape.With(open, tensor.Unknown)
		}
	case open < 0 && elements != known:
		return inputErr("%v, want %d elements", d, known)
	case open >= 0 && (known == 0 || elements%known != 0 || int64(int(elements/known)) != elements/known):
		return inputErr("%v, want a multiple of %d elements", d, known)
	case open >= 0:
		dst[0].Shape = dst[0].Shape.With(open, int(elements/known))
	}
	return inferred(dst[0])
}

// Apply copies the elements.
func (o *Reshape) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	return nil
}
