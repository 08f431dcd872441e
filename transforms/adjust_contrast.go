package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustContrast mixes an image with the mean m of its gray values: a factor f of 0
// gives an image that is m throughout, 1 the image, more a stronger contrast. It takes
// a uint8 image of one or three channels, for opencv and mxnet of three, in both layouts, and
// gives the same description, 0 to 255.
//
// All in float32, each operation rounded, except that a*b+c is rounded once where
// it says fma; the result is clipped:
//
//   - Pillow: m is the mean rounded half up, of Grayscale's gray. m + f*(v - m), its fraction cut off.
//   - Torch: m is the sum divided by the number of pixels, as float32s, of Grayscale's
//     torch gray with its products and sums fused. fma(m, 1-f, v*f), its fraction cut off.
//   - OpenCV: m is the mean rounded half up, of Grayscale's opencv gray: the sum times the
//     reciprocal of the number. fma(m, 1-f, v*f), rounded half to even.
//   - MXNet: m is that mean as a float32, not rounded, of (1868 R + 9617 G + 4899 B + 8192) >> 14: the weights of
//     red and blue are exchanged, as upstream. v*f + m*(1-f), rounded half to even.
//
// The sum is exact here. torch's is float32: exact up to 65,793 pixels, beyond
// which it depends on the CPU and the number of threads, and the mean may differ in its last bits.
//
// Reference: Pillow 13.0.0, ImageEnhance.Contrast, which torchvision's
// adjust_contrast of a Pillow image is; torchvision 0.29.2, v2's of a uint8 tensor; MindSpore
// 2.10.0, vision.AdjustContrast of an array, which is OpenCV's cvtColor, mean and addWeighted; MXNet 1.9.1,
// ImageRecordIter's contrast.
type AdjustContrast struct {
	Factor  float64 `json:"factor"`  // 0 to 1e6, mxnet: -1e6 to 1e6; usually about 1
	Backend Backend `json:"backend"` // usually pillow
}

//msgp:tuple AdjustContrast

func init() {
	Register(Info{
		Name: "adjust_contrast", Version: 1, New: func() Op { return NewAdjustContrast(1) }, InPlace: true,
		Reference: adjustReference, Exactness: "0; torch: up to 65,793 pixels, beyond which its own sum depends on CPU and threads",
	})
}

// NewAdjustContrast adjusts as Pillow does.
func NewAdjustContrast(factor float64) *AdjustContrast {
	return &AdjustContrast{Factor: factor, Backend: Pillow}
}

// Validate checks the factor and the backend.
func (o *AdjustContrast) Validate() error {
	return checkAdjust(o.Factor, o.Backend)
}

// Infer keeps the description.
func (o *AdjustContrast) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply sums up the gray values, then mixes by a table.
func (o *AdjustContrast) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	pixels := s.Height() * s.Width()
	var sum uint64
	if s.Channels() == 1 {
		for _, v := range s.Data[:pixels] {
			sum += uint64(v)
		}
	} else {
		gray := grayOf(o.Backend)
		step, next := strides(s.Desc)
		for i := range pixels {
			at := i * step
			sum += uint64(gray(s.Data[at], s.Data[at+next], s.Data[at+2*next]))
		}
	}
	var mean float32
	switch o.Backend {
	case Pillow:
		mean = float32(int32(float64(sum)/float64(pixels) + 0.5))
	case Torch:
		mean = float32(sum) / float32(pixels)
	case MXNet:
		mean = float32(float64(sum) * (1 / float64(pixels)))
	default:
		mean = float32(int32(float64(float64(sum)*(1/float64(pixels))) + 0.5))
	}
	table := c.Scratch(256)
	var m blend
	m.set(o.Backend, o.Factor)
	for v := range table {
		table[v] = m.of(uint8(v), mean)
	}
	kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 1, table)
	return nil
}
