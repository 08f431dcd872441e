package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// CropRounding says where the odd pixel goes when a centred window does not
// divide evenly.
type CropRounding uint8

// The roundings.
const (
	// CropHalfEven is torchvision's and timm's: the window starts at
	// (size-window)/2 rounded half to even; a larger window has the odd pixel of
	// padding at the bottom and right.
	CropHalfEven CropRounding = iota
	// CropFloor is Hugging Face's: the window starts at (size-window)/2 rounded
	// down; a larger window has the odd pixel of padding at the top and left.
	CropFloor
)

var cropRoundingNames = []string{"half_even", "floor"}

func (r CropRounding) String() string {
	return enum.String("crop rounding", cropRoundingNames, r)
}

// MarshalText writes the name.
func (r CropRounding) MarshalText() ([]byte, error) {
	return enum.Format("crop rounding", cropRoundingNames, r)
}

// UnmarshalText reads the name.
func (r *CropRounding) UnmarshalText(t []byte) error {
	return enum.Parse(r, "crop rounding", cropRoundingNames, t)
}

// start is where a centred window of n begins in an image of size; below 0 if it is larger.
func (r CropRounding) start(size, n int) int {
	d := size - n
	half := d >> 1 // floor, also below 0
	switch {
	case r == CropFloor || d&1 == 0:
		return half
	case d < 0:
		return half + 1 // -floor((n-size)/2)
	}
	return half + half&1
}

// CenterCrop cuts the middle Height x Width out of an image: Height rows from
// (h-Height)/2 on, rounded by CropRounding, and likewise for the columns. Where
// the image is smaller it is padded with Fill, each axis by itself. It takes any
// dtype of fixed size and both layouts, and keeps them; no value is changed.
//
// Reference: torchvision 0.29.2 center_crop and timm 1.0.31 center_crop_or_pad
// (half_even), transformers 5.23.0 image_transforms.center_crop (floor).
type CenterCrop struct {
	Height       int          `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width        int          `json:"width"`         // likewise
	CropRounding CropRounding `json:"crop_rounding"` // usually half_even
	// Fill is the value of the padding, in the image's own range: one for all
	// channels or one for each. Usually 0. A value that the image's dtype cannot
	// hold is an ErrInput.
	Fill []float64 `json:"fill"`
}

//msgp:tuple CenterCrop

func init() {
	Register(Info{
		Name: "center_crop", Version: 1, New: func() Op { return NewCenterCrop(224, 224) },
		Reference: "torchvision 0.29.2 center_crop; transformers 5.23.0 center_crop", Exactness: "0",
	})
}

// NewCenterCrop rounds as torchvision and pads with zeros.
func NewCenterCrop(height, width int) *CenterCrop {
	return &CenterCrop{Height: height, Width: width, CropRounding: CropHalfEven, Fill: []float64{0}}
}

// Validate checks the size, the rounding and that there is a fill value.
func (o *CenterCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkEnum("crop_rounding", o.CropRounding, cropRoundingNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer gives the image Height x Width.
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

// Frame is the middle of the image.
func (o *CenterCrop) Frame(h, w int) Frame {
	return Frame{
		Top: o.CropRounding.start(h, o.Height), Left: o.CropRounding.start(w, o.Width),
		Height: o.Height, Width: o.Width, Fill: o.Fill,
	}
}
