package transforms

import "github.com/infer-prep/infer-prep/tensor"

// GiftThreshold makes each pixel white if its luma exceeds a threshold, else
// black. The luma is 0.299r + 0.587g + 0.114b of values of 0 to 1, in float32
// from the left. It takes a uint8 image of one, three or four channels, HWC or
// CHW, and keeps the description and alpha. Threshold is for floats.
//
// Reference: gift 1.2.1, Threshold.
type GiftThreshold struct {
	Percentage float64 `json:"percentage"` // of the largest luma, 0 to 100; default 50
}

//msgp:tuple GiftThreshold

// NewGiftThreshold returns the op.
func NewGiftThreshold(percentage float64) *GiftThreshold { return &GiftThreshold{percentage} }

// Info describes the op.
func (*GiftThreshold) Info() Info {
	return Info{
		Name: "gift_threshold", Version: 1, New: func() Op { return NewGiftThreshold(50) }, InPlace: true,
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the percentage.
func (o *GiftThreshold) Validate() error { return checkBounds("percentage", o.Percentage, 0, 100) }

// Infer keeps the description.
func (o *GiftThreshold) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// giftLimit is a luma.
type giftLimit float32

func (l giftLimit) of(r, g, b float32) (x, y, z float32) {
	if float32(r*0.299)+float32(g*0.587)+float32(b*0.114) > float32(l) {
		return 1, 1, 1
	}
	return 0, 0, 0
}

// Apply computes every pixel.
func (o *GiftThreshold) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return applyGiftColor(c, giftLimit(float32(o.Percentage)/100), dst[0], src[0])
}
