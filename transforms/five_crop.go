package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// FiveCrop cuts the four corners and the centre of Height x Width out of an
// image: top left, top right, bottom left, bottom right, centre. It takes any
// dtype of fixed size, HWC or CHW. No value changes. The centre starts at row
// (h-Height)/2, rounded half to even; the columns follow the same rule. An
// image that is smaller than the crops is an ErrInput.
//
// The output has no layout. Its first axis counts the crops, and the others are
// those of an image.
//
// Reference: torchvision 0.29.2 five_crop, with its outputs stacked.
type FiveCrop struct {
	Height int `json:"height"` // of a crop in pixels, 1 to 2^24
	Width  int `json:"width"`  // of a crop in pixels, 1 to 2^24
}

//msgp:tuple FiveCrop
//sheet:five_crop {"height": 40, "width": 50}

// NewFiveCrop returns the op.
func NewFiveCrop(height, width int) *FiveCrop { return &FiveCrop{Height: height, Width: width} }

// Info describes the op.
func (*FiveCrop) Info() Info {
	return Info{
		Name: "five_crop", Version: 1, New: func() Op { return NewFiveCrop(224, 224) },
		Reference: "torchvision 0.29.2 five_crop", Exactness: "0",
	}
}

// Validate checks the size.
func (o *FiveCrop) Validate() error { return checkSides(o.Height, o.Width) }

// Infer describes the crops.
func (o *FiveCrop) Infer(dst, in []tensor.Desc) error {
	return inferCrops(dst, in, 5, o.Height, o.Width)
}

// inferCrops describes n crops of h x w.
func inferCrops(dst, in []tensor.Desc, n, h, w int) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	for i, side := range [2]int{d.Height(), d.Width()} {
		if side != tensor.Unknown && side < [2]int{h, w}[i] {
			return inputErr("%v, want at least %d x %d (height x width)", d, h, w)
		}
	}
	dst[0] = tiled(d.WithSize(h, w), n)
	return inferred(dst[0])
}

// Apply copies the crops.
func (o *FiveCrop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	fiveCrops(dst[0].Data, s, o.Height, o.Width, false, false)
	return nil
}

// fiveCrops writes the five crops of h x w of the dense image s, or those of
// the flipped image, and returns the rest of dst.
func fiveCrops(dst []byte, s *tensor.Tensor, h, w int, horizontal, vertical bool) []byte {
	bottom, right := s.Height()-h, s.Width()-w
	for _, at := range [5][2]int{
		{0, 0}, {0, right}, {bottom, 0}, {bottom, right}, {CropHalfEven.start(s.Height(), h), CropHalfEven.start(s.Width(), w)},
	} {
		if vertical {
			at[0] = bottom - at[0]
		}
		if horizontal {
			at[1] = right - at[1]
		}
		dst = copyWindow(dst, s, at[0], at[1], h, w, horizontal, vertical)
	}
	return dst
}

// copyWindow writes the window of h x w at (top, left) of the dense image s,
// flipped on request, and returns the rest of dst.
func copyWindow(dst []byte, s *tensor.Tensor, top, left, h, w int, horizontal, vertical bool) []byte {
	g := gridOf(s.Desc)
	line, step := w*g.pixel, g.width*g.pixel
	for p := range g.planes {
		from := kernel.Rows{Data: s.Data, At: ((p*g.height+top)*g.width + left) * g.pixel, Step: step}
		if vertical {
			from.At += (h - 1) * step
			from.Step = -step
		}
		if !horizontal {
			kernel.CopyRows(kernel.Rows{Data: dst, Step: line}, from, line, h)
			dst = dst[h*line:]
			continue
		}
		for range h {
			kernel.FlipRow(dst[:line], s.Data[from.At:][:line], g.pixel)
			dst = dst[line:]
			from.At += from.Step
		}
	}
	return dst
}
