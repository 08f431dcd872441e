package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomHLS adds random integers to the hue, the lightness and the saturation
// of an image. It takes the images of AdjustHLS and uses its arithmetic.
//
// For the hue, the saturation and the lightness, in this order, two numbers u
// and v of 0 to 1 are drawn. With n the largest allowed value, (u + 4v)/5 * 2n
// - n is computed in float32, truncated and added. Small values are slightly
// more likely than large ones.
//
// Reference: MXNet 1.9.1's ImageRecordIter: random_h, random_l and random_s.
type RandomHLS struct {
	H int `json:"h"` // largest change of the hue, 0 to 255; default 36
	L int `json:"l"` // largest change of the lightness, 0 to 255; default 50
	S int `json:"s"` // largest change of the saturation, 0 to 255; default 50
}

//msgp:tuple RandomHLS

// NewRandomHLS returns the op.
func NewRandomHLS(h, l, s int) *RandomHLS { return &RandomHLS{h, l, s} }

// Info describes the op.
func (*RandomHLS) Info() Info {
	return Info{
		Name: "random_hls", Version: 1, New: func() Op { return NewRandomHLS(36, 50, 50) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the range of the numbers.
func (o *RandomHLS) Validate() error {
	for i, v := range [3]int{o.H, o.L, o.S} {
		if v < 0 || v > 255 {
			return paramErr("%s is %d, want 0 to 255", []string{"h", "l", "s"}[i], v)
		}
	}
	return nil
}

// Infer keeps the description.
func (o *RandomHLS) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantColors(in[0])
}

// Apply returns ErrNotDrawn.
func (o *RandomHLS) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits an AdjustHLS.
func (o *RandomHLS) Draw(d *Draw) error {
	shift := func(most int) int {
		u := float32(d.Float64())
		x := (u + float32(4*float32(d.Float64()))) / 5
		return int(float32(float32(x*float32(most))*2) - float32(most))
	}
	h, s, l := shift(o.H), shift(o.S), shift(o.L)
	return emitOp(d, AdjustHLS{h, l, s})
}
