package transforms

import (
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Luma sets the three channels of an RGB image to its luma, 0.2989 R + 0.587 G
// + 0.114 B, in float32. An image whose channels are equal at every pixel does
// not change; the weights sum to less than 1, so its luma would be another. It
// takes uint8 or float32 with three channels, HWC or CHW, and keeps dtype and
// layout. uint8 is truncated.
//
// Grayscale has the rules of other libraries.
//
// Reference: transformers 5.23.0, convert_to_grayscale of SuperPoint and
// LightGlue, in NumPy 2.4.6, and fused as torchvision 0.29.2's v2 computes on a
// CPU with FMA.
type Luma struct {
	Fused bool `json:"fused"` // add the weighted green and blue with one rounding each; default false
}

//msgp:tuple Luma

// NewLuma returns the op that rounds every product and sum.
func NewLuma() *Luma { return &Luma{} }

// Info describes the op.
func (*Luma) Info() Info {
	return Info{
		Name: "luma", Version: 1, New: func() Op { return NewLuma() }, InPlace: true,
		Reference: "transformers 5.23.0 convert_to_grayscale; torchvision 0.29.2 v2 rgb_to_grayscale (fused)", Exactness: "0",
	}
}

// Validate accepts both values of the only parameter.
func (o *Luma) Validate() error { return nil }

// Infer returns the input's description.
func (o *Luma) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	dst[0] = in[0]
	return wantChannels(in[0], 3)
}

// The weights of red, green and blue.
const (
	lumaRed   = float32(0.2989)
	lumaGreen = float32(0.587)
	lumaBlue  = float32(0.114)
)

// lumaPlain rounds every product and sum.
func lumaPlain(r, g, b float32) float32 {
	return float32(float32(r*lumaRed)+float32(g*lumaGreen)) + float32(b*lumaBlue)
}

// lumaFused rounds once for red, once with green and once with blue.
func lumaFused(r, g, b float32) float32 {
	rg := exactmath.Add32(float64(float64(g)*float64(lumaGreen)), float32(r*lumaRed))
	return exactmath.Add32(float64(float64(b)*float64(lumaBlue)), rg)
}

// Apply computes the luma.
func (o *Luma) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Uint8 {
		k := &kernel.GrayTorch
		if o.Fused {
			k = &kernel.GrayTorchFused
		}
		if isGray(s.Data, s.Desc) {
			copyUnlessSame(dst[0], s)
			return nil
		}
		gray := c.Scratch(s.Height() * s.Width())
		grayValues(c, gray, s, k)
		setChannels(dst[0], gray)
		return nil
	}
	luma := lumaPlain
	if o.Fused {
		luma = lumaFused
	}
	setLuma(tensor.View[float32](dst[0]), tensor.View[float32](s), s.Desc, luma)
	return nil
}

// setLuma writes the luma of src, of description d, to all channels of dst,
// unless src is gray. The two may be the same memory.
func setLuma(dst, src []float32, d tensor.Desc, luma func(r, g, b float32) float32) {
	if isGray(src, d) {
		copy(dst, src)
		return
	}
	step, next := strides(d)
	for i := range d.Height() * d.Width() {
		p, q := src[i*step:], dst[i*step:]
		v := luma(p[0], p[next], p[2*next])
		q[0], q[next], q[2*next] = v, v, v
	}
}

// isGray reports whether the channels of an image are equal at every pixel.
func isGray[T uint8 | float32](src []T, d tensor.Desc) bool {
	step, next := strides(d)
	for i := range d.Height() * d.Width() {
		p := src[i*step:]
		if p[0] != p[next] || p[next] != p[2*next] {
			return false
		}
	}
	return true
}
