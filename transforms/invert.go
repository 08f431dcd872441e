package transforms

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/tensor"
)

// Invert turns every uint8 value v into 255-v, including alpha. It takes any
// number of channels, HWC or CHW, and keeps the description.
//
// Reference: torchvision 0.29.2, invert; Pillow 13.0.0, ImageOps.invert.
type Invert struct{}

//msgp:tuple Invert

// NewInvert returns the op.
func NewInvert() *Invert { return &Invert{} }

// Info describes the op.
func (*Invert) Info() Info {
	return Info{
		Name: "invert", Version: 1, New: func() Op { return NewInvert() }, InPlace: true,
		Reference: "torchvision 0.29.2 invert, Pillow 13.0.0 ImageOps.invert", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *Invert) Validate() error { return nil }

// Infer keeps the description.
func (o *Invert) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Uint8)
}

// Apply inverts.
func (o *Invert) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	out := dst[0].Data
	in := s.Data[:len(out)]
	for len(in) >= 8 {
		binary.NativeEndian.PutUint64(out, ^binary.NativeEndian.Uint64(in))
		in, out = in[8:], out[8:]
	}
	for i, v := range in {
		out[i] = ^v
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Invert) Pointwise() {}
