package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// GaussianNoise adds normal noise to an image. Mean and Sigma are in units of
// the full range: 255 for uint8, 1 for float32. The image is uint8 or float32,
// HWC or CHW; the layout is kept and does not affect the noise.
//
// The number n of channel c at row y and column x is a float32 from package
// rng: Normal of the stream with key Key and ordinal (c*height + y)*width + x.
// A float32 value becomes v + (Mean + n*Sigma); each operation rounds to
// float32. For uint8 the noise is Mean*255 + n*(Sigma*255) in the same way,
// truncated to an integer. With Clip the result is clipped to 0..1 or 0..255;
// otherwise uint8 wraps around.
//
// Reference: torchvision 0.29.2, v2 gaussian_noise, for the same normal
// numbers; the numbers are package rng's.
type GaussianNoise struct {
	Mean  float64 `json:"mean"`  // mean of the noise, -1e6 to 1e6; for uint8 -50 to 50; default 0
	Sigma float64 `json:"sigma"` // standard deviation of the noise, 0 to 1e6; for uint8 up to 8; default 0.1
	Clip  bool    `json:"clip"`  // clip the result to the range of the image; default true
	Key   uint64  `json:"key"`   // key of the noise; its lower half is the first word of the stream's key
}

//msgp:tuple GaussianNoise
//sheet:gaussian_noise {"sigma": 0.15}

// NewGaussianNoise returns the op with mean 0, clipping.
func NewGaussianNoise(sigma float64, key uint64) *GaussianNoise {
	return &GaussianNoise{Sigma: sigma, Clip: true, Key: key}
}

// Bounds of the noise's parameters. Noise for uint8 is an int16 in the
// reference, and a normal number of package rng is at most 8.6.
const (
	maxNoise       = 1e6
	maxNoiseMean8  = 50
	maxNoiseSigma8 = 8
)

// Info describes the op.
func (*GaussianNoise) Info() Info {
	return Info{
		Name: "gaussian_noise", Version: 1, New: func() Op { return NewGaussianNoise(0.1, 0) }, InPlace: true,
		Reference: "torchvision 0.29.2 v2 gaussian_noise, with normal numbers from package rng", Exactness: "0",
	}
}

// Validate checks the bounds.
func (o *GaussianNoise) Validate() error { return checkNoise(o.Mean, o.Sigma) }

func checkNoise(mean, sigma float64) error {
	if err := checkBounds("mean", mean, -maxNoise, maxNoise); err != nil {
		return err
	}
	return checkBounds("sigma", sigma, 0, maxNoise)
}

// Infer keeps the description.
func (o *GaussianNoise) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantNoise(in[0], o.Mean, o.Sigma)
}

func wantNoise(d tensor.Desc, mean, sigma float64) error {
	if err := wantImage(d, tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	if d.DType == tensor.Uint8 && (math.Abs(mean) > maxNoiseMean8 || sigma > maxNoiseSigma8) {
		return inputErr("%v, but mean is %v and sigma is %v: want -%d to %d and up to %d", d, mean, sigma, maxNoiseMean8, maxNoiseMean8, maxNoiseSigma8)
	}
	return nil
}

// Apply adds the noise in the order of the channels.
func (o *GaussianNoise) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	unit := 1.0
	if s.DType == tensor.Uint8 {
		unit = 255
	}
	mean, sigma := float32(float64(o.Mean*unit)), float32(float64(o.Sigma*unit))
	key := noiseKey(o.Key)
	step, next := strides(s.Desc)
	count := s.Height() * s.Width()
	ordinal := uint64(0)
	for ch := range s.Channels() {
		at := ch * next
		for range count {
			stream := key.At(ordinal)
			noise := mean + float32(float32(stream.Normal())*sigma)
			if s.DType == tensor.Uint8 {
				dst[0].Data[at] = o.add8(s.Data[at], noise)
			} else {
				tensor.View[float32](dst[0])[at] = o.add(tensor.View[float32](s)[at], noise)
			}
			at += step
			ordinal++
		}
	}
	return nil
}

func (o *GaussianNoise) add8(v uint8, noise float32) uint8 {
	sum := int32(v) + int32(noise)
	if o.Clip {
		return clamp8(sum)
	}
	return uint8(sum)
}

func (o *GaussianNoise) add(v, noise float32) float32 {
	v += noise
	if o.Clip {
		v = min(max(v, 0), 1)
	}
	return v
}
