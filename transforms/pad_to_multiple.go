package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadToMultiple adds a border to an image so that its height and width are
// multiples of Multiple: the next ones, or its own. It takes any dtype of fixed
// size and both layouts, and keeps them; no value is changed.
//
// Reference: transformers 5.23.0, pad_image of DPTImageProcessorPil (center, constant).
type PadToMultiple struct {
	Multiple int      `json:"multiple"` // of both sides, in pixels, 1 to 2^24; usually 14 or 32
	Position Position `json:"position"` // of the image in the output; usually center or top_left
	Mode     PadMode  `json:"mode"`     // usually constant
	// Fill is the value of constant borders, in the image's own range: one for
	// all channels or one for each. Usually 0. A value that the image's dtype
	// cannot hold is an ErrInput.
	Fill []float64 `json:"fill"`
}

//msgp:tuple PadToMultiple

func init() {
	Register(Info{
		Name: "pad_to_multiple", Version: 1, New: func() Op { return NewPadToMultiple(32) },
		Reference: "transformers 5.23.0 DPTImageProcessorPil.pad_image", Exactness: "0",
	})
}

// NewPadToMultiple centres the image on zeros.
func NewPadToMultiple(multiple int) *PadToMultiple {
	return &PadToMultiple{Multiple: multiple, Position: Center, Mode: PadConstant, Fill: []float64{0}}
}

// Validate checks the multiple, the position, the mode and that there is a fill value.
func (o *PadToMultiple) Validate() error {
	if err := checkSide("multiple", o.Multiple); err != nil {
		return err
	}
	if err := checkEnum("position", o.Position, positionNames); err != nil {
		return err
	}
	if err := checkEnum("mode", o.Mode, padModeNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer rounds both sides up.
func (o *PadToMultiple) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	up := func(n int) int { return grown(n, mod(-n, o.Multiple)) }
	dst[0] = in[0].WithSize(up(in[0].Height()), up(in[0].Width()))
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToMultiple) Apply(c *Context, dst, src []*tensor.Tensor) error {
	top := o.Position.before(dst[0].Height() - src[0].Height())
	left := o.Position.before(dst[0].Width() - src[0].Width())
	return padTo(c, dst[0], src[0], top, left, o.Mode, o.Fill)
}
