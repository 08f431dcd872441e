package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Solarize inverts the values of an interval and keeps all others. It takes a
// uint8 or float32 image with any number of channels, HWC or CHW, and keeps the
// description.
//
// A value v with Min <= v <= Max becomes 255-v (uint8) or 1-v (float32). uint8
// values are compared with Min and Max themselves. float32 values are compared
// with Min and Max rounded to float32. NaN stays NaN.
//
// Pillow and torchvision have one threshold t: Min is t, and Max is 255, for
// float32 1. Min and Max of 256 invert nothing, as Pillow's 256. In MindSpore's
// threshold (a, b), a is Min and b is Max. If a equals b, or there is only one
// number, Max is 255.
//
// Reference: Pillow 13.0.0, ImageOps.solarize; torchvision 0.29.2, v2's
// solarize, for uint8 and float32; MindSpore 2.10.0, vision.Solarize.
type Solarize struct {
	Threshold Range `json:"threshold"` // of the values that are inverted, within 0 to 1e6; default 128 to 255
}

//msgp:tuple Solarize

// NewSolarize returns the op that inverts uint8 values from a threshold on. No
// value is inverted if the threshold is above 255.
func NewSolarize(threshold float64) *Solarize { return &Solarize{from(threshold)} }

// from returns the interval of the uint8 values from a threshold on.
func from(threshold float64) Range { return Range{threshold, max(threshold, 255)} }

// Info describes the op.
func (*Solarize) Info() Info {
	return Info{
		Name: "solarize", Version: 1, New: func() Op { return NewSolarize(128) }, InPlace: true,
		Reference: "Pillow 13.0.0 ImageOps.solarize, torchvision 0.29.2 v2 solarize, MindSpore 2.10.0 vision.Solarize", Exactness: "0",
	}
}

// Validate checks the interval.
func (o *Solarize) Validate() error { return o.Threshold.check("threshold", 0, maxFactor) }

// Infer keeps the description.
func (o *Solarize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Uint8, tensor.Float32)
}

// Apply inverts uint8 values with a table and float32 values one by one.
func (o *Solarize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Float32 {
		lo, hi := float32(o.Threshold.Min), float32(o.Threshold.Max)
		out := tensor.View[float32](dst[0])
		for i, v := range tensor.View[float32](s)[:len(out)] {
			if v >= lo && v <= hi {
				v = 1 - v
			}
			out[i] = v
		}
		return nil
	}
	table := c.Scratch(256)
	for v := range table {
		table[v] = uint8(v)
		if f := float64(v); f >= o.Threshold.Min && f <= o.Threshold.Max {
			table[v] = uint8(255 - v)
		}
	}
	kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 1, table)
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Solarize) Pointwise() {}
