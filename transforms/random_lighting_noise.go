package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomLightingNoise moves all colours of an image as LightingNoise does, with
// three alphas from a normal distribution of mean 0. It takes the images of
// LightingNoise and uses its arithmetic. The alphas are rounded to float32,
// except with pillow.
//
// Reference: MXNet 1.9.1's ImageRecordIter: pca_noise; MindSpore 2.10.0's
// RandomLighting, whose default is 0.05.
type RandomLightingNoise struct {
	SD      float64 `json:"sd"`      // standard deviation, 0 to 1e5; default 0.1
	Backend Backend `json:"backend"` // see LightingNoise; default mxnet
}

//msgp:tuple RandomLightingNoise
//sheet:random_lighting_noise {"sd": 0.8}

// NewRandomLightingNoise returns the op with MXNet's arithmetic.
func NewRandomLightingNoise(sd float64) *RandomLightingNoise {
	return &RandomLightingNoise{sd, MXNet}
}

// Info describes the op.
func (*RandomLightingNoise) Info() Info {
	return Info{
		Name: "random_lighting_noise", Version: 1, New: func() Op { return NewRandomLightingNoise(0.1) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the standard deviation and the backend.
func (o *RandomLightingNoise) Validate() error {
	if !(o.SD >= 0 && o.SD <= 1e5) {
		return paramErr("sd is %v, want 0 to 1e5", o.SD)
	}
	return checkLighting(o.Backend)
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
		alpha[i] = float64(d.Normal() * o.SD)
		if o.Backend != Pillow {
			alpha[i] = float64(float32(alpha[i]))
		}
	}
	return emitOp(d, LightingNoise{alpha, o.Backend})
}
