package transforms

import (
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// EraseNoise overwrites a box of a float32 image with normal noise of mean 0
// and standard deviation 1. The box has Height x Width pixels and starts at row
// Top and column Left. A box that exceeds the image is an ErrInput. The image
// is HWC or CHW; the layout is kept and does not affect the noise.
//
// The noise of channel c at row y and column x of the box is a float32 from
// package rng: Normal of the stream with key Key and ordinal (c*Height +
// y)*Width + x.
//
// Reference: the distribution is that of torchvision 0.29.2's RandomErasing
// with random values; the numbers are package rng's.
type EraseNoise struct {
	Top    int    `json:"top"`    // first row of the box, 0 to 2^24
	Left   int    `json:"left"`   // first column of the box, 0 to 2^24
	Height int    `json:"height"` // height of the box in pixels, 1 to 2^24
	Width  int    `json:"width"`  // width of the box in pixels, 1 to 2^24
	Key    uint64 `json:"key"`    // key of the noise; its lower half is the first word of the stream's key
}

//msgp:tuple EraseNoise
//sheet:erase_noise {"top": 20, "left": 40, "height": 30, "width": 40}

// NewEraseNoise returns the op for a box of height x width at (top, left).
func NewEraseNoise(top, left, height, width int, key uint64) *EraseNoise {
	return &EraseNoise{top, left, height, width, key}
}

// Info describes the op.
func (*EraseNoise) Info() Info {
	return Info{
		Name: "erase_noise", Version: 1, New: func() Op { return NewEraseNoise(0, 0, 1, 1, 0) }, InPlace: true,
		Reference: "Philox 4x32-10 and the transformation of Box and Muller, in Python with mpmath 1.3.0", Exactness: "0",
	}
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

// Apply overwrites the box.
func (o *EraseNoise) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copyUnlessSame(dst[0], s)
	out := tensor.View[float32](dst[0])
	step, next := strides(s.Desc)
	key := noiseKey(o.Key)
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

// noiseKey returns the key of the streams of an op's noise.
func noiseKey(key uint64) rng.Key { return rng.Key{uint32(key), uint32(key >> 32)} }
