//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// NormalizedDifference computes (a - b) / (a + b + Epsilon) of two channels of
// every pixel, such as the vegetation index NDVI of near infrared and red. It
// takes a uint8, uint16, int16 or float32 image, HWC or CHW, and returns a
// float32 image of one channel with the same layout. concat_channels appends it
// to the image's own channels.
//
// The channels are converted to float32 first. The difference, the sum, the sum
// with Epsilon and the quotient are each rounded to float32. An Epsilon of 0
// adds nothing. A divisor of 0 follows NumPy: 0/0 is NaN, and another number
// divided by 0 is infinite. The bits of a NaN are unspecified.
//
// Reference: NumPy 2.4.6 in float32. TorchGeo's AppendNormalizedDifferenceIndex
// has an Epsilon of 1e-10.
type NormalizedDifference struct {
	A       int     `json:"a"`       // channel a, 0 to 63; default 0
	B       int     `json:"b"`       // channel b, 0 to 63; default 1
	Epsilon float64 `json:"epsilon"` // added to the divisor; finite in float32; default 0
}

//msgp:tuple NormalizedDifference
//sheet:normalized_difference {"a": 1, "b": 0}

// NewNormalizedDifference returns the op without an epsilon.
func NewNormalizedDifference(a, b int) *NormalizedDifference {
	return &NormalizedDifference{A: a, B: b}
}

// Info describes the op.
func (*NormalizedDifference) Info() Info {
	return Info{
		Name: "normalized_difference", Version: 1, New: func() Op { return NewNormalizedDifference(0, 1) },
		Reference: "NumPy 2.4.6", Exactness: "0",
	}
}

// Validate checks the channels and the epsilon.
func (o *NormalizedDifference) Validate() error {
	for i, n := range []int{o.A, o.B} {
		if n < 0 || n >= maxBands {
			return paramErr("%s is %d, want 0 to %d", []string{"a", "b"}[i], n, maxBands-1)
		}
	}
	return checkValues("epsilon", []float64{o.Epsilon})
}

// Infer describes an image of one channel.
func (o *NormalizedDifference) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d, bandTypes...); err != nil {
		return err
	}
	if c, n := d.Channels(), max(o.A, o.B); c != tensor.Unknown && n >= c {
		return inputErr("%v has no channel %d", d, n)
	}
	dst[0] = tensor.Image(tensor.Float32, d.Layout, d.Height(), d.Width(), 1)
	return inferred(dst[0])
}

// bandTypes are the types of the ops on the bands of scenes.
var bandTypes = []tensor.DType{tensor.Uint8, tensor.Uint16, tensor.Int16, tensor.Float32}

// Apply computes the index.
func (o *NormalizedDifference) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	out := tensor.View[float32](dst[0])
	switch s.DType {
	case tensor.Uint8:
		difference(o, out, s.Desc, s.Data)
	case tensor.Uint16:
		difference(o, out, s.Desc, tensor.View[uint16](s))
	case tensor.Int16:
		difference(o, out, s.Desc, tensor.View[int16](s))
	default:
		difference(o, out, s.Desc, tensor.View[float32](s))
	}
	return nil
}

// difference computes the index of all pixels.
func difference[T uint8 | uint16 | int16 | float32](o *NormalizedDifference, out []float32, d tensor.Desc, in []T) {
	step, next := strides(d)
	x, y, epsilon := in[o.A*next:], in[o.B*next:], float32(o.Epsilon)
	for i := range out {
		a, b := float32(x[i*step]), float32(y[i*step])
		sum := a + b
		if epsilon != 0 {
			sum += epsilon
		}
		out[i] = (a - b) / sum
	}
}
