package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Multiply multiplies every value of a channel by that channel's factor, in
// float32. It takes a float32 image of any range, HWC or CHW, and keeps the
// description. The factors are rounded to float32 first. The bits of a NaN are
// unspecified.
//
// Reference: OpenCV 5.0.0, dnn.blobFromImageWithParams' scalefactor; NumPy
// 2.4.6 in float32.
type Multiply struct {
	Factor []float64 `json:"factor"` // one for all channels or one per channel; finite in float32
}

//msgp:tuple Multiply

// NewMultiply returns the op, which keeps the slice.
func NewMultiply(factor ...float64) *Multiply { return &Multiply{Factor: factor} }

// Info describes the op.
func (*Multiply) Info() Info {
	return Info{
		Name: "multiply", Version: 1, InPlace: true, New: func() Op { return NewMultiply(1.0 / 255) },
		Reference: "OpenCV 5.0.0.93 dnn.blobFromImageWithParams, NumPy 2.4.6", Exactness: "0",
	}
}

// Validate checks that the factors are present and finite.
func (o *Multiply) Validate() error { return checkValues("factor", o.Factor) }

// Infer keeps the description.
func (o *Multiply) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0], tensor.Float32); err != nil {
		return err
	}
	return wantPerChannel(in[0], "factor", len(o.Factor))
}

// Apply multiplies.
func (o *Multiply) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	step, next := strides(s.Desc)
	pixels := s.Height() * s.Width()
	for ch := range s.Channels() {
		f := float32(channelValue(o.Factor, ch))
		for i, at := 0, ch*next; i < pixels; i, at = i+1, at+step {
			out[at] = float32(in[at] * f)
		}
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Multiply) Pointwise() {}

// Linear returns v * Factor.
func (o *Multiply) Linear() (LinearMap, bool) {
	return LinearMap{Mul: o.Factor}, true
}
