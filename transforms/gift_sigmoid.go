package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// GiftSigmoid changes the contrast by a sigmoid function, which keeps details
// in highlights and shadows. It takes a uint8 image of one, three or four
// channels, HWC or CHW, and keeps the description and alpha.
//
// With s(v) = 1/(1 + exp(|Factor|*(Midpoint-v))), a value v of 0 to 1 becomes
// (s(v)-s(0)) / (s(1)-s(0)) if Factor is positive. If it is negative, v becomes
// Midpoint - log(1/u-1)/|Factor| with u = (s(1)-s(0))*v + s(0), clipped to
// 0.00001..0.99999. Exponentials, logarithms and every other operation round to
// float32. The result is clipped and rounded half up. One channel becomes the
// luma 0.299r + 0.587g + 0.114b of the result for a gray pixel.
//
// Reference: gift 1.2.1, Sigmoid.
type GiftSigmoid struct {
	Midpoint float64 `json:"midpoint"` // midpoint of the contrast, 0 to 1; default 0.5
	Factor   float64 `json:"factor"`   // change of the contrast: -1000 to -0.001, 0 (none) or 0.001 to 1000
}

//msgp:tuple GiftSigmoid

// NewGiftSigmoid returns the op with midpoint 0.5.
func NewGiftSigmoid(factor float64) *GiftSigmoid { return &GiftSigmoid{0.5, factor} }

// Info describes the op.
func (*GiftSigmoid) Info() Info {
	return Info{
		Name: "gift_sigmoid", Version: 1, New: func() Op { return NewGiftSigmoid(5) }, InPlace: true,
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the bounds.
func (o *GiftSigmoid) Validate() error {
	if err := checkBounds("midpoint", o.Midpoint, 0, 1); err != nil {
		return err
	}
	if f := math.Abs(o.Factor); f != 0 && !(f >= 0.001 && f <= 1000) {
		return paramErr("factor is %v, want 0, 0.001 to 1000, or -1000 to -0.001", o.Factor)
	}
	return nil
}

// Infer keeps the description.
func (o *GiftSigmoid) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// of returns the new value.
func (o *GiftSigmoid) of(v float32) float32 {
	const least = 1e-5
	a, b := float32(o.Midpoint), float32(math.Abs(o.Factor))
	s := func(v float32) float32 {
		return 1 / (1 + float32(exactmath.Exp(float64(float32(b*(a-v))))))
	}
	low := s(0)
	scale := s(1) - low
	switch {
	case o.Factor == 0:
		return v
	case o.Factor > 0:
		return (s(v) - low) / scale
	}
	u := min(max(float32(scale*v)+low, least), 1-float32(least))
	return a - float32(exactmath.Log(float64(1/u-1)))/b
}

// Apply looks every value up in a table.
func (o *GiftSigmoid) Apply(c *Context, dst, src []*tensor.Tensor) error {
	ch := src[0].Channels()
	st, fresh := giftStateFor(c, *o, ch)
	if fresh {
		st.tables.set(ch, func(v float32, _ int) float32 { return o.of(v) })
	}
	return st.tables.apply(c, dst[0], src[0])
}

// Pointwise marks the op as Pointwise.
func (o *GiftSigmoid) Pointwise() {}
