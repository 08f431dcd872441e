package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// CenterCropFraction cuts a window out of an image's centre, whose sides are
// fractions of the image's shorter side s: int(Height*s) x int(Width*s), with
// the product in float64. A fraction above 1 pads the image with Fill, as
// CenterCrop does. A window without pixels is an ErrInput. It takes any dtype
// of fixed size, HWC or CHW, and keeps both. No value changes.
//
// Reference: transformers 5.23.0, center_crop of PerceiverImageProcessor
// (truncate) and PerceiverImageProcessorPil (floor).
type CenterCropFraction struct {
	Height       float64      `json:"height"`        // of the window, in shorter sides; above 0, at most 2^24
	Width        float64      `json:"width"`         // of the window, in shorter sides; above 0, at most 2^24
	CropRounding CropRounding `json:"crop_rounding"` // half_even, floor or truncate; default half_even
	// Fill is the value of the padding, in the image's own range: one for all
	// channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple CenterCropFraction

// NewCenterCropFraction returns the op with torchvision's rounding and a fill
// of 0.
func NewCenterCropFraction(height, width float64) *CenterCropFraction {
	return &CenterCropFraction{Height: height, Width: width, CropRounding: CropHalfEven, Fill: []float64{0}}
}

// Info describes the op.
func (*CenterCropFraction) Info() Info {
	return Info{
		Name: "center_crop_fraction", Version: 1, New: func() Op { return NewCenterCropFraction(0.875, 0.875) },
		Reference: "transformers 5.23.0 PerceiverImageProcessor.center_crop", Exactness: "0",
	}
}

// Validate checks the fractions, the rounding and the fill.
func (o *CenterCropFraction) Validate() error {
	for _, p := range []struct {
		name string
		v    float64
	}{{"height", o.Height}, {"width", o.Width}} {
		if !(p.v > 0 && p.v <= maxSide) {
			return paramErr("%s is %v, want a number above 0, at most %d", p.name, p.v, maxSide)
		}
	}
	if err := checkEnum("crop_rounding", o.CropRounding, cropRoundingNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// window returns the window's size for an image of h x w.
func (o *CenterCropFraction) window(h, w int) (int, int, error) {
	s := float64(min(h, w))
	return sides(h, w, math.Trunc(float64(o.Height*s)), math.Trunc(float64(o.Width*s)))
}

// Infer sets the output size.
func (o *CenterCropFraction) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], PadConstant, o.Fill); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	if h == tensor.Unknown || w == tensor.Unknown {
		dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
		return nil
	}
	h, w, err := o.window(h, w)
	if err != nil {
		return err
	}
	dst[0] = in[0].WithSize(h, w)
	return inferred(dst[0])
}

// Apply copies the window.
func (o *CenterCropFraction) Apply(c *Context, dst, src []*tensor.Tensor) error {
	top := o.CropRounding.start(src[0].Height(), dst[0].Height())
	left := o.CropRounding.start(src[0].Width(), dst[0].Width())
	return padTo(c, dst[0], src[0], -top, -left, PadConstant, o.Fill)
}

// Move cuts the window out of a column, as CenterCrop does.
func (o *CenterCropFraction) Move(d *Draw, r Role, from, to tensor.Desc) error {
	top, left := o.CropRounding.startOf(r, from, to)
	return moveCropped[CenterCropFraction](d, o, r, top, left, from, to)
}
