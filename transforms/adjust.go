package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// This file holds the arithmetic of AdjustBrightness, AdjustContrast,
// AdjustSaturation and AdjustHue.

const adjustReference = "Pillow 13.0.0 ImageEnhance; torchvision 0.29.2 v2 (x86-64 with AVX2); MindSpore 2.10.0 vision and OpenCV 5.0.0 for opencv; " +
	"MXNet 1.9.1 ImageRecordIter"

// maxFactor bounds the factors. Beyond it every value but one is clipped; up to
// it every result fits an int32.
const maxFactor = 1e6

// checkAdjust wants a factor in leastFactor..maxFactor and a supported backend.
func checkAdjust(f float64, b Backend) error {
	if err := checkBounds("factor", f, leastFactor(b), maxFactor); err != nil {
		return err
	}
	return checkAdjustBackend(b)
}

// leastFactor is negative for MXNet alone, which draws negative factors if its
// range is wide.
func leastFactor(b Backend) float64 {
	if b == MXNet {
		return -maxFactor
	}
	return 0
}

// checkAdjustBackend wants a backend that colour adjustments support.
func checkAdjustBackend(b Backend) error {
	if b > Torch && b != MXNet {
		return paramErr("backend is %v, want pillow, opencv, torch or mxnet", b)
	}
	return nil
}

// wantAdjusted wants a uint8 image of three channels. Pillow and Torch take one
// channel, too.
func wantAdjusted(d tensor.Desc, b Backend) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	if b != Pillow && b != Torch {
		return wantChannels(d, 3)
	}
	return wantChannels(d, 1, 3)
}

// mixOf returns the arithmetic that mixes each value with the value of a
// degenerate image. A factor of 1 returns the original value.
func mixOf(b Backend, factor float64) kernel.Mix {
	f := float32(factor)
	m := kernel.Mix{Rule: kernel.MixOpenCV, Factor: f, Rest: 1 - f}
	switch b {
	case Pillow: // with a factor within 1, neither Pillow nor this clips
		m.Rule = kernel.MixPillow
	case Torch:
		m.Rule, m.Rest = kernel.MixTorch, float32(1-factor)
	case MXNet:
		m.Rule = kernel.MixMXNet
	case MindSpore:
		m.Rule = kernel.MixMindSpore
	}
	return m
}

// trunc8 truncates a number within int32's range and clips it to 0..255.
func trunc8(f float32) uint8 { return clamp8(int32(f)) }

// round8 rounds a number within int32's range half to even and clips it to
// 0..255.
func round8(f float32) uint8 { return clamp8(int32(math.RoundToEven(float64(f)))) }

// grayOf returns the gray values of a backend's colour adjustments.
func grayOf(b Backend) *kernel.GrayRule {
	switch b {
	case Pillow:
		return &kernel.GrayPillow
	case Torch:
		return &kernel.GrayTorchFused
	case MXNet:
		return &kernel.GrayMXNet
	}
	return &kernel.GrayOpenCV
}

// alias reports whether two dense tensors with the same description share their
// data.
func alias(a, b *tensor.Tensor) bool { return &a.Data[0] == &b.Data[0] }

// copyUnlessSame copies src to dst unless they share their data.
func copyUnlessSame(dst, src *tensor.Tensor) {
	if !alias(dst, src) {
		copy(dst.Data, src.Data)
	}
}
