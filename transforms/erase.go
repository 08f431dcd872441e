package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Erase overwrites a box of Height x Width pixels. The box's first pixel is at
// row Top and column Left. A box that exceeds the image is an ErrInput, and so
// is a value that the dtype cannot hold. It takes any dtype of fixed size, HWC
// or CHW, and keeps both.
//
// Reference: torchvision 0.29.2, erase, of a uint8 or float32 tensor; MindSpore
// 2.10.0, vision.Erase.
type Erase struct {
	Top    int `json:"top"`    // first row of the box, 0 to 2^24
	Left   int `json:"left"`   // first column of the box, 0 to 2^24
	Height int `json:"height"` // height of the box in pixels, 1 to 2^24
	Width  int `json:"width"`  // width of the box in pixels, 1 to 2^24
	// Value is the new value, in the image's own range: one for all channels or
	// one per channel. Default 0.
	Value []float64 `json:"value"`
}

//msgp:tuple Erase
//sheet:erase {"top": 20, "left": 40, "height": 30, "width": 40}

// NewErase returns the op for a box of height x width at (top, left) and a
// value of 0.
func NewErase(top, left, height, width int) *Erase {
	return &Erase{Top: top, Left: left, Height: height, Width: width, Value: []float64{0}}
}

// Info describes the op.
func (*Erase) Info() Info {
	return Info{
		Name: "erase", Version: 1, New: func() Op { return NewErase(0, 0, 1, 1) }, InPlace: true,
		Reference: "torchvision 0.29.2 erase", Exactness: "0",
	}
}

// Validate checks the box and the value.
func (o *Erase) Validate() error {
	if err := checkBox(o.Top, o.Left, o.Height, o.Width); err != nil {
		return err
	}
	return checkValues("value", o.Value)
}

// checkBox wants a box that starts at 0 or more and has sides of 1 or more.
func checkBox(top, left, height, width int) error {
	if top < 0 || left < 0 || top > maxSide || left > maxSide {
		return paramErr("top %d, left %d, want 0 to %d", top, left, maxSide)
	}
	return checkSides(height, width)
}

// wantBox rejects an image of known size that does not contain the box.
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

// Apply overwrites the box.
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
			kernel.RepeatPixel(g.row(dst[0].Data, p, o.Top+y)[o.Left*g.pixel:][:o.Width*g.pixel], pixel)
		}
	}
	return nil
}
