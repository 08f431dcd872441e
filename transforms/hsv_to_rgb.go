package transforms

import "github.com/infer-prep/infer-prep/tensor"

// HSVToRGB converts an image from HSV to RGB. It takes a float32 or float64
// image of three channels, HWC or CHW, and keeps the description. Saturation
// and value range from 0 to 1, the hue is in turns. All arithmetic is float64;
// float32 rounds the results.
//
// If the saturation s is 0, all channels become v. Else let i be six times the
// hue, truncated, and f the rest. With p = v*(1-s), q = v*(1-s*f) and t =
// v*(1-s*(1-f)), red, green and blue are, for i modulo 6 from 0 on: v t p, q v
// p, p v t, p q v, t p v, v p q.
//
// Reference: MindSpore 2.10.0, vision.HsvToRgb: Python's colorsys.
type HSVToRGB struct{}

//msgp:tuple HSVToRGB

// NewHSVToRGB returns the op.
func NewHSVToRGB() *HSVToRGB { return &HSVToRGB{} }

// Info describes the op.
func (*HSVToRGB) Info() Info {
	return Info{
		Name: "hsv_to_rgb", Version: 1, New: func() Op { return NewHSVToRGB() }, InPlace: true,
		Reference: "MindSpore 2.10.0 vision.HsvToRgb", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *HSVToRGB) Validate() error { return nil }

// Infer keeps the description.
func (o *HSVToRGB) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantHSV(in[0])
}

// Apply converts pixel by pixel.
func (o *HSVToRGB) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return eachColor(c, dst[0], src[0], fromHSV)
}
