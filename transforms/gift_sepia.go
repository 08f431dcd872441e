package transforms

import "github.com/infer-prep/infer-prep/tensor"

// GiftSepia tones an image in sepia. It takes a uint8 image of one, three or
// four channels, HWC or CHW, and keeps the description and alpha.
//
// With p = Percentage/100 and values of 0 to 1, the new colour is
//
//	r*(1-0.607p) + g*0.769p     + b*0.189p
//	r*0.349p     + g*(1-0.314p) + b*0.168p
//	r*0.272p     + g*0.534p     + b*(1-0.869p)
//
// computed in float32 from the left, clipped and rounded half up. One channel
// becomes the luma 0.299r + 0.587g + 0.114b of the new colour of a gray pixel.
//
// Reference: gift 1.2.1, Sepia.
type GiftSepia struct {
	Percentage float64 `json:"percentage"` // strength, 0 to 100; default 100
}

//msgp:tuple GiftSepia

// NewGiftSepia returns the op.
func NewGiftSepia(percentage float64) *GiftSepia { return &GiftSepia{percentage} }

// Info describes the op.
func (*GiftSepia) Info() Info {
	return Info{
		Name: "gift_sepia", Version: 1, New: func() Op { return NewGiftSepia(100) }, InPlace: true,
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the percentage.
func (o *GiftSepia) Validate() error { return checkBounds("percentage", o.Percentage, 0, 100) }

// Infer keeps the description.
func (o *GiftSepia) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// giftMatrix is a linear map of colours.
type giftMatrix [3][3]float32

func (m giftMatrix) of(r, g, b float32) (x, y, z float32) {
	x = float32(r*m[0][0]) + float32(g*m[0][1]) + float32(b*m[0][2])
	y = float32(r*m[1][0]) + float32(g*m[1][1]) + float32(b*m[1][2])
	z = float32(r*m[2][0]) + float32(g*m[2][1]) + float32(b*m[2][2])
	return x, y, z
}

// Apply computes every pixel.
func (o *GiftSepia) Apply(c *Context, dst, src []*tensor.Tensor) error {
	p := float32(o.Percentage) / 100
	m := giftMatrix{
		{1 - float32(0.607*p), float32(0.769 * p), float32(0.189 * p)},
		{float32(0.349 * p), 1 - float32(0.314*p), float32(0.168 * p)},
		{float32(0.272 * p), float32(0.534 * p), 1 - float32(0.869*p)},
	}
	return applyGiftColor(c, m, dst[0], src[0])
}
