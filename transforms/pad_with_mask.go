package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadWithMask pads an image to Height x Width and returns a mask of the
// original pixels. An image with a longer side is an ErrInput, and so is a fill
// that the dtype cannot hold. It takes any dtype of fixed size, HWC or CHW, and
// keeps both. No value changes.
//
// Outputs: image; mask, of shape (height, width): 1 for a pixel of the image, 0
// for a pixel of the border.
//
// Reference: transformers 5.23.0, pad of DetrImageProcessorPil (top_left,
// constant, int64), whose mask is pixel_mask. A single image that is padded
// without a size (Height and Width 0) has a mask of ones.
type PadWithMask struct {
	Height   int      `json:"height"`   // output height in pixels, 1 to 2^24; 0 keeps the height; default 0
	Width    int      `json:"width"`    // output width in pixels, 1 to 2^24; 0 keeps the width; default 0
	Position Position `json:"position"` // of the image in the output; default top_left
	Mode     PadMode  `json:"mode"`     // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill      []float64    `json:"fill"`
	MaskDType tensor.DType `json:"mask_dtype"` // any except bytes; default int64
}

//msgp:tuple PadWithMask
//sheet:pad_with_mask {"height": 112, "width": 120}

// NewPadWithMask returns the op that places the image in the top left corner of
// zeros. The mask is int64.
func NewPadWithMask(height, width int) *PadWithMask {
	return &PadWithMask{Height: height, Width: width, Position: TopLeft, Mode: PadConstant, Fill: []float64{0}, MaskDType: tensor.Int64}
}

// Info describes the op.
func (*PadWithMask) Info() Info {
	return Info{
		Name: "pad_with_mask", Version: 1, New: func() Op { return NewPadWithMask(0, 0) },
		Out:       []string{"image", "mask"},
		Reference: "transformers 5.23.0 DetrImageProcessorPil.pad", Exactness: "0",
	}
}

// Validate checks the size, the position, the mode, the mask's dtype and the
// fill.
func (o *PadWithMask) Validate() error {
	for _, p := range []struct {
		name string
		n    int
	}{{"height", o.Height}, {"width", o.Width}} {
		if p.n < 0 || p.n > maxSide {
			return paramErr("%s is %d, want 0 to %d", p.name, p.n, maxSide)
		}
	}
	if err := checkEnum("position", o.Position, positionNames); err != nil {
		return err
	}
	if err := checkEnum("mode", o.Mode, padModeNames); err != nil {
		return err
	}
	if err := checkElement("mask_dtype", o.MaskDType); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer sets the size of the image and the mask.
func (o *PadWithMask) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	if o.Height != 0 && h > o.Height || o.Width != 0 && w > o.Width {
		return inputErr("%v is larger than %dx%d (height x width; 0 means no limit)", in[0], o.Height, o.Width)
	}
	if o.Height != 0 {
		h = o.Height
	}
	if o.Width != 0 {
		w = o.Width
	}
	dst[0] = in[0].WithSize(h, w)
	dst[1] = tensor.Desc{DType: o.MaskDType, Shape: tensor.Dims(h, w)}
	if err := inferred(dst[0]); err != nil {
		return err
	}
	return inferred(dst[1])
}

// Apply copies the image, draws the border and writes the mask.
func (o *PadWithMask) Apply(c *Context, dst, src []*tensor.Tensor) error {
	h, w := src[0].Height(), src[0].Width()
	top, left := o.Position.before(dst[0].Height()-h), o.Position.before(dst[0].Width()-w)
	if err := padTo(c, dst[0], src[0], top, left, o.Mode, o.Fill); err != nil {
		return err
	}
	mask, size := dst[1].Data, o.MaskDType.Size()
	clear(mask)
	row := dst[0].Width() * size
	for x := range w {
		putNumber(mask[top*row+(left+x)*size:][:size], o.MaskDType, 1)
	}
	first := mask[top*row+left*size:][:w*size]
	for y := 1; y < h; y++ {
		copy(mask[(top+y)*row+left*size:], first)
	}
	return nil
}

// Move pads a column as Pad does.
func (o *PadWithMask) Move(d *Draw, r Role, from, to tensor.Desc) error {
	h, w := to.Height()-from.Height(), to.Width()-from.Width()
	c := NewOp[Pad](d)
	*c = Pad{Top: o.Position.before(h), Left: o.Position.before(w), Mode: o.Mode, Fill: o.Fill}
	c.Bottom, c.Right = h-c.Top, w-c.Left
	return c.Move(d, r, from, to)
}
