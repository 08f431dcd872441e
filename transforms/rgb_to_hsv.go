package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RGBToHSV converts an image from RGB to HSV. It takes a float32 or float64
// image of three channels of 0 to 1, HWC or CHW, and keeps the description.
// Hue, saturation and value range from 0 to 1. All arithmetic is float64;
// float32 rounds the results.
//
// v is the largest of the three values, and d its difference to the smallest
// one. If d is 0, hue and saturation are 0. Else the saturation is d/v. With R,
// G and B standing for (v-red)/d, (v-green)/d and (v-blue)/d, the hue is B-G if
// red is v, 2+R-B if green is, and 4+G-R otherwise, divided by 6 and brought to
// 0..1.
//
// Reference: MindSpore 2.10.0, vision.RgbToHsv: Python's colorsys. For an image
// that begins with a gray pixel it returns float64 also from float32, with the
// results before they are rounded.
type RGBToHSV struct{}

//msgp:tuple RGBToHSV

// NewRGBToHSV returns the op.
func NewRGBToHSV() *RGBToHSV { return &RGBToHSV{} }

// Info describes the op.
func (*RGBToHSV) Info() Info {
	return Info{
		Name: "rgb_to_hsv", Version: 1, New: func() Op { return NewRGBToHSV() }, InPlace: true,
		Reference: "MindSpore 2.10.0 vision.RgbToHsv", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *RGBToHSV) Validate() error { return nil }

// Infer keeps the description.
func (o *RGBToHSV) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantHSV(in[0])
}

// wantHSV wants a floating-point image of three channels.
func wantHSV(d tensor.Desc) error {
	if err := wantImage(d, tensor.Float32, tensor.Float64); err != nil {
		return err
	}
	return wantChannels(d, 3)
}

// Apply converts pixel by pixel.
func (o *RGBToHSV) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return eachColor(c, dst[0], src[0], toHSV)
}

// eachColor calls f for each pixel of an image of three channels.
func eachColor(c *Context, dst, src *tensor.Tensor, f func(a, b, c float64) (float64, float64, float64)) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	if s.DType == tensor.Float32 {
		mapColors(tensor.View[float32](dst), tensor.View[float32](s), s.Desc, f)
	} else {
		mapColors(tensor.View[float64](dst), tensor.View[float64](s), s.Desc, f)
	}
	return nil
}

func mapColors[T float32 | float64](out, in []T, d tensor.Desc, f func(a, b, c float64) (float64, float64, float64)) {
	step, next := strides(d)
	for i := range d.Height() * d.Width() {
		at := i * step
		x, y, z := f(float64(in[at]), float64(in[at+next]), float64(in[at+2*next]))
		out[at], out[at+next], out[at+2*next] = T(x), T(y), T(z)
	}
}

func toHSV(r, g, b float64) (h, s, v float64) {
	v = max(r, g, b)
	low := min(r, g, b)
	if v == low {
		return 0, 0, v
	}
	d := v - low
	rc, gc, bc := (v-r)/d, (v-g)/d, (v-b)/d
	switch v {
	case r:
		h = bc - gc
	case g:
		h = 2 + rc - bc
	default:
		h = 4 + gc - rc
	}
	h /= 6
	if h < 0 {
		h++ // rounding may make it 1
	}
	return h, d / v, v
}

// fromHSV is the inverse of toHSV.
func fromHSV(h, s, v float64) (r, g, b float64) {
	if s == 0 {
		return v, v, v
	}
	six := float64(h * 6)
	i := math.Trunc(six)
	f := six - i
	p := float64(v * (1 - s))
	q := float64(v * (1 - float64(s*f)))
	t := float64(v * (1 - float64(s*(1-f))))
	if i = math.Mod(i, 6); i < 0 {
		i += 6
	}
	switch i {
	case 0:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}
