package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadToNextMultiple pads an image until its height and its width are the next
// multiples of Multiple. A side that is a multiple already grows by Multiple.
// It takes any dtype of fixed size, HWC or CHW, and keeps both. No value
// changes. A fill that the dtype cannot hold is an ErrInput.
//
// Reference: transformers 5.23.0, pad of Swin2SRImageProcessorPil (top_left,
// symmetric), and with Once of Swin2SRImageProcessor.
type PadToNextMultiple struct {
	Multiple int      `json:"multiple"` // of both sides, in pixels, 1 to 2^24; default 8
	Position Position `json:"position"` // of the image in the output; default top_left
	Mode     PadMode  `json:"mode"`     // default symmetric
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
	// Once makes a border an ErrInput that is wider than one reflection of the
	// image, as torchvision does. Default false: reflections alternate.
	Once bool `json:"once"`
}

//msgp:tuple PadToNextMultiple

func init() {
	Register(Info{
		Name: "pad_to_next_multiple", Version: 1, New: func() Op { return NewPadToNextMultiple(8) },
		Reference: "transformers 5.23.0 Swin2SRImageProcessorPil.pad", Exactness: "0",
	})
}

// NewPadToNextMultiple returns the op that reflects the image at the bottom and
// at the right.
func NewPadToNextMultiple(multiple int) *PadToNextMultiple {
	return &PadToNextMultiple{Multiple: multiple, Position: TopLeft, Mode: PadSymmetric, Fill: []float64{0}}
}

// Validate checks the multiple, the position, the mode and the fill.
func (o *PadToNextMultiple) Validate() error {
	if err := checkSide("multiple", o.Multiple); err != nil {
		return err
	}
	return checkBorder(o.Position, o.Mode, o.Fill)
}

// Infer makes both sides larger.
func (o *PadToNextMultiple) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	var sides [2]int
	for i, n := range [2]int{in[0].Height(), in[0].Width()} {
		if sides[i] = tensor.Unknown; n == tensor.Unknown {
			continue
		}
		border := o.Multiple - n%o.Multiple
		before := o.Position.before(border)
		if err := o.Mode.once(o.Once, in[0], n, max(before, border-before)); err != nil {
			return err
		}
		sides[i] = n + border
	}
	dst[0] = in[0].WithSize(sides[0], sides[1])
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToNextMultiple) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padPlaced(c, dst[0], src[0], o.Position, o.Mode, o.Fill)
}

// once rejects a border that is wider than one reflection of an axis of n
// pixels of d, if single is set.
func (m PadMode) once(single bool, d tensor.Desc, n, border int) error {
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
func (o *PadToNextMultiple) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePlaced[PadToNextMultiple](d, o, o.Position, o.Mode, r, from, to)
}
