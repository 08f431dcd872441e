package transforms

import "github.com/infer-prep/infer-prep/tensor"

// AlphaComposite draws a uint8 RGBA image over an opaque background and drops
// the alpha channel. It takes four channels, HWC or CHW, and returns uint8 with
// three channels.
//
// For a colour v over the background b with alpha a, let t = 128*(v*a +
// b*(255-a) + 128). The result is ((t>>8) + t) >> 15: the quotient by 255,
// rounded to nearest.
//
// Reference: Pillow 13.0.0, Image.alpha_composite over an opaque image of the
// background, then convert("RGB").
type AlphaComposite struct {
	// Background is the colour behind the image: one integer of 0 to 255 for
	// all three channels, or three. Default 255, white.
	Background []float64 `json:"background"`
}

//msgp:tuple AlphaComposite

// NewAlphaComposite returns the op with a white background.
func NewAlphaComposite() *AlphaComposite {
	return &AlphaComposite{Background: []float64{255, 255, 255}}
}

// Info describes the op.
func (*AlphaComposite) Info() Info {
	return Info{
		Name: "alpha_composite", Version: 1, New: func() Op { return NewAlphaComposite() },
		Reference: "Pillow 13.0.0 Image.alpha_composite", Exactness: "0",
	}
}

// Validate checks the background.
func (o *AlphaComposite) Validate() error {
	if n := len(o.Background); n != 1 && n != 3 {
		return paramErr("background has %d values, want 1 or 3", n)
	}
	for i, v := range o.Background {
		if !holds(tensor.Uint8, v) {
			return paramErr("background[%d] is %v, want a whole number, 0 to 255", i, v)
		}
	}
	return nil
}

// Infer takes four channels and returns three.
func (o *AlphaComposite) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	if err := wantChannels(in[0], 4); err != nil {
		return err
	}
	dst[0] = in[0].WithChannels(3)
	return nil
}

// Apply composites.
func (o *AlphaComposite) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	pixels := s.Height() * s.Width()
	inStep, inNext := strides(s.Desc)
	outStep, outNext := strides(dst[0].Desc)
	for ch := range 3 {
		b := uint32(channelValue(o.Background, ch))
		in, out, alpha := ch*inNext, ch*outNext, 3*inNext
		for range pixels {
			v, a := uint32(s.Data[in]), uint32(s.Data[alpha])
			t := 128 * (v*a + b*(255-a) + 128)
			dst[0].Data[out] = uint8((t>>8 + t) >> 15)
			in, out, alpha = in+inStep, out+outStep, alpha+inStep
		}
	}
	return nil
}
