package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Erase overwrites a box of an image, of Height x Width, whose first pixel is row
// Top and column Left. A box that does not lie within the image is an ErrInput. It
// takes any dtype of fixed size and both layouts, and keeps them.
//
// Reference: torchvision 0.29.2, erase, of a uint8 or float32 tensor; MindSpore
// 2.10.0, vision.Erase.
type Erase struct {
	Top    int `json:"top"`    // the box's first row, 0 to 2^24
	Left   int `json:"left"`   // its first column, likewise
	Height int `json:"height"` // its size, in pixels, 1 to 2^24
	Width  int `json:"width"`  // likewise
	// Value is what the box becomes, in the image's own range: one for all channels
	// or one for each. Usually 0. A value that the image's dtype cannot hold is an ErrInput.
	Value []float64 `json:"value"`
}

//msgp:tuple Erase

func init() {
	Register(Info{
		Name: "erase", Version: 1, New: func() Op { return NewErase(0, 0, 1, 1) }, InPlace: true,
		Reference: "torchvision 0.29.2 erase", Exactness: "0",
	})
}

// NewErase makes the box of height x width at (top, left) 0.
func NewErase(top, left, height, width int) *Erase {
	return &Erase{Top: top, Left: left, Height: height, Width: width, Value: []float64{0}}
}

// Validate checks the box and that there is a value.
func (o *Erase) Validate() error {
	if err := checkBox(o.Top, o.Left, o.Height, o.Width); err != nil {
		return err
	}
	return checkValues("value", o.Value)
}

// checkBox wants a box that begins at 0 or more, with sides of 1 or more.
func checkBox(top, left, height, width int) error {
	if top < 0 || left < 0 || top > maxSide || left > maxSide {
		return paramErr("top %d, left %d, want 0 to %d", top, left, maxSide)
	}
	return checkSides(height, width)
}

// wantBox refuses an image of known size that the box does not lie within.
func wantBox(d tensor.Desc, top, left, height, width int) error {
	h, w := d.Height(), d.Width()
	if h != tensor.Unknown && top+height > h || w != tensor.Unknown && left+width > w {
		return inputErr("%v, want at least %d x %d (height x width) for the box", d, top+height, left+width)
	}
	return nil
}

// Infer keeps the description.
func (o *Erase) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if err := wantBox(in[0], o.Top, o.Left, o.Height, o.Width); err != nil {
		return err
	}
	return wantFill(in[0], "value", o.Value)
}

// Apply overwrites.
func (o *Erase) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copyUnlessSame(dst[0], s)
	g := gridOf(s.Desc)
	pixels := fillPixel(c, s.Desc, o.Value)
	for p := range g.planes {
		pixel := pixels[p*g.pixel:][:g.pixel]
		for y := range o.Height {
			repeat(g.row(dst[0].Data, p, o.Top+y)[o.Left*g.pixel:][:o.Width*g.pixel], pixel)
		}
	}
	return nil
}
