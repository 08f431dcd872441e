package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// ConcatConstants adds constants before and after a tensor along an axis: the
// elements of a vector, or rows of a matrix that have the constant everywhere.
// It takes any tensor of fixed-size elements with at least one axis, and keeps
// dtype and layout. A constant that the dtype cannot hold is an ErrInput.
// ConcatRows joins two columns.
//
// Reference: MindSpore 2.10.0, transforms.Concatenate, which takes vectors and
// constants of their dtype only; NumPy 2.4.6, concatenate, for more axes.
type ConcatConstants struct {
	Axis    int        `json:"axis"`    // -8 to 7, from the last one if negative; default 0
	Prepend NumberList `json:"prepend"` // finite numbers before the input, may be empty
	Append  NumberList `json:"append"`  // finite numbers after the input, may be empty
}

//msgp:tuple ConcatConstants
//sheet:concat_constants {"prepend": [0, 64, 128, 192], "append": [192, 128, 64, 0]}

// NewConcatConstants returns the op on the first axis. Either list may be
// empty.
func NewConcatConstants(before, after []float64) *ConcatConstants {
	return &ConcatConstants{Prepend: before, Append: after}
}

// Info describes the op.
func (*ConcatConstants) Info() Info {
	return Info{
		Name: "concat_constants", Version: 1, New: func() Op { return NewConcatConstants(nil, nil) },
		Reference: "MindSpore 2.10.0 transforms.Concatenate, NumPy 2.4.6 concatenate", Exactness: "0",
	}
}

// Validate checks the axis and the constants.
func (o *ConcatConstants) Validate() error {
	if o.Axis < -tensor.MaxRank || o.Axis >= tensor.MaxRank {
		return paramErr("axis is %d, want %d to %d", o.Axis, -tensor.MaxRank, tensor.MaxRank-1)
	}
	if err := checkFinite("prepend", o.Prepend...); err != nil {
		return err
	}
	return checkFinite("append", o.Append...)
}

// axisOf returns the axis of a number from the first or, if negative, the last
// one.
func axisOf(d tensor.Desc, axis int) (int, error) {
	if rank := d.Shape.Rank(); axis < -rank || axis >= rank {
		return 0, inputErr("%v has no axis %d", d, axis)
	} else if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// Infer adds the numbers of constants.
func (o *ConcatConstants) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	a, err := axisOf(d, o.Axis)
	if err != nil {
		return err
	}
	for i, l := range [...]NumberList{o.Prepend, o.Append} {
		for k, v := range l {
			if !holds(d.DType, v) {
				return inputErr("%v cannot hold %s[%d] = %v", d.DType, [...]string{"prepend", "append"}[i], k, v)
			}
		}
	}
	dst[0] = d
	if n := d.Shape.At(a); n != tensor.Unknown {
		dst[0].Shape = d.Shape.With(a, n+len(o.Prepend)+len(o.Append))
	}
	return inferred(dst[0])
}

// Apply copies the elements between the constants.
func (o *ConcatConstants) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	a, err := axisOf(s.Desc, o.Axis)
	if err != nil {
		return err
	}
	row := s.DType.Size()
	for i := a + 1; i < s.Shape.Rank(); i++ {
		row *= s.Shape.At(i)
	}
	rows, out, value := row*s.Shape.At(a), dst[0].Data, c.Scratch(8)[:s.DType.Size()]
	constants := func(l NumberList) {
		for _, v := range l {
			putNumber(value, s.DType, v)
			kernel.RepeatPixel(out[:row], value)
			out = out[row:]
		}
	}
	for at := 0; len(out) > 0; at += rows {
		constants(o.Prepend)
		copy(out, s.Data[at:][:rows])
		out = out[rows:]
		constants(o.Append)
	}
	return nil
}
