package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// SmartResize scales an image so that both sides are multiples of Factor, the
// area is within MinPixels and MaxPixels, and the aspect ratio changes little.
// It takes a uint8 or float32 image of any number of channels, HWC or CHW, and
// keeps dtype, layout and channels. An image whose longer side is more than 200
// times the shorter is an ErrInput.
//
// The sides are round(h/Factor) and round(w/Factor) times Factor, half to even.
// If their product is above MaxPixels, let b = sqrt(h*w/MaxPixels): each side
// is floor(side/b/Factor), at least 1, times Factor. If the product is below
// MinPixels, let b = sqrt(MinPixels/(h*w)): each side is ceil(side*b/Factor)
// times Factor. All arithmetic is float64. If no multiples of Factor meet the
// bounds, the area lies outside them.
//
// Interpolation and Backend are those of Resize.
//
// Reference: smart_resize of transformers 5.23.0 (Qwen2-VL), with Image.resize
// of Pillow 13.0.0.
type SmartResize struct {
	Factor        int           `json:"factor"`        // in pixels, 1 to 2^24; Qwen2-VL: patch size times merge size, 28
	MinPixels     int64         `json:"min_pixels"`    // smallest area of the output, 1 to 2^48; Qwen2-VL: 3136
	MaxPixels     int64         `json:"max_pixels"`    // largest area of the output, 1 to 2^48; Qwen2-VL: 1003520
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bicubic
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple SmartResize

func init() {
	Register(Info{
		Name: "smart_resize", Version: 1, New: func() Op { return NewSmartResize(28, 56*56, 28*28*1280) },
		Reference: "transformers 5.23.0 smart_resize with Pillow 13.0.0; backends as resize", Exactness: "0",
	})
}

// NewSmartResize returns the op: bicubic, Pillow, antialiased.
func NewSmartResize(factor int, minPixels, maxPixels int64) *SmartResize {
	return &SmartResize{Factor: factor, MinPixels: minPixels, MaxPixels: maxPixels, Interpolation: Bicubic, Backend: Pillow}
}

// maxPixels is the largest area of an image.
const maxPixels = maxSide * maxSide

// maxSmartAspect is smart_resize's limit of the longer side divided by the
// shorter.
const maxSmartAspect = 200

// Validate checks the factor and the areas, and that the backend supports the
// interpolation.
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

// sized returns the new size of an image of h x w. Unknown sides stay unknown.
func (o *SmartResize) sized(h, w int) (int, int, error) {
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	if long, short := max(h, w), min(h, w); float64(long)/float64(short) > maxSmartAspect {
		return 0, 0, inputErr("an image of %d x %d (height x width) has an aspect ratio of %.1f, want at most %d", h, w, float64(long)/float64(short), maxSmartAspect)
	}
	fh, fw, f := float64(h), float64(w), float64(o.Factor)
	// Products of sides are integers below 2^53, so they are exact.
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

// Infer sets the output size.
func (o *SmartResize) Infer(dst, in []tensor.Desc) error {
	return inferSized(dst, in, o.sized)
}

// Apply scales.
func (o *SmartResize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().apply(c, dst[0], src[0])
}

// Sampling returns the op's parameters.
func (o *SmartResize) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the size.
func (o *SmartResize) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	return wholeImage(o.sampling(), h, w, nh, nw), err
}
