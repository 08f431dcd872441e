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

// blend mixes each value with the value of a degenerate image. A factor of 1
// returns the original value.
type blend struct {
	backend Backend
	factor  float32
	rest    float64      // 1 - factor, rounded to float32 as in the backend
	scaled  [256]float32 // each value times the factor; not for Pillow
}

// set prepares the blend for a factor.
func (m *blend) set(b Backend, factor float64) {
	f := float32(factor)
	m.backend, m.factor, m.rest = b, f, float64(1-f)
	if b == Torch {
		m.rest = float64(float32(1 - factor))
	}
	if b != Pillow {
		for v := range m.scaled {
			m.scaled[v] = float32(float32(v) * f)
		}
	}
}

// of mixes v with other, which is an integer in 0..255 except for torch.
func (m *blend) of(v uint8, other float32) uint8 {
	switch m.backend {
	case Pillow:
		// With a factor within 1, neither Pillow nor this code clips.
		return trunc8(other + float32(m.factor*(float32(v)-other)))
	case Torch:
		return trunc8(kernel.FMA32(float64(float64(other)*m.rest), m.scaled[v]))
	case MXNet:
		return round8(m.scaled[v] + float32(other*float32(m.rest)))
	case MindSpore:
		return round8(kernel.FMA32(float64(float64(v)*float64(m.factor)), float32(other*float32(m.rest))))
	}
	return round8(kernel.FMA32(float64(float64(other)*m.rest), m.scaled[v]))
}

// trunc8 truncates a number within int32's range and clips it to 0..255.
func trunc8(f float32) uint8 { return clamp8(int32(f)) }

// round8 rounds a number within int32's range half to even and clips it to
// 0..255.
func round8(f float32) uint8 { return clamp8(int32(math.RoundToEven(float64(f)))) }

// The green and blue terms of torchGrayFused. Products of 8 and 24 bits are
// exact. So are their sums with a float32 that is not smaller than their last
// bits.
var torchGreenExact, torchBlueExact = exactly24(0.587), exactly24(0.114)

func exactly24(f float32) (t [256]float64) {
	for v := range t {
		t[v] = float64(float64(v) * float64(f))
	}
	return t
}

// torchGrayFused is the gray value of torchvision v2 on a CPU with FMA, as an
// integer.
func torchGrayFused(r, g, b uint8) uint8 {
	rg := float32(torchGreenExact[g] + float64(torchRed[r]))
	return uint8(int32(float32(torchBlueExact[b] + float64(rg))))
}

// grayOf returns the gray function of a backend.
func grayOf(b Backend) func(r, g, b uint8) uint8 {
	switch b {
	case Pillow:
		return pillowGray
	case Torch:
		return torchGrayFused
	case MXNet:
		return mxnetGray
	}
	return openCVGray
}

// mxnetGray is OpenCV 3.4's 14-bit gray value with red and blue exchanged.
func mxnetGray(r, g, b uint8) uint8 {
	return uint8((1868*uint32(r) + 9617*uint32(g) + 4899*uint32(b) + 8192) >> 14)
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
