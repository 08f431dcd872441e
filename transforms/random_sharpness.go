package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomSharpness changes the sharpness by a random factor. It takes the images
// of AdjustSharpness with the same backend.
//
// Reference: MindSpore 2.10.0's RandomSharpness. The factor is drawn uniformly
// from Degrees. Arrays have the arithmetic of backend opencv, Pillow images
// that of pillow. torchvision's and MindSpore's RandomAdjustSharpness have a
// fixed factor: they are a RandomApply of AdjustSharpness.
type RandomSharpness struct {
	Degrees Range   `json:"degrees"` // of factors, 0 to 1e6; default 0.1 to 1.9
	Backend Backend `json:"backend"` // pillow, opencv or torch; default opencv
}

//msgp:tuple RandomSharpness
//sheet:random_sharpness {"degrees": [6, 9]}

// NewRandomSharpness returns the op with factors from lo to hi and MindSpore's
// arithmetic of arrays.
func NewRandomSharpness(lo, hi float64) *RandomSharpness {
	return &RandomSharpness{Range{lo, hi}, OpenCV}
}

// Info describes the op.
func (*RandomSharpness) Info() Info {
	return Info{
		Name: "random_sharpness", Version: 1, New: func() Op { return NewRandomSharpness(0.1, 1.9) },
		Reference: mindsporeDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the range and the backend.
func (o *RandomSharpness) Validate() error {
	if err := o.Degrees.check("degrees", 0, maxFactor); err != nil {
		return err
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *RandomSharpness) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantToned(in[0], o.Backend)
}

// Apply returns ErrNotDrawn.
func (o *RandomSharpness) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an AdjustSharpness.
func (o *RandomSharpness) Draw(d *Draw) error {
	return emitOp(d, AdjustSharpness{o.Degrees.draw(&d.Stream), o.Backend})
}
