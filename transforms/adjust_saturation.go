package transforms

import "github.com/infer-prep/infer-prep/tensor"

// AdjustSaturation mixes every pixel with its gray value g. A factor f of 0
// returns a gray image, 1 the image, and more than 1 stronger colours. It takes
// a uint8 image of three channels, HWC or CHW, and keeps the description. An
// image of one channel is copied (only pillow and torch take it). Values range
// from 0 to 255.
//
// All arithmetic is float32 with each operation rounded, except that fma rounds
// a*b+c once. The result is clipped.
//
//   - Pillow: g + f*(v - g), truncated; g is Grayscale's pillow gray.
//   - Torch: fma(g, 1-f, v*f), truncated; g is Grayscale's torch gray with its
//     products and sums fused.
//   - OpenCV: fma(g, 1-f, v*f), rounded half to even; g is Grayscale's opencv
//     gray.
//   - MindSpore: fma(v, f, g*(1-f)), rounded half to even; g is Grayscale's
//     opencv gray.
//   - MXNet: v*f + g*(1-f), rounded half to even; g is (1868 R + 9617 G + 4899
//     B + 8192) >> 14. The weights of red and blue are exchanged, as in MXNet.
//
// Reference: Pillow 13.0.0, ImageEnhance.Color, which torchvision's
// adjust_saturation calls for a Pillow image; torchvision 0.29.2, v2's
// adjust_saturation of a uint8 tensor; MindSpore 2.10.0,
// vision.AdjustSaturation of an array, which calls OpenCV's cvtColor and
// addWeighted, and vision.RandomColor of an array for mindspore; MXNet 1.9.1,
// ImageRecordIter's saturation.
type AdjustSaturation struct {
	Factor  float64 `json:"factor"`  // 0 to 1e6 (mxnet: -1e6 to 1e6); 1 keeps the image
	Backend Backend `json:"backend"` // pillow, opencv, torch, mxnet or mindspore; default pillow
}

//msgp:tuple AdjustSaturation
//sheet:adjust_saturation {"factor": 2}

// NewAdjustSaturation returns the op with Pillow's arithmetic.
func NewAdjustSaturation(factor float64) *AdjustSaturation {
	return &AdjustSaturation{Factor: factor, Backend: Pillow}
}

// Info describes the op.
func (*AdjustSaturation) Info() Info {
	return Info{
		Name: "adjust_saturation", Version: 1, New: func() Op { return NewAdjustSaturation(1) }, InPlace: true,
		Reference: adjustReference, Exactness: "0",
	}
}

// Validate checks the factor and the backend.
func (o *AdjustSaturation) Validate() error {
	if o.Backend == MindSpore {
		return checkBounds("factor", o.Factor, 0, maxFactor)
	}
	return checkAdjust(o.Factor, o.Backend)
}

// Infer keeps the description.
func (o *AdjustSaturation) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply mixes each pixel with its gray value.
func (o *AdjustSaturation) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.Channels() == 1 {
		copyUnlessSame(dst[0], s)
		return nil
	}
	m, k := mixOf(o.Backend, o.Factor), grayOf(o.Backend)
	gray := c.Scratch(partLen)
	eachPart(c, dst[0], s, func(_ int, out, in colorPart) {
		g := gray[:len(in[0])]
		k.Row(g, in[0], in[1], in[2])
		for ch := range out {
			m.Row(out[ch], in[ch], g)
		}
	})
	return nil
}
