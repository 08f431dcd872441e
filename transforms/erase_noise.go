package transforms

import (
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// EraseNoise overwrites a box of a float32 image, of Height x Width, whose first pixel is
// row Top and column Left, with normal noise of mean 0 and standard deviation 1. A box that
// does not lie within the image is an ErrInput. Both layouts are taken and kept, and give the same noise.
//
// The noise of the channel c at row y and column x of the box is Normal of
// package rng's stream with the key Key and the ordinal (c*Height + y)*Width + x, as a float32.
//
// Reference: the distribution is that of torchvision 0.29.2's RandomErasing
// with random values; the numbers are package rng's.
type EraseNoise struct {
	Top    int    `json:"top"`    // the box's first row, 0 to 2^24
	Left   int    `json:"left"`   // its first column, likewise
	Height int    `json:"height"` // its size, in pixels, 1 to 2^24
	Width  int    `json:"width"`  // likewise
	Key    uint64 `json:"key"`    // of the noise: the key's first word is its lower half
}

//msgp:tuple EraseNoise

func init() {
	Register(Info{
		Name: "erase_noise", Version: 1, New: func() Op { return NewEraseNoise(0, 0, 1, 1, 0) }, InPlace: true,
		Reference: "Philox 4x32-10 and the transformation of Box and Muller, in Python with mpmath 1.3.0", Exactness: "0",
	})
}

// NewEraseNoise makes the box of height x width at (top, left) noise.
func NewEraseNoise(top, left, height, width int, key uint64) *EraseNoise {
	return &EraseNoise{top, left, height, width, key}
}

// Validate checks the box.
func (o *EraseNoise) Validate() error { return checkBox(o.Top, o.Left, o.Height, o.Width) }

// Infer keeps the description.
func (o *EraseNoise) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0], tensor.Float32); err != nil {
		return err
	}
	return wantBox(in[0], o.Top, o.Left, o.Height, o.Width)
}

// Apply overwrites.
func (o *EraseNoise) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copyUnlessSame(dst[0], s)
	out := tensor.View[float32](dst[0])
	step, next := strides(s.Desc)
	key := rng.Key{uint32(o.Key), uint32(o.Key >> 32)}
	n := uint64(0)
	for ch := range s.Channels() {
		for y := range o.Height {
			at := ch*next + ((o.Top+y)*s.Width()+o.Left)*step
			for range o.Width {
				noise := key.At(n)
				out[at] = float32(noise.Normal())
				n++
				at += step
			}
		}
	}
	return nil
}
