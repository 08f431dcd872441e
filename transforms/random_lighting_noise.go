package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomLightingNoise moves all colours of an image by LightingNoise, whose images and arithmetic it has, with
// three alphas drawn from the normal distribution of mean 0.
//
// Reference: MXNet 1.9.1's ImageRecordIter: pca_noise.
type RandomLightingNoise struct {
	SD float64 `json:"sd"` // the standard deviation, 0 to 1e5, usually 0.1
}

//msgp:tuple RandomLightingNoise

func init() {
	Register(Info{
		Name: "random_lighting_noise", Version: 1, New: func() Op { return NewRandomLightingNoise(0.1) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	})
}

// NewRandomLightingNoise makes the op.
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

// Apply is not for random ops.
func (o *RandomLightingNoise) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a LightingNoise.
func (o *RandomLightingNoise) Draw(d *Draw) error {
	var alpha LightingAlpha
	for i := range alpha {
		alpha[i] = float32(d.Normal() * o.SD)
	}
	op := Make[LightingNoise](d)
	*op = LightingNoise{alpha}
	return d.Emit(op)
}
