package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Crop cuts a window of Height x Width out of an image. The window's first
// pixel is at row Top and column Left. The window may extend beyond the image
// or lie outside it; pixels outside the image are 0. It takes any dtype of
// fixed size, HWC or CHW, and keeps both. No value changes.
//
// Reference: torchvision 0.29.2, crop; Pillow 13.0.0, Image.crop.
type Crop struct {
	Top    int `json:"top"`    // first row of the window, -2^24 to 2^24
	Left   int `json:"left"`   // first column of the window, -2^24 to 2^24
	Height int `json:"height"` // height of the window in pixels, 1 to 2^24
	Width  int `json:"width"`  // width of the window in pixels, 1 to 2^24
}

//msgp:tuple Crop
//sheet:crop {"top": 20, "left": 10, "height": 50, "width": 70}

// NewCrop returns the op for height x width pixels that start at row top and
// column left.
func NewCrop(top, left, height, width int) *Crop { return &Crop{top, left, height, width} }

// Info describes the op.
func (*Crop) Info() Info {
	return Info{
		Name: "crop", Version: 1, New: func() Op { return NewCrop(0, 0, 224, 224) },
		Reference: "torchvision 0.29.2 crop, Pillow 13.0.0 Image.crop", Exactness: "0",
	}
}

// Validate checks the position and the size.
func (o *Crop) Validate() error { return checkPlace(o.Top, o.Left, o.Height, o.Width) }

// checkPlace checks the position and the size of a window.
func checkPlace(top, left, height, width int) error {
	for i, n := range []int{top, left} {
		if n < -maxSide || n > maxSide {
			return paramErr("%s is %d, want -%d to %[3]d", []string{"top", "left"}[i], n, maxSide)
		}
	}
	return checkSides(height, width)
}

// Infer sets the output size.
func (o *Crop) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// zeroFill is the fill of ops without a fill parameter.
var zeroFill = []float64{0}

// Apply copies the window.
func (o *Crop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padTo(c, dst[0], src[0], -o.Top, -o.Left, PadConstant, zeroFill)
}

// Frame returns the window.
func (o *Crop) Frame(_, _ int) Frame {
	return Frame{Top: o.Top, Left: o.Left, Height: o.Height, Width: o.Width, Fill: zeroFill}
}

// Move cuts the window out of a column.
func (o *Crop) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return moveCropped[Crop](d, o, r, o.Top, o.Left, from, to)
}
