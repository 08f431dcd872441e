package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomGray turns an image gray with a given probability; otherwise it does
// not change the image. It takes the images of ColorMatrix.
//
// Reference: MXNet 1.9.1, mx.image's RandomGrayAug. One number of [0, 1) is
// drawn. If it is below the probability, all channels become 0.21*R + 0.72*G +
// 0.07*B.
type RandomGray struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
}

//msgp:tuple RandomGray

func init() {
	Register(Info{
		Name: "random_gray", Version: 1, New: func() Op { return NewRandomGray(0.5) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	})
}

// NewRandomGray returns the op.
func NewRandomGray(probability float64) *RandomGray { return &RandomGray{probability} }

// Validate checks the probability.
func (o *RandomGray) Validate() error { return checkProbability(o.Probability) }

// Infer keeps the description.
func (o *RandomGray) Infer(dst, in []tensor.Desc) error { return (&ColorMatrix{}).Infer(dst, in) }

// Apply returns ErrNotDrawn.
func (o *RandomGray) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a ColorMatrix, or nothing.
func (o *RandomGray) Draw(d *Draw) error {
	if !d.Coin(o.Probability) {
		return nil
	}
	return emitOp(d, ColorMatrix{grayMatrix})
}
