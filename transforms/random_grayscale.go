package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomGrayscale turns an image gray with a given probability; otherwise it
// does not change the image. It takes a uint8 image of one or three channels,
// HWC or CHW, and keeps their number. With backend mxnet it takes the images of
// ColorMatrix.
//
// Reference: torchvision 0.29.2's RandomGrayscale; for backend mxnet, MXNet
// 1.9.1, mx.image's RandomGrayAug. One number of [0, 1) is drawn. If it is
// below the probability, the image becomes gray as with Grayscale. With backend
// mxnet all channels become 0.21*R + 0.72*G + 0.07*B.
type RandomGrayscale struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.1
	Backend     Backend `json:"backend"`     // see Grayscale, or mxnet; default pillow
}

//msgp:tuple RandomGrayscale

// NewRandomGrayscale returns the op with probability 0.1 and Pillow's
// arithmetic.
func NewRandomGrayscale() *RandomGrayscale { return &RandomGrayscale{0.1, Pillow} }

// Info describes the op.
func (*RandomGrayscale) Info() Info {
	return Info{
		Name: "random_grayscale", Version: 1, New: func() Op { return NewRandomGrayscale() },
		Reference: randomReference + "; " + mxnetDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the probability and the backend.
func (o *RandomGrayscale) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if o.Backend == MXNet {
		return nil
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *RandomGrayscale) Infer(dst, in []tensor.Desc) error {
	if o.Backend == MXNet {
		return (&ColorMatrix{}).Infer(dst, in)
	}
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

// Draw emits a Grayscale of three channels or a ColorMatrix, or nothing.
func (o *RandomGrayscale) Draw(d *Draw) error {
	if !d.Coin(o.Probability) || d.In[0].IsImage() && d.In[0].Channels() == 1 {
		return nil
	}
	if o.Backend == MXNet {
		return emitOp(d, ColorMatrix{grayMatrix})
	}
	return emitOp(d, Grayscale{Channels: 3, Backend: o.Backend})
}
