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

// rearrangeVectors are a Rearranger's constants for vectors of width bytes. The
// width is 0 if the pixels do not fit them.
type rearrangeVectors struct {
	order, fill   [64]uint8
	keep          uint64
	width, pixels int
}

// vectorWidth returns the best width for n bytes.
func vectorWidth(n int) int {
	if cpu.Has(cpu.VBMI) && n >= 4096 {
		return 64
	}
	return 16
}

func (r *rearrangeVectors) prepare(size int, from []int, width int) {
	if size > width || len(from) > width || size*len(from) == 0 {
		return
	}
	r.width, r.pixels = width, min(width/size, width/len(from))
	for i := range r.order {
		r.order[i] = 0x80 // VPSHUFB sets these to 0
	}
	for p := range r.pixels {
		for j, at := range from {
			i := p*len(from) + j
			if at < 0 {
				r.fill[i] = uint8(^at)
				continue
			}
			r.order[i] = uint8(p*size + at)
			r.keep |= 1 << i
		}
	}
}

// row processes the first pixels in assembly and returns how many.
func (r *rearrangeVectors) row(dst, src []uint8, size, step int) int {
	// Each time whole vectors are read and written. The bytes after the pixels
	// are written again later.
	if r.width == 0 || len(src) < r.width || len(dst) < r.width || !hasSIMD() {
		return 0
	}
	in, out := r.pixels*size, r.pixels*step
	times := (min((len(src)-r.width)/in, (len(dst)-r.width)/out) + 1) &^ 1
	switch {
	case times == 0:
	case r.width == 64:
		rearrangeVBMI(&dst[0], &src[0], times, &r.order, &r.fill, r.keep, in, out)
	default:
		rearrangeAVX2(&dst[0], &src[0], times, (*[16]uint8)(r.order[:]), (*[16]uint8)(r.fill[:]), in, out)
	}
	return times * r.pixels
}
