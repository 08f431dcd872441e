package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadToMultiple pads an image until its height and its width are multiples of
// Multiple. Sides that are multiples already do not grow, unless Next is set.
// It takes any dtype of fixed size, HWC or CHW, and keeps both. No value
// changes. A fill that the dtype cannot hold is an ErrInput.
//
// Reference: transformers 5.23.0, pad_image of DPTImageProcessorPil (center,
// constant); with Next, pad of Swin2SRImageProcessorPil (top_left, symmetric),
// and with Once of Swin2SRImageProcessor.
type PadToMultiple struct {
	Multiple int      `json:"multiple"` // of both sides, in pixels, 1 to 2^24; 14 and 32 are common
	Position Position `json:"position"` // of the image in the output; default center
	Mode     PadMode  `json:"mode"`     // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
	// Next makes a side that is a multiple already grow by Multiple. Default
	// false.
	Next bool `json:"next"`
	// Once makes a border an ErrInput that is wider than one reflection of the
	// image, as torchvision does. Default false: reflections alternate.
	Once bool `json:"once"`
}

//msgp:tuple PadToMultiple

// NewPadToMultiple returns the op that centres the image on zeros.
func NewPadToMultiple(multiple int) *PadToMultiple {
	return &PadToMultiple{Multiple: multiple, Position: Center, Mode: PadConstant, Fill: []float64{0}}
}

// Info describes the op.
func (*PadToMultiple) Info() Info {
	return Info{
		Name: "pad_to_multiple", Version: 1, New: func() Op { return NewPadToMultiple(32) },
		Reference: "transformers 5.23.0 DPTImageProcessorPil.pad_image, Swin2SRImageProcessorPil.pad", Exactness: "0",
	}
}

// Validate checks the multiple, the position, the mode and the fill.
func (o *PadToMultiple) Validate() error {
	if err := checkSide("multiple", o.Multiple); err != nil {
		return err
	}
	return checkBorder(o.Position, o.Mode, o.Fill)
}

// Infer rounds both sides up.
func (o *PadToMultiple) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	var sides [2]int
	for i, n := range [2]int{in[0].Height(), in[0].Width()} {
		if sides[i] = tensor.Unknown; n == tensor.Unknown {
			continue
		}
		border := mod(-n, o.Multiple)
		if border == 0 && o.Next {
			border = o.Multiple
		}
		before := o.Position.before(border)
		if err := o.Mode.checkReflection(o.Once, in[0], n, max(before, border-before)); err != nil {
			return err
		}
		sides[i] = n + border
	}
	dst[0] = in[0].WithSize(sides[0], sides[1])
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToMultiple) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padPlaced(c, dst[0], src[0], o.Position, o.Mode, o.Fill)
}

// checkReflection rejects a border that is wider than one reflection of an axis
// of n pixels of d, if single is set.
func (m PadMode) checkReflection(single bool, d tensor.Desc, n, border int) error {
	most := n
	switch {
	case !single || m == PadConstant || m == PadEdge:
		return nil
	case m == PadReflect:
		most--
	}
	if border > most {
		return inputErr("%v: a border of %d pixels in mode %v, want at most %d", d, border, m, most)
	}
	return nil
}

// Move pads a column as Pad does.
func (o *PadToMultiple) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePlaced[PadToMultiple](d, o, o.Position, o.Mode, r, from, to)
}
