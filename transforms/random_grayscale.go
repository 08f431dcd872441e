package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomGrayscale makes a uint8 image gray with a probability, and leaves it as it
// is otherwise. It takes one or three channels, which are kept, and both layouts.
//
// Reference: torchvision 0.29.2's RandomGrayscale: one number of [0, 1) is drawn,
// and the image is made gray, as Grayscale does, if it is below the probability.
type RandomGrayscale struct {
	Probability float64 `json:"probability"` // 0 to 1, usually 0.1
	Backend     Backend `json:"backend"`     // Grayscale's, usually pillow
}

//msgp:tuple RandomGrayscale

func init() {
	Register(Info{
		Name: "random_grayscale", Version: 1, New: func() Op { return NewRandomGrayscale() },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomGrayscale makes the op with probability 0.1 and Pillow's gray.
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

// Apply is not for random ops.
func (o *RandomGrayscale) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Grayscale of three channels, or nothing.
func (o *RandomGrayscale) Draw(d *Draw) error {
	if !d.Coin(o.Probability) || d.In[0].IsImage() && d.In[0].Channels() == 1 {
		return nil
	}
	op := Make[Grayscale](d)
	*op = Grayscale{Channels: 3, Backend: o.Backend}
	return d.Emit(op)
}
