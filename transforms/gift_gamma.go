package transforms

import (
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// GiftGamma corrects gamma: a value v of 0 to 1 becomes v^(1/Gamma). It takes a
// uint8 image of one, three or four channels, HWC or CHW, and keeps the
// description and alpha. A gamma above 1 lightens the image.
//
// The power is rounded to float32, and the result half up. One channel becomes
// the luma 0.299r + 0.587g + 0.114b of the result for a gray pixel.
//
// Reference: gift 1.2.1, Gamma.
type GiftGamma struct {
	Gamma float64 `json:"gamma"` // 0.01 to 100; 1 changes nothing
}

//msgp:tuple GiftGamma
//sheet:gift_gamma {"gamma": 1.8}

// NewGiftGamma returns the op.
func NewGiftGamma(gamma float64) *GiftGamma { return &GiftGamma{gamma} }

// Info describes the op.
func (*GiftGamma) Info() Info {
	return Info{
		Name: "gift_gamma", Version: 1, New: func() Op { return NewGiftGamma(1) }, InPlace: true,
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the gamma.
func (o *GiftGamma) Validate() error { return checkBounds("gamma", o.Gamma, 0.01, 100) }

// Infer keeps the description.
func (o *GiftGamma) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// Apply looks every value up in a table.
func (o *GiftGamma) Apply(c *Context, dst, src []*tensor.Tensor) error {
	ch := src[0].Channels()
	st, fresh := giftStateFor(c, *o, ch)
	if fresh {
		e := float64(1 / float32(o.Gamma))
		st.tables.set(ch, func(v float32, _ int) float32 {
			if v == 0 {
				return 0
			}
			return float32(exactmath.Exp(float64(e * exactmath.Log(float64(v)))))
		})
	}
	return st.tables.apply(c, dst[0], src[0])
}

// Pointwise marks the op as Pointwise.
func (o *GiftGamma) Pointwise() {}
