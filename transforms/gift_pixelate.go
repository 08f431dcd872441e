package transforms

import "github.com/infer-prep/infer-prep/tensor"

// GiftPixelate replaces each block of Size x Size pixels with its mean. Blocks
// at the right and the bottom border may be smaller. It takes a uint8 image of
// one, three or four channels, HWC or CHW, and keeps the description. Alpha is
// averaged like the other channels.
//
// Values are float32 from 0 to 1. They are added row by row and divided by the
// number of pixels; each operation rounds to float32. The mean is rounded half
// up. One channel is the luma 0.299*v + 0.587*v + 0.114*v of the mean v.
//
// Reference: gift 1.2.1, Pixelate.
type GiftPixelate struct {
	Size int `json:"size"` // side of a block in pixels, 1 to 4096
}

//msgp:tuple GiftPixelate

// maxBlock bounds a block, so that a float32 holds the number of its pixels.
const maxBlock = 4096

// NewGiftPixelate returns the op.
func NewGiftPixelate(size int) *GiftPixelate { return &GiftPixelate{size} }

// Info describes the op.
func (*GiftPixelate) Info() Info {
	return Info{
		Name: "gift_pixelate", Version: 1, New: func() Op { return NewGiftPixelate(8) },
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the size.
func (o *GiftPixelate) Validate() error {
	if o.Size < 1 || o.Size > maxBlock {
		return paramErr("size is %d, want 1 to %d", o.Size, maxBlock)
	}
	return nil
}

// Infer keeps the description.
func (o *GiftPixelate) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// Apply averages one row of blocks at a time.
func (o *GiftPixelate) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := giftRowsOf(s), giftRowsOf(dst[0])
	line := tensor.Cast[float32](c.Scratch(4 * in.w))
	sums := tensor.Cast[float32](c.Scratch(4 * ((in.w-1)/o.Size + 1)))
	for top := 0; top < in.h; top += o.Size {
		end := min(top+o.Size, in.h)
		for ch := range in.ch {
			clear(sums)
			for y := top; y < end; y++ {
				in.load(line, y, ch)
				for i := range sums {
					sum := sums[i]
					for _, v := range line[i*o.Size : min((i+1)*o.Size, in.w)] {
						sum += v
					}
					sums[i] = sum
				}
			}
			for i, sum := range sums {
				block := line[i*o.Size : min((i+1)*o.Size, in.w)]
				mean := sum / float32(len(block)*(end-top))
				for x := range block {
					block[x] = mean
				}
			}
			for y := top; y < end; y++ {
				out.store(line, y, ch, 1)
			}
		}
	}
	return nil
}
