package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Crop cuts a window of Height x Width, whose first pixel is row Top and column
// Left, out of an image. The window may reach outside, or lie there altogether;
// what is outside is 0. It takes any dtype of fixed size and both layouts, and
// keeps them; no value is changed.
//
// Reference: torchvision 0.29.2, crop; Pillow 13.0.0, Image.crop.
type Crop struct {
	Top    int `json:"top"`    // the window's first row, -2^24 to 2^24
	Left   int `json:"left"`   // its first column, likewise
	Height int `json:"height"` // its size, in pixels, 1 to 2^24
	Width  int `json:"width"`  // likewise
}

//msgp:tuple Crop

func init() {
	Register(Info{
		Name: "crop", Version: 1, New: func() Op { return NewCrop(0, 0, 224, 224) },
		Reference: "torchvision 0.29.2 crop, Pillow 13.0.0 Image.crop", Exactness: "0",
	})
}

// NewCrop cuts out height x width pixels from row top and column left on.
func NewCrop(top, left, height, width int) *Crop { return &Crop{top, left, height, width} }

// Validate checks the size.
func (o *Crop) Validate() error {
	for i, n := range []int{o.Top, o.Left} {
		if n < -maxSide || n > maxSide {
			return paramErr("%s is %d, want -%d to %[3]d", []string{"top", "left"}[i], n, maxSide)
		}
	}
	return checkSides(o.Height, o.Width)
}

// Infer gives the image Height x Width.
func (o *Crop) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// zeroFill is the fill of ops that have none as a parameter.
var zeroFill = []float64{0}

// Apply copies the window.
func (o *Crop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padTo(c, dst[0], src[0], -o.Top, -o.Left, PadConstant, zeroFill)
}

// Frame is the window.
func (o *Crop) Frame(_, _ int) Frame {
	return Frame{Top: o.Top, Left: o.Left, Height: o.Height, Width: o.Width, Fill: zeroFill}
}
