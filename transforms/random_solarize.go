package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomSolarize inverts the values of a random interval. It takes uint8 images
// with any number of channels, HWC or CHW.
//
// Reference: MindSpore 2.10.0's RandomSolarize. Two whole numbers are drawn
// uniformly from Threshold. The values from the smaller number to the larger
// one are inverted. If the two are equal, the values from that number to 255
// are inverted. torchvision's RandomSolarize has a fixed threshold: it is a
// RandomApply of Solarize.
type RandomSolarize struct {
	Threshold Range `json:"threshold"` // whole numbers of 0 to 255; default 0 to 255
}

//msgp:tuple RandomSolarize

// NewRandomSolarize returns the op with thresholds from lo to hi.
func NewRandomSolarize(lo, hi int) *RandomSolarize {
	return &RandomSolarize{Range{float64(lo), float64(hi)}}
}

// Info describes the op.
func (*RandomSolarize) Info() Info {
	return Info{
		Name: "random_solarize", Version: 1, New: func() Op { return NewRandomSolarize(0, 255) },
		Reference: mindsporeDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the range.
func (o *RandomSolarize) Validate() error { return o.Threshold.checkWhole("threshold", 0, 255) }

// Infer keeps the description.
func (o *RandomSolarize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Uint8)
}

// Apply returns ErrNotDrawn.
func (o *RandomSolarize) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Solarize.
func (o *RandomSolarize) Draw(d *Draw) error {
	a, b := float64(o.Threshold.drawWhole(d)), float64(o.Threshold.drawWhole(d))
	lo, hi := min(a, b), max(a, b)
	if lo == hi {
		hi = 255
	}
	return emitOp(d, Solarize{Range{lo, hi}})
}
