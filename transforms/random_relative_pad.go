package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomRelativePad puts an image at a random place on a canvas that is larger
// by a random factor, with a given probability. Otherwise the image does not
// change. It takes any dtype of fixed size, HWC or CHW, and keeps both. No
// value changes.
//
// One number of [0, 1) is drawn. If it is below the probability, the factor is
// drawn uniformly from 1 to MaxScale. A factor below 1.05 leaves the image as
// it is. Otherwise the places of the first column and of the first row are
// drawn uniformly, as fractions of the image's sides from 0 to the factor less
// 1: see RelativeWindow. All arithmetic is float32.
//
// Reference: MXNet 1.9.1 ImageDetRecordIter, rand_pad_prob and max_pad_scale.
type RandomRelativePad struct {
	Probability float64 `json:"probability"` // 0 to 1; default 1
	MaxScale    float64 `json:"max_scale"`   // largest factor of the sides, 1 to 1000; default 2
	// Fill is the value of the canvas, in the image's own range: one for all
	// channels or one per channel. Default 127.
	Fill []float64 `json:"fill"`
}

//msgp:tuple RandomRelativePad

// NewRandomRelativePad returns the op for canvases of up to maxScale times the
// image's sides. It always runs.
func NewRandomRelativePad(maxScale float64) *RandomRelativePad {
	return &RandomRelativePad{Probability: 1, MaxScale: maxScale, Fill: []float64{127}}
}

// Info describes the op.
func (*RandomRelativePad) Info() Info {
	return Info{
		Name: "random_relative_pad", Version: 1, New: func() Op { return NewRandomRelativePad(2) },
		Reference: "MXNet 1.9.1 ImageDetRecordIter (distribution of the draws)", Exactness: randomExactness,
	}
}

// Validate checks the probability, the factor and the fill.
func (o *RandomRelativePad) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if err := checkBounds("max_scale", o.MaxScale, 1, 1000); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer leaves the size unknown.
func (o *RandomRelativePad) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], PadConstant, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomRelativePad) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a RelativeWindow or nothing.
func (o *RandomRelativePad) Draw(d *Draw) error {
	if _, _, err := d.size(); err != nil || !d.Coin(o.Probability) {
		return err
	}
	scale := d.uniform32(1, float32(o.MaxScale))
	if scale < 1.05 {
		return nil
	}
	x, y := d.uniform32(0, scale-1), d.uniform32(0, scale-1)
	return emitOp(d, RelativeWindow{Top: float64(-y), Left: float64(-x), Height: float64(scale), Width: float64(scale), Fill: o.Fill})
}
