package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// GiftUnsharpMask sharpens an image: it adds the difference from a Gaussian
// blur. It takes a uint8 image of one, three or four channels, HWC or CHW, and
// keeps the description. Alpha is sharpened too.
//
// Values are float32 from 0 to 1, and every operation rounds to float32. Tap i
// of the kernel, |i| <= ceil(3*Sigma), weighs exp(-i^2/(2*Sigma^2)) /
// (Sigma*sqrt(2*pi)), divided by the sum. The blur goes along the rows, then
// along the columns. It weighs colours by alpha and divides by the sum of the
// weights. Outside the image, the nearest border pixels count. Each of the two
// results is rounded half up to 16 bits.
//
// The difference of the original and the blurred value is multiplied by Amount,
// and added if its absolute value is greater than Threshold. The result is
// clipped and rounded half up. One channel is the luma 0.299*v + 0.587*v +
// 0.114*v of the result v.
//
// Reference: gift 1.2.1, UnsharpMask.
type GiftUnsharpMask struct {
	Sigma     float64 `json:"sigma"`     // standard deviation of the blur in pixels, 0.01 to 100
	Amount    float64 `json:"amount"`    // factor of the difference, -100 to 100; usually 0.5 to 1.5
	Threshold float64 `json:"threshold"` // difference from which values change, 0 to 1; default 0
}

//msgp:tuple GiftUnsharpMask
//sheet:gift_unsharp_mask {"sigma": 2, "amount": 3}

// NewGiftUnsharpMask returns the op with threshold 0.
func NewGiftUnsharpMask(sigma, amount float64) *GiftUnsharpMask {
	return &GiftUnsharpMask{Sigma: sigma, Amount: amount}
}

// Info describes the op.
func (*GiftUnsharpMask) Info() Info {
	return Info{
		Name: "gift_unsharp_mask", Version: 1, New: func() Op { return NewGiftUnsharpMask(1, 1) },
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the bounds.
func (o *GiftUnsharpMask) Validate() error {
	if err := checkBounds("sigma", o.Sigma, 0.01, 100); err != nil {
		return err
	}
	if err := checkBounds("amount", o.Amount, -100, 100); err != nil {
		return err
	}
	return checkBounds("threshold", o.Threshold, 0, 1)
}

// Infer keeps the description.
func (o *GiftUnsharpMask) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// radius returns how far the kernel reaches.
func (o *GiftUnsharpMask) radius() int { return int(math.Ceil(float64(float32(o.Sigma) * 3))) }

// fillWeights fills weights with the kernel.
func (o *GiftUnsharpMask) fillWeights(weights []float32) {
	sigma, half := float32(o.Sigma), len(weights)/2
	scale := float64(float64(sigma) * math.Sqrt(2*math.Pi))
	wide := float64(float32(float32(2*sigma) * sigma))
	var sum float32
	for i := range half + 1 {
		x := float32(i)
		w := float32(exactmath.Exp(-float64(float32(x*x))/wide) / scale)
		weights[half-i], weights[half+i] = w, w
		if i == 0 {
			sum = w
			continue
		}
		sum += float32(2 * w)
	}
	for i, w := range weights {
		weights[i] = w / sum
	}
}

// Apply sharpens row by row. It keeps the rows that the kernel covers, blurred
// along the row, in a ring.
func (o *GiftUnsharpMask) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := giftRowsOf(s), giftRowsOf(dst[0])
	half := o.radius()
	weights := tensor.Cast[float32](c.Scratch(4 * (2*half + 1)))
	o.fillWeights(weights)
	slots := min(2*half+1, in.h)
	line := in.w + 2*half
	wide := tensor.Cast[float32](c.Scratch(4 * in.ch * line))
	ring := tensor.Cast[float32](c.Scratch(4 * in.ch * in.w * slots))
	blurred := tensor.Cast[float32](c.Scratch(4 * in.ch * in.w))
	original := tensor.Cast[float32](c.Scratch(4 * in.w))
	blur := giftBlur{
		w: in.w, channels: in.ch,
		sums:  tensor.Cast[float32](c.Scratch(4 * in.ch * in.w)),
		alpha: tensor.Cast[float32](c.Scratch(4 * in.w)),
	}

	done, opaque := 0, float32(1)
	for y := range in.h {
		for ; done <= min(y+half, in.h-1); done++ {
			for ch := range in.ch {
				in.loadWide(wide[ch*line:][:line], done, ch, half)
			}
			blur.begin()
			for i, w := range weights {
				if w != 0 {
					blur.add(wide[i:], line, w, 1)
				}
			}
			opaque = blur.end(ring[done%slots*in.ch*in.w:])
		}
		blur.begin()
		for i, w := range weights {
			if w != 0 {
				at := min(max(y+i-half, 0), in.h-1) % slots
				blur.add(ring[at*in.ch*in.w:], in.w, w, opaque)
			}
		}
		alpha := o.sharpen(1, blur.end(blurred))
		for ch := range in.ch {
			in.load(original, y, ch)
			for x, v := range blurred[ch*in.w:][:in.w] {
				original[x] = o.sharpen(original[x], v)
			}
			out.store(original, y, ch, alpha)
		}
	}
	return nil
}

// sharpen returns the new value for an original and a blurred one.
func (o *GiftUnsharpMask) sharpen(v, blurred float32) float32 {
	d := float32((v - blurred) * float32(o.Amount))
	if limit := float32(o.Threshold); d > limit || d < -limit {
		return v + d
	}
	return v
}

// giftBlur adds weighted rows. Images without alpha have the same alpha in all
// pixels.
type giftBlur struct {
	w, channels int
	sums        []float32 // a row per channel
	alpha       []float32 // the weights of a row with alpha
	total       float32   // the sum of the weights without alpha
}

func (b *giftBlur) begin() {
	clear(b.sums)
	b.total = 0
}

// add adds a row, whose channels lie line elements apart. opaque is the alpha
// of images without one.
func (b *giftBlur) add(row []float32, line int, weight, opaque float32) {
	if b.channels < 4 {
		wa := float32(opaque * weight)
		b.total += wa
		for ch := range b.channels {
			sums := b.sums[ch*b.w:][:b.w]
			for x, v := range row[ch*line:][:b.w] {
				sums[x] += float32(v * wa)
			}
		}
		return
	}
	alpha, total := b.alpha[:b.w], b.sums[3*b.w:][:b.w]
	for x, v := range row[3*line:][:b.w] {
		wa := float32(v * weight)
		alpha[x] = wa
		total[x] += wa
	}
	for ch := range 3 {
		sums := b.sums[ch*b.w:][:b.w]
		for x, v := range row[ch*line:][:b.w] {
			sums[x] += float32(v * alpha[x])
		}
	}
}

// end divides the sums by those of the weights and rounds to 16 bits. It
// returns the alpha of images without one.
func (b *giftBlur) end(dst []float32) float32 {
	if b.channels < 4 {
		for i, v := range b.sums {
			dst[i] = giftRound16(v / b.total)
		}
		return giftRound16(b.total)
	}
	total := b.sums[3*b.w:][:b.w]
	for ch := range 3 {
		sums := b.sums[ch*b.w:][:b.w]
		for x, v := range sums {
			if a := total[x]; a != 0 {
				v /= a
			}
			dst[ch*b.w+x] = giftRound16(v)
		}
	}
	for x, v := range total {
		dst[3*b.w+x] = giftRound16(v)
	}
	return 1
}

// giftRound16 rounds half up to 16 bits and returns the value as gift reads it.
func giftRound16(v float32) float32 {
	v = float32(v*65535) + 0.5
	switch {
	case v >= 65536:
		v = 65535
	case !(v >= 1):
		v = 0
	}
	return float32(float32(uint16(v)) * (1.0 / 65535))
}
