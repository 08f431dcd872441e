package transforms

import "github.com/infer-prep/infer-prep/tensor"

// TenCrop cuts the crops of FiveCrop out of an image and then those of the
// flipped image. It takes the images of FiveCrop, and its output is the same
// with ten crops.
//
// Reference: torchvision 0.29.2 ten_crop, with its outputs stacked.
type TenCrop struct {
	Height   int  `json:"height"`   // of a crop in pixels, 1 to 2^24
	Width    int  `json:"width"`    // of a crop in pixels, 1 to 2^24
	Vertical bool `json:"vertical"` // flip top and bottom in place of left and right; default false
}

//msgp:tuple TenCrop
//sheet:ten_crop {"height": 40, "width": 50}

// NewTenCrop returns the op with a horizontal flip.
func NewTenCrop(height, width int) *TenCrop { return &TenCrop{Height: height, Width: width} }

// Info describes the op.
func (*TenCrop) Info() Info {
	return Info{
		Name: "ten_crop", Version: 1, New: func() Op { return NewTenCrop(224, 224) },
		Reference: "torchvision 0.29.2 ten_crop", Exactness: "0",
	}
}

// Validate checks the size.
func (o *TenCrop) Validate() error { return checkSides(o.Height, o.Width) }

// Infer describes the crops.
func (o *TenCrop) Infer(dst, in []tensor.Desc) error {
	return inferCrops(dst, in, 10, o.Height, o.Width)
}

// Apply copies the crops.
func (o *TenCrop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	rest := fiveCrops(dst[0].Data, s, o.Height, o.Width, false, false)
	fiveCrops(rest, s, o.Height, o.Width, !o.Vertical, o.Vertical)
	return nil
}
