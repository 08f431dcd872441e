package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Argmax returns the index of the largest value along an axis: the class of
// every pixel from logits, or the label of every box. Of equal values the first
// wins, and NaN counts as the largest value. It takes a float32 tensor, with or
// without a layout. The output is int64, without the axis and without a layout.
//
// Reference: torch 2.15.0, argmax in post_process_semantic_segmentation of
// transformers 5.23.0.
type Argmax struct {
	Axis int `json:"axis"` // 0 to 7; default 0, the channels of CHW
}

//msgp:tuple Argmax

// NewArgmax returns the op.
func NewArgmax(axis int) *Argmax { return &Argmax{Axis: axis} }

// Info describes the op.
func (*Argmax) Info() Info {
	return Info{
		Name: "argmax", Version: 1, New: func() Op { return NewArgmax(0) },
		Reference: "transformers 5.23.0 post_process_semantic_segmentation", Exactness: "0",
	}
}

// Validate checks the axis.
func (o *Argmax) Validate() error {
	if o.Axis < 0 || o.Axis >= tensor.MaxRank {
		return paramErr("axis is %d, want 0 to %d", o.Axis, tensor.MaxRank-1)
	}
	return nil
}

// Infer removes the axis.
func (o *Argmax) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Shape.Rank() <= o.Axis || d.Shape.At(o.Axis) == 0 {
		return inputErr("%v, want float32 with values along axis %d", d, o.Axis)
	}
	dst[0] = tensor.Desc{DType: tensor.Int64}
	for i := range d.Shape.Rank() {
		if i != o.Axis {
			dst[0].Shape = dst[0].Shape.Append(d.Shape.At(i))
		}
	}
	return inferred(dst[0])
}

// Apply finds the indices.
func (o *Argmax) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	out, in := tensor.View[int64](dst[0]), tensor.View[float32](s)
	if len(out) == 0 {
		return nil
	}
	inner := 1 // elements between two values of the axis
	for i := o.Axis + 1; i < s.Shape.Rank(); i++ {
		inner *= s.Shape.At(i)
	}
	n := s.Shape.At(o.Axis)
	best := tensor.Cast[float32](c.Scratch(inner * 4))
	for ; len(out) > 0; out, in = out[inner:], in[inner*n:] {
		at := out[:inner]
		copy(best, in[:inner])
		clear(at)
		for k := 1; k < n; k++ {
			for i, v := range in[k*inner:][:inner] {
				if b := best[i]; v > b || v != v && b == b {
					best[i], at[i] = v, int64(k)
				}
			}
		}
	}
	return nil
}
