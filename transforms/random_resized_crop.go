package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomResizedCrop cuts a box of random size, shape and place out of an image and
// scales it to Height x Width. Dtypes, layouts, arithmetic and differences are those of ResizedCrop.
//
// Reference: torchvision 0.29.2's RandomResizedCrop. Up to ten times an area is drawn, uniform in
// Scale times the image's, then an aspect ratio (width by height), of which the logarithm is uniform
// between those of Ratio's ends. The sides sqrt(area*ratio) and sqrt(area/ratio) are rounded half to
// even; if they are neither 0 nor larger than the image's, the first row is drawn, all as likely,
// and then likewise the first column. After ten times it is the largest box in the image's middle
// whose ratio is within Ratio.
type RandomResizedCrop struct {
	Height        int           `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width         int           `json:"width"`         // likewise
	Scale         Range         `json:"scale"`         // of the box's area, 0 to 100, usually 0.08 to 1
	Ratio         Range         `json:"ratio"`         // of its aspect ratio, 0.001 to 1000, usually 3/4 to 4/3
	Interpolation Interpolation `json:"interpolation"` // usually bilinear
	Backend       Backend       `json:"backend"`       // usually pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; usually false
}

//msgp:tuple RandomResizedCrop

func init() {
	Register(Info{
		Name: "random_resized_crop", Version: 1, New: func() Op { return NewRandomResizedCrop(224, 224) },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomResizedCrop makes the op with the usual ranges: bilinear, Pillow, antialiased.
func NewRandomResizedCrop(height, width int) *RandomResizedCrop {
	return &RandomResizedCrop{
		Height: height, Width: width, Scale: Range{0.08, 1}, Ratio: Range{3.0 / 4, 4.0 / 3}, Interpolation: Bilinear, Backend: Pillow,
	}
}

// Validate checks the size, the ranges, and that the backend has the interpolation.
func (o *RandomResizedCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkBoxes(o.Scale, 100, o.Ratio); err != nil {
		return err
	}
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}.validate()
}

// Infer gives the image Height x Width.
func (o *RandomResizedCrop) Infer(dst, in []tensor.Desc) error {
	if err := wantSampled(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return nil
}

// Apply is not for random ops.
func (o *RandomResizedCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a ResizedCrop.
func (o *RandomResizedCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	op := Make[ResizedCrop](d)
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

// boxTries is how often a box is drawn before the image is taken as it is.
const boxTries = 10

// drawBox is a box in an image of h x w as RandomResizedCrop has it.
func drawBox(s *rng.Stream, h, w int, scale, ratio Range) (top, left, height, width int) {
	logs := Range{kernel.Log(ratio.Min), kernel.Log(ratio.Max)}
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
	// Rounding may not make it larger than the image, but leave nothing of a line.
	height, width = max(height, 1), max(width, 1)
	return (h - height) / 2, (w - width) / 2, height, width
}

// drawSides is the two sides of a box for an image of h x w: first the one that a
// ratio above 1 makes the longer. The ratio's logarithm is drawn.
func drawSides(s *rng.Stream, h, w int, scale, logs Range) (a, b int) {
	area := float64(float64(h) * float64(w) * scale.draw(s))
	ratio := kernel.Exp(logs.draw(s))
	return int(math.RoundToEven(math.Sqrt(float64(area * ratio)))), int(math.RoundToEven(math.Sqrt(area / ratio)))
}
