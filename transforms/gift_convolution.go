package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// GiftConvolution replaces each pixel with a weighted sum of its neighbours. It
// takes a uint8 image of one, three or four channels, HWC or CHW, and keeps the
// description.
//
// Values are float32 from 0 to 1. Normalize divides the weights by their sum
// or, if that is 0, by the sum of the positive ones, unless that is 0 too. The
// products are added column by column of the kernel, from the top; weights of 0
// are left out. Outside the image, the nearest border pixels count. Abs takes
// the absolute value, and then Delta is added. The result is clipped and
// rounded half up. Every operation rounds to float32.
//
// Alpha filters alpha too; otherwise it is kept. One channel is the luma
// 0.299*v + 0.587*v + 0.114*v of the result v. With Alpha it is multiplied by
// the result for an alpha of 1.
//
// Reference: gift 1.2.1, Convolution.
type GiftConvolution struct {
	Kernel    []float64 `json:"kernel"`    // weights row by row: n*n numbers of -1e6 to 1e6, n odd, up to 255
	Normalize bool      `json:"normalize"` // divide the weights by their sum; default false
	Alpha     bool      `json:"alpha"`     // filter alpha; default false
	Abs       bool      `json:"abs"`       // take absolute values; default false
	Delta     float64   `json:"delta"`     // added to the result, -1e6 to 1e6; default 0
}

//msgp:tuple GiftConvolution

const (
	maxWeight = 1e6
	// maxNormalized keeps sums of normalized weights within an int64, as gift's
	// conversion to bytes needs.
	maxNormalized = 1e9
)

// NewGiftConvolution returns the op for a kernel of n*n weights, row by row.
func NewGiftConvolution(kernel []float64) *GiftConvolution { return &GiftConvolution{Kernel: kernel} }

// Info describes the op.
func (*GiftConvolution) Info() Info {
	return Info{
		Name: "gift_convolution", Version: 1, New: func() Op { return NewGiftConvolution([]float64{0, -1, 0, -1, 5, -1, 0, -1, 0}) },
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the size of the kernel and the numbers.
func (o *GiftConvolution) Validate() error {
	n := o.size()
	if n*n != len(o.Kernel) || n%2 == 0 || n > maxWindow {
		return paramErr("kernel has %d weights, want n*n with an odd n of 1 to %d", len(o.Kernel), maxWindow)
	}
	div := o.divisor()
	for i, v := range o.Kernel {
		if !(math.Abs(v) <= maxWeight) {
			return paramErr("kernel[%d] is %v, want %v to %v", i, v, -maxWeight, maxWeight)
		}
		if w := float64(float32(v) / div); !(math.Abs(w) <= maxNormalized) {
			return paramErr("kernel[%d] is %v and normalized %v, want at most %v", i, v, w, maxNormalized)
		}
	}
	if !(math.Abs(o.Delta) <= maxWeight) {
		return paramErr("delta is %v, want %v to %v", o.Delta, -maxWeight, maxWeight)
	}
	return nil
}

// size returns the side of the kernel.
func (o *GiftConvolution) size() int { return int(math.Sqrt(float64(len(o.Kernel)))) }

// divisor returns what the weights are divided by.
func (o *GiftConvolution) divisor() float32 {
	if !o.Normalize {
		return 1
	}
	n := o.size()
	var sum, positive float32
	for x := range n {
		for y := range n {
			w := float32(o.Kernel[y*n+x])
			sum += w
			if w > 0 {
				positive += w
			}
		}
	}
	switch {
	case sum != 0:
		return sum
	case positive != 0:
		return positive
	}
	return 1
}

// Infer keeps the description.
func (o *GiftConvolution) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// Apply filters row by row. It keeps the rows that the kernel covers in a ring,
// each channel with the border pixels repeated at its ends.
func (o *GiftConvolution) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := giftRowsOf(s), giftRowsOf(dst[0])
	n := o.size()
	half := n / 2
	filtered := in.ch // channels
	if in.ch == 4 && !o.Alpha {
		filtered = 3
	}
	line := in.w + 2*half
	slot := filtered * line
	rows := tensor.Cast[float32](c.Scratch(4 * n * slot))
	sums := tensor.Cast[float32](c.Scratch(4 * in.w))
	weights := tensor.Cast[float32](c.Scratch(4 * n * n))
	div := o.divisor()
	for i, v := range o.Kernel {
		weights[i] = float32(v) / div
	}
	alpha := float32(1)
	if o.Alpha {
		alpha = 0
		for x := range n {
			for y := range n {
				alpha += weights[y*n+x]
			}
		}
		alpha = o.finish(alpha)
	}

	done := 0
	for y := range in.h {
		for ; done <= min(y+half, in.h-1); done++ {
			for ch := range filtered {
				in.loadWide(rows[done%n*slot+ch*line:][:line], done, ch, half)
			}
		}
		for ch := range filtered {
			clear(sums)
			for u := range n {
				for v := range n {
					w := weights[v*n+u]
					if w == 0 {
						continue
					}
					at := min(max(y+v-half, 0), in.h-1) % n
					for x, px := range rows[at*slot+ch*line+u:][:in.w] {
						sums[x] += float32(px * w)
					}
				}
			}
			if o.Abs || o.Delta != 0 {
				for x, v := range sums {
					sums[x] = o.finish(v)
				}
			}
			out.store(sums, y, ch, alpha)
		}
		if in.ch == 4 && filtered == 3 {
			for x := range in.w {
				i := y*in.row + 3*in.next + x*in.pixel
				out.data[i] = in.data[i]
			}
		}
	}
	return nil
}

// finish applies Abs and Delta to a sum.
func (o *GiftConvolution) finish(v float32) float32 {
	if o.Abs && v < 0 {
		v = -v
	}
	return v + float32(o.Delta)
}
