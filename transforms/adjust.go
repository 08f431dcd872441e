package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// What AdjustBrightness, AdjustContrast, AdjustSaturation and AdjustHue share.

const adjustReference = "Pillow 13.0.0 ImageEnhance; torchvision 0.29.2 v2 (x86-64 with AVX2); MindSpore 2.10.0 vision and OpenCV 5.0.0 for opencv"

// checkFactor wants a finite factor of 0 or more.
func checkFactor(f float64) error {
	if !(f >= 0 && f <= math.MaxFloat32) {
		return paramErr("factor is %v, want 0 or more, finite in float32", f)
	}
	return nil
}

// checkAdjustBackend wants one of the backends that there are.
func checkAdjustBackend(b Backend) error { return checkEnum("backend", b, backendNames) }

// wantAdjusted wants a uint8 image of three channels, or of one too, which MindSpore refuses.
func wantAdjusted(d tensor.Desc, b Backend) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	if b == OpenCV {
		return wantChannels(d, 3)
	}
	return wantChannels(d, 1, 3)
}

// blend is how an adjustment mixes a value with another, that of a degenerate
// image, by a factor, of which 1 gives the value.
type blend struct {
	backend Backend
	factor  float32
	rest    float32 // 1 - factor, rounded as the backend does
}

func newBlend(b Backend, factor float64) blend {
	f := float32(factor)
	if b == Torch {
		return blend{b, f, float32(1 - factor)}
	}
	return blend{b, f, 1 - f}
}

// of is v mixed with other, which is a whole number of 0 to 255 but for torch.
func (m blend) of(v uint8, other float32) uint8 {
	x := float32(v)
	switch m.backend {
	case Pillow:
		// Within a factor of 1 nothing is clipped there, nor here.
		return trunc8(other + float32(m.factor*(x-other)))
	case Torch:
		return trunc8(kernel.FMA32(other, m.rest, float32(x*m.factor)))
	}
	return round8(kernel.FMA32(other, m.rest, float32(x*m.factor)))
}

// trunc8 is a number without its fraction, clipped to 0 .. 255.
func trunc8(f float32) uint8 { return uint8(int32(min(max(f, 0), 255))) }

// round8 is a number rounded half to even, clipped to 0 .. 255.
func round8(f float32) uint8 { return roundEven8(min(max(f, 0), 255)) }

// The gray of torchvision's v2 on a CPU with FMA, as a whole number.
func torchGrayFused(r, g, b uint8) uint8 {
	return uint8(int32(kernel.FMA32(float32(b), 0.114, kernel.FMA32(float32(g), 0.587, torchRed[r]))))
}

// grayOf is the gray value of a colour for the backend.
func grayOf(b Backend) func(r, g, b uint8) uint8 {
	switch b {
	case Pillow:
		return pillowGray
	case Torch:
		return torchGrayFused
	}
	return openCVGray
}

// alias reports whether two dense tensors of the same description are one.
func alias(a, b *tensor.Tensor) bool { return &a.Data[0] == &b.Data[0] }

// copyUnlessSame copies the values of src to dst, unless dst is src.
func copyUnlessSame(dst, src *tensor.Tensor) {
	if !alias(dst, src) {
		copy(dst.Data, src.Data)
	}
}
