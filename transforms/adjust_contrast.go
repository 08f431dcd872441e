package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustContrast mixes an image with the mean m of its gray values. A factor f
// of 0 returns m everywhere, 1 the image, and more than 1 a stronger contrast.
// It takes a uint8 image of one or three channels (opencv and mxnet: three),
// HWC or CHW, and keeps the description. Values range from 0 to 255.
//
// All arithmetic is float32 with each operation rounded, except that fma rounds
// a*b+c once. The result is clipped.
//
//   - Pillow: m is the mean of Grayscale's pillow gray, rounded half up. The
//     result is m + f*(v - m), truncated.
//   - Torch: m is the sum divided by the number of pixels, both float32, of
//     Grayscale's torch gray with its products and sums fused. The result is
//     fma(m, 1-f, v*f), truncated.
//   - OpenCV: m is the sum of Grayscale's opencv gray times the reciprocal of
//     the number of pixels, rounded half up. The result is fma(m, 1-f, v*f),
//     rounded half to even.
//   - MXNet: m is the unrounded float32 mean of (1868 R + 9617 G + 4899 B +
//     8192) >> 14. The weights of red and blue are exchanged, as in MXNet. The
//     result is v*f + m*(1-f), rounded half to even.
//
// The sum is exact here. Torch sums in float32, which is exact up to 65,793
// pixels. Beyond that torch's sum depends on the CPU and the number of threads,
// and its mean may differ in the last bits.
//
// Reference: Pillow 13.0.0, ImageEnhance.Contrast, which torchvision's
// adjust_contrast calls for a Pillow image; torchvision 0.29.2, v2's
// adjust_contrast of a uint8 tensor; MindSpore 2.10.0, vision.AdjustContrast of
// an array, which calls OpenCV's cvtColor, mean and addWeighted; MXNet 1.9.1,
// ImageRecordIter's contrast.
type AdjustContrast struct {
	Factor  float64 `json:"factor"`  // 0 to 1e6 (mxnet: -1e6 to 1e6); 1 keeps the image
	Backend Backend `json:"backend"` // pillow, opencv, torch or mxnet; default pillow
}

//msgp:tuple AdjustContrast
//sheet:adjust_contrast {"factor": 1.8}

// NewAdjustContrast returns the op with Pillow's arithmetic.
func NewAdjustContrast(factor float64) *AdjustContrast {
	return &AdjustContrast{Factor: factor, Backend: Pillow}
}

// Info describes the op.
func (*AdjustContrast) Info() Info {
	return Info{
		Name: "adjust_contrast", Version: 1, New: func() Op { return NewAdjustContrast(1) }, InPlace: true,
		Reference: adjustReference, Exactness: "0 (torch: up to 65,793 pixels; beyond that torch's own sum depends on the CPU and the threads)",
	}
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

// Apply sums the gray values, then mixes with a table.
func (o *AdjustContrast) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	pixels := s.Height() * s.Width()
	gray := s.Data[:pixels]
	if s.Channels() > 1 {
		gray = c.Scratch(pixels)
		grayValues(c, gray, s, grayOf(o.Backend))
	}
	sum := kernel.SumUint8(gray)
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
	m := mixOf(o.Backend, o.Factor)
	for v := range table {
		table[v] = m.Of(uint8(v), mean)
	}
	kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 1, table)
	return nil
}
