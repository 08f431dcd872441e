package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// PadSqrt pads an image on all sides. An image of h rows gets
// int(sqrt(h/2)*Factor) rows above and as many below. The same rule gives the
// columns on the left and on the right. The arithmetic is float64. It takes any
// dtype of fixed size, HWC or CHW, and keeps both. No value changes. A fill
// that the dtype cannot hold is an ErrInput.
//
// Reference: transformers 5.23.0, pad_image of ZoeDepthImageProcessorPil
// (reflect, Factor 3), and with Once of ZoeDepthImageProcessor.
type PadSqrt struct {
	Factor float64 `json:"factor"` // 0 to 2^12; default 3
	Mode   PadMode `json:"mode"`   // default reflect
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
	// Once makes a border an ErrInput that is wider than one reflection of the
	// image, as torchvision does. Default false: reflections alternate.
	Once bool `json:"once"`
}

//msgp:tuple PadSqrt

// NewPadSqrt returns the op that reflects the image.
func NewPadSqrt(factor float64) *PadSqrt {
	return &PadSqrt{Factor: factor, Mode: PadReflect, Fill: []float64{0}}
}

// maxSqrtFactor keeps the border below 2^24 pixels.
const maxSqrtFactor = 1 << 12

// Info describes the op.
func (*PadSqrt) Info() Info {
	return Info{
		Name: "pad_sqrt", Version: 1, New: func() Op { return NewPadSqrt(3) },
		Reference: "transformers 5.23.0 ZoeDepthImageProcessorPil.pad_image", Exactness: "0",
	}
}

// Validate checks the factor, the mode and the fill.
func (o *PadSqrt) Validate() error {
	if !(o.Factor >= 0 && o.Factor <= maxSqrtFactor) {
		return paramErr("factor is %v, want 0 to %d", o.Factor, maxSqrtFactor)
	}
	if err := checkEnum("mode", o.Mode, padModeNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// border returns the width of the border at one end of an axis of n pixels.
func (o *PadSqrt) border(n int) int { return int(float64(math.Sqrt(float64(n)/2) * o.Factor)) }

// Infer adds the border to the size.
func (o *PadSqrt) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	var sides [2]int
	for i, n := range [2]int{in[0].Height(), in[0].Width()} {
		if sides[i] = tensor.Unknown; n == tensor.Unknown {
			continue
		}
		if n > maxSide {
			return inputErr("%v, want sides of at most %d", in[0], maxSide)
		}
		if err := o.Mode.checkReflection(o.Once, in[0], n, o.border(n)); err != nil {
			return err
		}
		sides[i] = n + 2*o.border(n)
	}
	dst[0] = in[0].WithSize(sides[0], sides[1])
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadSqrt) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padTo(c, dst[0], src[0], o.border(src[0].Height()), o.border(src[0].Width()), o.Mode, o.Fill)
}

// Move pads a column as Pad does.
func (o *PadSqrt) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePadded[PadSqrt](d, o, o.Mode, r, o.border(from.Height()), o.border(from.Width()), from, to)
}
