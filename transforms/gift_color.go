package transforms

import "github.com/infer-prep/infer-prep/tensor"

// giftColor computes a colour from a colour, in values of 0 to 1.
type giftColor interface {
	of(r, g, b float32) (float32, float32, float32)
}

// applyGiftColor computes every pixel and keeps alpha. A gray pixel is a colour
// of three equal values, and the result is its luma.
func applyGiftColor[F giftColor](c *Context, f F, dst, src *tensor.Tensor) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	in, out := giftRowsOf(s), giftRowsOf(dst)
	for i := range in.h * in.w {
		i *= in.pixel
		if in.ch == 1 {
			v := giftUnits[in.data[i]]
			r, g, b := f.of(v, v, v)
			out.data[i] = giftByte(float32(r*0.299) + float32(g*0.587) + float32(b*0.114))
			continue
		}
		j, k := i+in.next, i+2*in.next
		r, g, b := f.of(giftUnits[in.data[i]], giftUnits[in.data[j]], giftUnits[in.data[k]])
		out.data[i], out.data[j], out.data[k] = giftByte(r), giftByte(g), giftByte(b)
		if in.ch == 4 {
			out.data[k+in.next] = in.data[k+in.next]
		}
	}
	return nil
}

// giftTables holds one table of 256 bytes per channel.
type giftTables [4 * 256]uint8

// set fills the tables of an image with this number of channels. f computes a
// value of channel 0, 1 or 2. Alpha is kept.
func (t *giftTables) set(channels int, f func(v float32, channel int) float32) {
	for i, v := range giftUnits {
		if channels == 1 {
			t[i] = giftByte(float32(f(v, 0)*0.299) + float32(f(v, 1)*0.587) + float32(f(v, 2)*0.114))
			continue
		}
		for ch := range 3 {
			t[ch*256+i] = giftByte(f(v, ch))
		}
		t[3*256+i] = uint8(i)
	}
}

// apply looks up every value.
func (t *giftTables) apply(c *Context, dst, src *tensor.Tensor) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	lookupChannels(dst, s, t[:])
	return nil
}
