package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ConcatChannels appends the channels of a second image to those of the first.
// Both must have the same dtype, layout, height and width, of any dtype of
// fixed size, HWC or CHW. No value changes.
//
// Reference: NumPy 2.4.6, concatenate along the channels, as transformers
// 5.23.0 joins VitMatte's image and trimap.
type ConcatChannels struct{}

//msgp:tuple ConcatChannels

// NewConcatChannels returns the op.
func NewConcatChannels() *ConcatChannels { return &ConcatChannels{} }

// Info describes the op.
func (*ConcatChannels) Info() Info {
	return Info{
		Name: "concat_channels", Version: 1, New: func() Op { return NewConcatChannels() },
		In:        []string{"image", "image2"},
		Reference: "NumPy 2.4.6 concatenate", Exactness: "0",
	}
}

// Validate accepts the op, which has no parameters.
func (o *ConcatChannels) Validate() error { return nil }

// Infer adds the numbers of channels.
func (o *ConcatChannels) Infer(dst, in []tensor.Desc) error {
	for _, e := range in {
		if err := wantImage(e); err != nil {
			return err
		}
	}
	d := in[0]
	if in[1].DType != d.DType || in[1].Layout != d.Layout {
		return inputErr("%v and %v, want the same dtype and layout", d, in[1])
	}
	h, err := agreed(d.Height(), in[1].Height(), in)
	if err != nil {
		return err
	}
	w, err := agreed(d.Width(), in[1].Width(), in)
	if err != nil {
		return err
	}
	channels := tensor.Unknown
	if a, b := d.Channels(), in[1].Channels(); a != tensor.Unknown && b != tensor.Unknown {
		if a > maxSide || b > maxSide {
			return inputErr("%v and %v, want at most %d channels", d, in[1], maxSide)
		}
		channels = a + b
	}
	dst[0] = tensor.Image(d.DType, d.Layout, h, w, channels)
	return inferred(dst[0])
}

// agreed returns the size of an axis that two images must share.
func agreed(a, b int, in []tensor.Desc) (int, error) {
	switch {
	case a == tensor.Unknown:
		return b, nil
	case b == tensor.Unknown || a == b:
		return a, nil
	}
	return 0, inputErr("%v and %v, want the same size", in[0], in[1])
}

// Apply copies the channels.
func (o *ConcatChannels) Apply(c *Context, dst, src []*tensor.Tensor) error {
	total := dst[0].Channels() * dst[0].DType.Size() // bytes of a pixel
	at := 0
	for _, t := range src {
		s, err := c.Dense(t)
		if err != nil {
			return err
		}
		if s.Layout == tensor.CHW {
			at += copy(dst[0].Data[at:], s.Data)
			continue
		}
		n := s.Channels() * s.DType.Size()
		for i := range s.Height() * s.Width() {
			copy(dst[0].Data[i*total+at:][:n], s.Data[i*n:])
		}
		at += n
	}
	return nil
}
