package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomGrayscale turns a uint8 image gray with a given probability; otherwise
// it does not change the image. It takes one or three channels, HWC or CHW, and
// keeps their number.
//
// Reference: torchvision 0.29.2's RandomGrayscale. One number of [0, 1) is
// drawn. If it is below the probability, the image becomes gray as with
// Grayscale.
type RandomGrayscale struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.1
	Backend     Backend `json:"backend"`     // see Grayscale; default pillow
}

//msgp:tuple RandomGrayscale

func init() {
	Register(Info{
		Name: "random_grayscale", Version: 1, New: func() Op { return NewRandomGrayscale() },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomGrayscale returns the op with probability 0.1 and Pillow's
// arithmetic.
func NewRandomGrayscale() *RandomGrayscale { return &RandomGrayscale{0.1, Pillow} }

// Validate checks the probability and the backend.
func (o *RandomGrayscale) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *RandomGrayscale) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	return wantChannels(in[0], 1, 3)
}

// Apply returns ErrNotDrawn.
func (o *RandomGrayscale) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Grayscale of three channels, or nothing.
func (o *RandomGrayscale) Draw(d *Draw) error {
	if !d.Coin(o.Probability) || d.In[0].IsImage() && d.In[0].Channels() == 1 {
		return nil
	}
	return emitOp(d, Grayscale{Channels: 3, Backend: o.Backend})
}
