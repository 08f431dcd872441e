package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomElastic moves the pixels of an image by a random displacement that is
// smooth. Parameters and images are those of ElasticNoise.
//
// Reference: torchvision 0.29.2's ElasticTransform. The key of the noise is
// drawn.
type RandomElastic struct {
	AlphaX        float64       `json:"alpha_x"`       // see ElasticNoise; default 50
	AlphaY        float64       `json:"alpha_y"`       // see ElasticNoise; default 50
	SigmaX        float64       `json:"sigma_x"`       // see ElasticNoise; default 5
	SigmaY        float64       `json:"sigma_y"`       // see ElasticNoise; default 5
	Interpolation Interpolation `json:"interpolation"` // nearest or bilinear; default bilinear
	Fill          NumberList    `json:"fill"`          // as for Elastic; default 0
}

//msgp:tuple RandomElastic

// NewRandomElastic returns the op with the parameters of torchvision's
// ElasticTransform.
func NewRandomElastic() *RandomElastic {
	return &RandomElastic{AlphaX: 50, AlphaY: 50, SigmaX: 5, SigmaY: 5, Interpolation: Bilinear, Fill: NumberList{0}}
}

func (o *RandomElastic) noise(key uint64) ElasticNoise {
	return ElasticNoise{o.AlphaX, o.AlphaY, o.SigmaX, o.SigmaY, key, o.Interpolation, o.Fill}
}

// Info describes the op.
func (*RandomElastic) Info() Info {
	return Info{
		Name: "random_elastic", Version: 1, New: func() Op { return NewRandomElastic() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the parameters.
func (o *RandomElastic) Validate() error {
	e := o.noise(0)
	return e.Validate()
}

// Infer keeps the description.
func (o *RandomElastic) Infer(dst, in []tensor.Desc) error {
	e := o.noise(0)
	return e.Infer(dst, in)
}

// Apply returns ErrNotDrawn.
func (o *RandomElastic) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an ElasticNoise.
func (o *RandomElastic) Draw(d *Draw) error {
	op := NewOp[ElasticNoise](d)
	*op = o.noise(d.Uint64())
	return d.Emit(op)
}
