package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// CropRounding is the rule that places a centred window if the margins cannot
// be equal.
type CropRounding uint8

// The roundings.
const (
	// CropHalfEven is the rule of torchvision and timm. The window starts at
	// (size-window)/2, rounded half to even. If the window is larger than the
	// image, the odd pixel of padding is at the bottom and at the right.
	CropHalfEven CropRounding = iota
	// CropFloor is the rule of Hugging Face. The window starts at
	// (size-window)/2, rounded down. If the window is larger than the image,
	// the odd pixel of padding is at the top and at the left.
	CropFloor
	// CropTruncate is the rule of Hugging Face's torchvision backend. The
	// window starts at (size-window)/2, truncated. If the window is larger than
	// the image, the odd pixel of padding is at the bottom and at the right.
	CropTruncate
	// CropCeil is the rule of torchvision's pad with negative widths, as
	// transformers' Nougat uses it. The window starts at (size-window)/2,
	// rounded up. If the window is larger than the image, the odd pixel of
	// padding is at the bottom and at the right.
	CropCeil
)

var cropRoundingNames = []string{"half_even", "floor", "truncate", "ceil"}

func (r CropRounding) String() string {
	return enum.String("crop rounding", cropRoundingNames, r)
}

// MarshalText returns the name.
func (r CropRounding) MarshalText() ([]byte, error) {
	return enum.Format("crop rounding", cropRoundingNames, r)
}

// UnmarshalText parses the name.
func (r *CropRounding) UnmarshalText(t []byte) error {
	return enum.Parse(r, "crop rounding", cropRoundingNames, t)
}

// start returns the first index of a centred window of n in an axis of size. It
// is negative if the window is larger.
func (r CropRounding) start(size, n int) int {
	d := size - n
	half := d >> 1 // rounds down, also below 0
	switch {
	case r == CropTruncate:
		return d / 2
	case r == CropCeil:
		return half + d&1
	case r == CropFloor || d&1 == 0:
		return half
	case d < 0:
		return half + 1 // -floor((n-size)/2)
	}
	return half + half&1
}

// CenterCrop cuts the centre of Height x Width out of an image. The window
// starts at row (h-Height)/2, rounded by CropRounding; the columns follow the
// same rule. An axis shorter than the window is padded with Fill. It takes any
// dtype of fixed size, HWC or CHW, and keeps both. No value changes. A fill
// that the dtype cannot hold is an ErrInput.
//
// Reference: torchvision 0.29.2 center_crop and timm 1.0.31 center_crop_or_pad
// (half_even), transformers 5.23.0 image_transforms.center_crop (floor) and
// TorchvisionBackend.center_crop (truncate); torchvision 0.29.2 v2 pad (ceil).
type CenterCrop struct {
	Height       int          `json:"height"`        // output height in pixels, 1 to 2^24
	Width        int          `json:"width"`         // output width in pixels, 1 to 2^24
	CropRounding CropRounding `json:"crop_rounding"` // half_even, floor, truncate or ceil; default half_even
	// Fill is the value of the padding, in the image's own range: one for all
	// channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple CenterCrop
//sheet:center_crop {"height": 60, "width": 60}

// NewCenterCrop returns the op with torchvision's rounding and a fill of 0.
func NewCenterCrop(height, width int) *CenterCrop {
	return &CenterCrop{Height: height, Width: width, CropRounding: CropHalfEven, Fill: []float64{0}}
}

// Info describes the op.
func (*CenterCrop) Info() Info {
	return Info{
		Name: "center_crop", Version: 1, New: func() Op { return NewCenterCrop(224, 224) },
		Reference: "torchvision 0.29.2 center_crop; transformers 5.23.0 center_crop", Exactness: "0",
	}
}

// Validate checks the size, the rounding and the fill.
func (o *CenterCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkEnum("crop_rounding", o.CropRounding, cropRoundingNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer sets the output size.
func (o *CenterCrop) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], PadConstant, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// Apply copies the window.
func (o *CenterCrop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	top := o.CropRounding.start(src[0].Height(), o.Height)
	left := o.CropRounding.start(src[0].Width(), o.Width)
	return padTo(c, dst[0], src[0], -top, -left, PadConstant, o.Fill)
}

// Frame returns the centred window.
func (o *CenterCrop) Frame(h, w int) Frame {
	return Frame{
		Top: o.CropRounding.start(h, o.Height), Left: o.CropRounding.start(w, o.Width),
		Height: o.Height, Width: o.Width, Fill: o.Fill,
	}
}

// Move cuts the window out of a column. The fill of a mask is 0. With
// half_even, boxes and points follow torchvision: where the image is smaller
// than the window by an odd number, half of it is rounded to even, and so may
// differ by 1 from the padding of the image.
func (o *CenterCrop) Move(d *Draw, r Role, from, to tensor.Desc) error {
	top, left := o.CropRounding.startOf(r, from, to)
	return moveCropped[CenterCrop](d, o, r, top, left, from, to)
}

// startOf returns the first row and column of the window of size to for a
// column.
func (r CropRounding) startOf(role Role, from, to tensor.Desc) (top, left int) {
	start := r.start
	if r == CropHalfEven && role.Kind > RoleMask {
		start = func(size, n int) int {
			half := (size - n) >> 1
			if (size-n)&1 == 0 {
				return half
			}
			return half + half&1
		}
	}
	return start(from.Height(), to.Height()), start(from.Width(), to.Width())
}
