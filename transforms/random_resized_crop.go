package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomResizedCrop cuts a box of random size, shape and position out of an
// image and scales it to Height x Width. It takes the dtypes and the layouts of
// ResizedCrop and uses its arithmetic, with the same differences.
//
// Reference: torchvision 0.29.2's RandomResizedCrop. It draws boxes, up to ten
// times:
//
//   - The area is uniform in Scale times the image's area. The logarithm of the
//     aspect ratio (width by height) is uniform between the logarithms of
//     Ratio's bounds.
//   - The sides sqrt(area*ratio) and sqrt(area/ratio) are rounded half to even.
//   - If neither is 0 or larger than the image's, the first row and then the
//     first column are drawn, both uniformly.
//
// After ten failed attempts the box is the largest centred box whose ratio is
// within Ratio.
type RandomResizedCrop struct {
	Height        int           `json:"height"`        // output height in pixels, 1 to 2^24
	Width         int           `json:"width"`         // output width in pixels, 1 to 2^24
	Scale         Range         `json:"scale"`         // area of the box relative to the image, 0 to 100; default 0.08 to 1
	Ratio         Range         `json:"ratio"`         // aspect ratio of the box, width by height, 0.001 to 1000; default 3/4 to 4/3
	Interpolation Interpolation `json:"interpolation"` // default bilinear
	Backend       Backend       `json:"backend"`       // default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple RandomResizedCrop
//sheet:random_resized_crop {"height": 64, "width": 64}

// NewRandomResizedCrop returns the op with the default ranges: bilinear,
// Pillow, antialiased.
func NewRandomResizedCrop(height, width int) *RandomResizedCrop {
	return &RandomResizedCrop{
		Height: height, Width: width, Scale: Range{0.08, 1}, Ratio: Range{3.0 / 4, 4.0 / 3}, Interpolation: Bilinear, Backend: Pillow,
	}
}

// Info describes the op.
func (*RandomResizedCrop) Info() Info {
	return Info{
		Name: "random_resized_crop", Version: 1, New: func() Op { return NewRandomResizedCrop(224, 224) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the size, the ranges, and that the backend supports the
// interpolation.
func (o *RandomResizedCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkBoxes(o.Scale, 100, o.Ratio); err != nil {
		return err
	}
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}.validate()
}

// Infer sets the output size.
func (o *RandomResizedCrop) Infer(dst, in []tensor.Desc) error {
	if err := (sampling{o.Interpolation, o.Backend, !o.NoAntialias}).want(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomResizedCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a ResizedCrop.
func (o *RandomResizedCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	op := NewOp[ResizedCrop](d)
	*op = ResizedCrop{
		OutHeight: o.Height, OutWidth: o.Width, Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
	}
	op.Top, op.Left, op.Height, op.Width = drawBox(&d.Stream, h, w, o.Scale, o.Ratio)
	return d.Emit(op)
}

// checkBoxes checks the ranges that boxes are drawn from.
func checkBoxes(scale Range, most float64, ratio Range) error {
	if err := scale.check("scale", 0, most); err != nil {
		return err
	}
	return ratio.check("ratio", 0.001, 1000)
}

// boxTries is the number of attempts to draw a box.
const boxTries = 10

// drawBox draws a box in an image of h x w, as documented for
// RandomResizedCrop.
func drawBox(s *rng.Stream, h, w int, scale, ratio Range) (top, left, height, width int) {
	logs := Range{exactmath.Log(ratio.Min), exactmath.Log(ratio.Max)}
	for range boxTries {
		width, height = drawSides(s, h, w, scale, logs)
		if width > 0 && width <= w && height > 0 && height <= h {
			top = s.IntN(h - height + 1)
			left = s.IntN(w - width + 1)
			return top, left, height, width
		}
	}
	height, width = h, w
	switch have := float64(w) / float64(h); {
	case have < ratio.Min:
		height = int(math.RoundToEven(float64(w) / ratio.Min))
	case have > ratio.Max:
		width = int(math.RoundToEven(float64(h) * ratio.Max))
	}
	// Rounding does not make the box larger than the image, but it may make a
	// side 0.
	height, width = max(height, 1), max(width, 1)
	return (h - height) / 2, (w - width) / 2, height, width
}

// drawSides draws the two sides of a box for an image of h x w. The first is
// the longer one if the ratio is above 1. logs holds the logarithms of the
// ratio's bounds.
func drawSides(s *rng.Stream, h, w int, scale, logs Range) (a, b int) {
	area := float64(float64(h) * float64(w) * scale.draw(s))
	ratio := exactmath.Exp(logs.draw(s))
	return int(math.RoundToEven(math.Sqrt(float64(area * ratio)))), int(math.RoundToEven(math.Sqrt(area / ratio)))
}
