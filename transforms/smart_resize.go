package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// SmartResize scales an image so that both sides are multiples of Factor, the
// area is within MinPixels and MaxPixels, and the aspect changes little. It takes
// uint8 and float32 images of any number of channels, HWC or CHW, and keeps
// dtype, layout and channels.
//
// The sides are round(h/Factor) and round(w/Factor) times Factor, half to even. If
// their product is above MaxPixels, they are instead floor(h/b/Factor), at least 1,
// times Factor, with b = sqrt(h*w/MaxPixels), and likewise for w; if it is below
// MinPixels, ceil(h*b/Factor) times Factor, with b = sqrt(MinPixels/(h*w)): all in
// float64. So an area that cannot be met with whole multiples may lie outside the
// bounds. An image whose longer side is more than 200 times the shorter is an ErrInput.
//
// Interpolation and Backend are those of Resize.
//
// Reference: smart_resize of transformers 5.23.0 (Qwen2-VL), with Image.resize of Pillow 13.0.0.
type SmartResize struct {
	Factor        int           `json:"factor"`        // in pixels, 1 to 2^24; Qwen2-VL: patch size times merge size, 28
	MinPixels     int64         `json:"min_pixels"`    // of the output's area, 1 to 2^48; Qwen2-VL: 3136
	MaxPixels     int64         `json:"max_pixels"`    // likewise; Qwen2-VL: 1003520
	Interpolation Interpolation `json:"interpolation"` // usually bicubic
	Backend       Backend       `json:"backend"`       // usually pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; usually false
}

//msgp:tuple SmartResize

func init() {
	Register(Info{
		Name: "smart_resize", Version: 1, New: func() Op { return NewSmartResize(28, 56*56, 28*28*1280) },
		Reference: "transformers 5.23.0 smart_resize with Pillow 13.0.0; backends as resize", Exactness: "0",
	})
}

// NewSmartResize makes the op: bicubic, Pillow, antialiased.
func NewSmartResize(factor int, minPixels, maxPixels int64) *SmartResize {
	return &SmartResize{Factor: factor, MinPixels: minPixels, MaxPixels: maxPixels, Interpolation: Bicubic, Backend: Pillow}
}

// maxPixels is the area of an image whose sides are both maxSide.
const maxPixels = maxSide * maxSide

// maxSmartAspect is smart_resize's bound of the longer side over the shorter.
const maxSmartAspect = 200

// Validate checks the factor, the areas, and that the backend has the interpolation.
func (o *SmartResize) Validate() error {
	if err := checkSide("factor", o.Factor); err != nil {
		return err
	}
	if o.MinPixels < 1 || o.MinPixels > maxPixels {
		return paramErr("min_pixels is %d, want 1 to 2^48", o.MinPixels)
	}
	if o.MaxPixels < 1 || o.MaxPixels > maxPixels {
		return paramErr("max_pixels is %d, want 1 to 2^48", o.MaxPixels)
	}
	return o.sampling().validate()
}

func (o *SmartResize) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// sized is the size of an image of h x w. Unknown sides give unknown sides.
func (o *SmartResize) sized(h, w int) (int, int, error) {
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	if long, short := max(h, w), min(h, w); float64(long)/float64(short) > maxSmartAspect {
		return 0, 0, inputErr("an image of %d x %d (height x width) has an aspect ratio of %.1f, want at most %d", h, w, float64(long)/float64(short), maxSmartAspect)
	}
	fh, fw, f := float64(h), float64(w), float64(o.Factor)
	// Products of sides are whole numbers below 2^53, so exact.
	area, least, most := float64(fh*fw), float64(o.MinPixels), float64(o.MaxPixels)
	nh, nw := float64(math.RoundToEven(fh/f)*f), float64(math.RoundToEven(fw/f)*f)
	switch got := float64(nh * nw); {
	case got > most:
		b := math.Sqrt(area / most)
		nh, nw = max(f, float64(math.Floor(fh/b/f)*f)), max(f, float64(math.Floor(fw/b/f)*f))
	case got < least:
		b := math.Sqrt(least / area)
		nh, nw = float64(math.Ceil(float64(fh*b)/f)*f), float64(math.Ceil(float64(fw*b)/f)*f)
	}
	return sides(h, w, nh, nw)
}

// Infer gives the input's description with the new size.
func (o *SmartResize) Infer(dst, in []tensor.Desc) error {
	return inferSized(dst, in, o.sized)
}

// Apply scales.
func (o *SmartResize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().apply(c, dst[0], src[0])
}

// Sampling is the op's parameters.
func (o *SmartResize) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale gives the size.
func (o *SmartResize) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	return wholly(o.sampling(), h, w, nh, nw), err
}
