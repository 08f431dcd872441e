package transforms

import "github.com/infer-prep/infer-prep/tensor"

// GiftMinimum replaces each value with the least of its channel in a window
// around the pixel. The window is a square of Size x Size pixels, or those of
// its pixels whose distance from the centre is at most (Size-1)/2. Outside the
// image, the nearest border pixels count. It takes a uint8 image of one, three
// or four channels, HWC or CHW, and keeps the description. Alpha is filtered
// like the other channels.
//
// Reference: gift 1.2.1, Minimum.
type GiftMinimum struct {
	Size int  `json:"size"` // side of the window in pixels, odd, 1 to 255
	Disk bool `json:"disk"` // take a disk in place of a square; default false
}

//msgp:tuple GiftMinimum
//sheet:gift_minimum {"size": 5}

// NewGiftMinimum returns the op with a square window.
func NewGiftMinimum(size int) *GiftMinimum { return &GiftMinimum{Size: size} }

// Info describes the op.
func (*GiftMinimum) Info() Info {
	return Info{
		Name: "gift_minimum", Version: 1, New: func() Op { return NewGiftMinimum(3) },
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the size.
func (o *GiftMinimum) Validate() error { return checkWindow("size", o.Size) }

// Infer keeps the description.
func (o *GiftMinimum) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// Apply filters row by row.
func (o *GiftMinimum) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return rankMin.apply(c, dst[0], src[0], o.Size, o.Disk)
}
