package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadWithMask adds a border to an image so that it is Height x Width, and tells
// which pixels are the image's. An image with a longer side is an ErrInput. It
// takes any dtype of fixed size and both layouts, and keeps them; no value is
// changed.
//
// Outputs: image; mask, of shape (height, width): 1 for a pixel of the image, 0
// for one of the border.
//
// Reference: transformers 5.23.0, pad of DetrImageProcessorPil (top_left,
// constant, int64), whose mask is pixel_mask. One image that is padded without a
// size (Height and Width 0) has a mask of ones.
type PadWithMask struct {
	Height   int      `json:"height"`   // of the output, in pixels, 1 to 2^24; 0: as high as the image
	Width    int      `json:"width"`    // likewise; 0: as wide as the image
	Position Position `json:"position"` // of the image in the output; usually top_left
	Mode     PadMode  `json:"mode"`     // usually constant
	// Fill is the value of constant borders, in the image's own range: one for
	// all channels or one for each. Usually 0. A value that the image's dtype
	// cannot hold is an ErrInput.
	Fill      []float64    `json:"fill"`
	MaskDType tensor.DType `json:"mask_dtype"` // any but bytes; usually int64
}

//msgp:tuple PadWithMask

func init() {
	Register(Info{
		Name: "pad_with_mask", Version: 1, New: func() Op { return NewPadWithMask(0, 0) },
		Out:       []string{"image", "mask"},
		Reference: "transformers 5.23.0 DetrImageProcessorPil.pad", Exactness: "0",
	})
}

// NewPadWithMask puts the image in the top left corner of zeros; the mask is int64.
func NewPadWithMask(height, width int) *PadWithMask {
	return &PadWithMask{Height: height, Width: width, Position: TopLeft, Mode: PadConstant, Fill: []float64{0}, MaskDType: tensor.Int64}
}

// Validate checks the size, the position, the mode, the mask's dtype and that there is a fill value.
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
	if !o.MaskDType.Valid() || o.MaskDType == tensor.Bytes {
		return paramErr("mask_dtype is %v, want one of fixed size", o.MaskDType)
	}
	return checkValues("fill", o.Fill)
}

// Infer gives the padded size, to image and mask.
func (o *PadWithMask) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	if o.Height != 0 && h > o.Height || o.Width != 0 && w > o.Width {
		return inputErr("%v is larger than %dx%d (height x width; 0 is no bound)", in[0], o.Height, o.Width)
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

// Apply copies the image, draws the border, and writes the mask.
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
