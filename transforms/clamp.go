package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Clamp limits every value to Min..Max, both rounded to float32. It takes a
// float32 image of any range, HWC or CHW, and keeps the description. A limit
// of 0 keeps the sign of -0. The bits of a NaN are unspecified.
//
// Reference: torch 2.15.0, clamp.
type Clamp struct {
	Min float64 `json:"min"` // finite in float32; default 0
	Max float64 `json:"max"` // finite in float32, at least Min; default 1
}

//msgp:tuple Clamp
//sheet:clamp {"min": 0.3, "max": 0.6}

// NewClamp returns the op.
func NewClamp(minimum, maximum float64) *Clamp { return &Clamp{Min: minimum, Max: maximum} }

// Info describes the op.
func (*Clamp) Info() Info {
	return Info{
		Name: "clamp", Version: 1, New: func() Op { return NewClamp(0, 1) }, InPlace: true,
		Reference: "torch 2.15.0 clamp", Exactness: "0",
	}
}

// Validate checks that the limits are finite and in order.
func (o *Clamp) Validate() error {
	if err := checkValues("min", []float64{o.Min}); err != nil {
		return err
	}
	if err := checkValues("max", []float64{o.Max}); err != nil {
		return err
	}
	if o.Max < o.Min {
		return paramErr("max %v, want at least min, %v", o.Max, o.Min)
	}
	return nil
}

// Infer keeps the description.
func (o *Clamp) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Float32)
}

// Apply limits the values.
func (o *Clamp) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	low, high := float32(o.Min), float32(o.Max)
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	for i, v := range in[:len(out)] {
		if v < low {
			v = low
		}
		if v > high {
			v = high
		}
		out[i] = v
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Clamp) Pointwise() {}
