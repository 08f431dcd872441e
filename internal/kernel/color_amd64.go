//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// The functions below process the first values in assembly and return how many.

// wholeVectors returns n rounded down to a multiple of 32, or 0 without FMA.
func wholeVectors(n int) int {
	if !cpu.Has(cpu.FMA) {
		return 0
	}
	return n &^ 31
}

func sumUint8(v []uint8) (n int, sum uint64) {
	if n = wholeVectors(len(v)); n > 0 {
		sum = sumUint8AVX2(&v[0], n)
	}
	return n, sum
}

func grayRow(k *GrayRule, dst, r, g, b []uint8) int {
	n := wholeVectors(len(dst))
	switch {
	case n == 0:
	case k.shift > 0:
		// Green's weight may have 16 bits. The assembly's products are signed.
		half := k.g / 2
		weights := [4]uint32{uint32(k.r) | uint32(k.g-half)<<16, uint32(k.b) | uint32(half)<<16, 1 << k.shift >> 1, uint32(k.shift)}
		grayAVX2(&dst[0], &r[0], &g[0], &b[0], n, &weights)
	case k.fused:
		grayFusedAVX2(&dst[0], &r[0], &g[0], &b[0], n)
	default:
		grayFloatAVX2(&dst[0], &r[0], &g[0], &b[0], n)
	}
	return n
}

func mixRow(m *Mix, dst, v, other []uint8) int {
	n := wholeVectors(len(dst))
	if n == 0 {
		return 0
	}
	d, x, o := &dst[0], &v[0], &other[0]
	switch m.Rule {
	case MixPillow:
		mixPillowAVX2(d, x, o, n, m.Factor, m.Rest)
	case MixTorch:
		mixTorchAVX2(d, x, o, n, m.Factor, m.Rest)
	case MixDifference:
		mixDifferenceAVX2(d, x, o, n, m.Factor, m.Rest)
	case MixOpenCV:
		mixOpenCVAVX2(d, x, o, n, m.Factor, m.Rest)
	case MixMindSpore:
		mixMindSporeAVX2(d, x, o, n, m.Factor, m.Rest)
	default:
		mixMXNetAVX2(d, x, o, n, m.Factor, m.Rest)
	}
	return n
}

func chromaRow(dst, c, y []uint8, weight int32) int {
	n := wholeVectors(len(dst))
	if n > 0 {
		chromaAVX2(&dst[0], &c[0], &y[0], n, weight)
	}
	return n
}

func smooth13(dst, a, b, c []uint8, px int) int {
	n := wholeVectors(len(dst))
	if n > 0 {
		smooth13AVX2(&dst[0], &a[0], &b[0], &c[0], n, px)
	}
	return n
}

func (k *CVHSV) fromRGB(dst, src [3][]uint8) int {
	n := len(dst[0]) &^ 7
	if n == 0 || !cpu.Has(cpu.FMA) {
		return 0
	}
	hsvFromRGBAVX2(&dst[0][0], &dst[1][0], &dst[2][0], &src[0][0], &src[1][0], &src[2][0], n, float32(k.turn<<12)/6, k.turn)
	return n
}

func (k *CVHSV) toRGB(dst, src [3][]uint8, turn uint8, body bool) int {
	n := len(dst[0]) &^ 7
	switch {
	case n == 0 || !cpu.Has(cpu.FMA):
		return 0
	case body:
		hsvTruncAVX2(&dst[0][0], &dst[1][0], &dst[2][0], &src[0][0], &src[1][0], &src[2][0], n, k.step(), int32(turn))
	default:
		hsvRoundAVX2(&dst[0][0], &dst[1][0], &dst[2][0], &src[0][0], &src[1][0], &src[2][0], n, k.step(), int32(turn))
	}
	return n
}
