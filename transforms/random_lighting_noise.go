package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomLightingNoise moves all colours of an image as LightingNoise does, with
// three alphas from a normal distribution of mean 0. It takes the images of
// LightingNoise and uses its arithmetic.
//
// Reference: MXNet 1.9.1's ImageRecordIter: pca_noise.
type RandomLightingNoise struct {
	SD float64 `json:"sd"` // standard deviation, 0 to 1e5; default 0.1
}

//msgp:tuple RandomLightingNoise

func init() {
	Register(Info{
		Name: "random_lighting_noise", Version: 1, New: func() Op { return NewRandomLightingNoise(0.1) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	})
}

// NewRandomLightingNoise returns the op.
func NewRandomLightingNoise(sd float64) *RandomLightingNoise { return &RandomLightingNoise{SD: sd} }

// Validate checks the standard deviation.
func (o *RandomLightingNoise) Validate() error {
	if !(o.SD >= 0 && o.SD <= 1e5) {
		return paramErr("sd is %v, want 0 to 1e5", o.SD)
	}
	return nil
}

// Infer keeps the description.
func (o *RandomLightingNoise) Infer(dst, in []tensor.Desc) error {
	return (&LightingNoise{}).Infer(dst, in)
}

// Apply returns ErrNotDrawn.
func (o *RandomLightingNoise) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a LightingNoise.
func (o *RandomLightingNoise) Draw(d *Draw) error {
	var alpha LightingAlpha
	for i := range alpha {
		alpha[i] = float32(d.Normal() * o.SD)
	}
	op := NewOp[LightingNoise](d)
	*op = LightingNoise{alpha}
	return d.Emit(op)
}
