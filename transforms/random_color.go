package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomColor changes the saturation by a random factor. It takes the images of
// AdjustSaturation with the same backend.
//
// Reference: MindSpore 2.10.0's RandomColor. The factor is drawn uniformly from
// Degrees. Arrays have the arithmetic of backend mindspore, Pillow images that
// of pillow.
type RandomColor struct {
	Degrees Range   `json:"degrees"` // of factors, 0 to 1e6; default 0.1 to 1.9
	Backend Backend `json:"backend"` // pillow, opencv, torch or mindspore; default mindspore
}

//msgp:tuple RandomColor

// NewRandomColor returns the op with factors from lo to hi and MindSpore's
// arithmetic of arrays.
func NewRandomColor(lo, hi float64) *RandomColor { return &RandomColor{Range{lo, hi}, MindSpore} }

// Info describes the op.
func (*RandomColor) Info() Info {
	return Info{
		Name: "random_color", Version: 1, New: func() Op { return NewRandomColor(0.1, 1.9) },
		Reference: mindsporeDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the range and the backend.
func (o *RandomColor) Validate() error {
	if err := o.Degrees.check("degrees", 0, maxFactor); err != nil {
		return err
	}
	if o.Backend == MindSpore {
		return nil
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *RandomColor) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply returns ErrNotDrawn.
func (o *RandomColor) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits an AdjustSaturation.
func (o *RandomColor) Draw(d *Draw) error {
	return emitOp(d, AdjustSaturation{o.Degrees.draw(&d.Stream), o.Backend})
}
