//go:build !purego

package kernel

// The functions below process the first values in assembly and return how many.

// wholeVectors returns n rounded down to a multiple of 16, or 0 without SIMD.
func wholeVectors(n int) int {
	if !hasSIMD() {
		return 0
	}
	return n &^ 15
}

func sumUint8(v []uint8) (n int, sum uint64) {
	if n = wholeVectors(len(v)); n > 0 {
		sum = sumUint8NEON(&v[0], n)
	}
	return n, sum
}

func grayRow(k *GrayRule, dst, r, g, b []uint8) int {
	n := wholeVectors(len(dst))
	switch {
	case n == 0:
	case k.shift > 0:
		grayNEON(&dst[0], &r[0], &g[0], &b[0], n, &[4]int32{int32(k.r), int32(k.g), int32(k.b), -int32(k.shift)})
	case k.fused:
		grayFusedNEON(&dst[0], &r[0], &g[0], &b[0], n, &grayWeights)
	default:
		grayFloatNEON(&dst[0], &r[0], &g[0], &b[0], n, &grayWeights)
	}
	return n
}

var grayWeights = [4]float32{grayRed, grayGreen, grayBlue}

func mixRow(m *Mix, dst, v, other []uint8) int {
	n := wholeVectors(len(dst))
	if n == 0 {
		return 0
	}
	d, x, o := &dst[0], &v[0], &other[0]
	switch m.Rule {
	case MixPillow:
		mixPillowNEON(d, x, o, n, m.Factor, m.Rest)
	case MixTorch:
		mixTorchNEON(d, x, o, n, m.Factor, m.Rest)
	case MixDifference:
		mixDifferenceNEON(d, x, o, n, m.Factor, m.Rest)
	case MixOpenCV:
		mixOpenCVNEON(d, x, o, n, m.Factor, m.Rest)
	case MixMindSpore:
		mixMindSporeNEON(d, x, o, n, m.Factor, m.Rest)
	default:
		mixMXNetNEON(d, x, o, n, m.Factor, m.Rest)
	}
	return n
}

func chromaRow(dst, c, y []uint8, weight int32) int {
	n := wholeVectors(len(dst))
	if n == 0 || weight != int32(int16(weight)) {
		return 0
	}
	chromaNEON(&dst[0], &c[0], &y[0], n, weight)
	return n
}

func smooth13(dst, a, b, c []uint8, px int) int {
	n := wholeVectors(len(dst))
	if n > 0 {
		smooth13NEON(&dst[0], &a[0], &b[0], &c[0], n, px)
	}
	return n
}

// OpenCV's HSV is computed in plain Go.

func (k *CVHSV) fromRGB(_, _ [3][]uint8) int { return 0 }

func (k *CVHSV) toRGB(_, _ [3][]uint8, _ uint8, _ bool) int { return 0 }

// The functions in assembly take n values, a multiple of 16 above 0. Pointers
// are to the first of them.

//go:noescape
func sumUint8NEON(v *byte, n int) uint64

// grayNEON has the weights and the negative shift in k.
//
//go:noescape
func grayNEON(dst, red, green, blue *byte, n int, k *[4]int32)

// grayFloatNEON has the weights in k, and rounds each product.
//
//go:noescape
func grayFloatNEON(dst, red, green, blue *byte, n int, k *[4]float32)

// grayFusedNEON has the weights in k, and rounds sums with their products.
//
//go:noescape
func grayFusedNEON(dst, red, green, blue *byte, n int, k *[4]float32)

//go:noescape
func mixPillowNEON(dst, v, other *byte, n int, factor, rest float32)

//go:noescape
func mixTorchNEON(dst, v, other *byte, n int, factor, rest float32)

//go:noescape
func mixDifferenceNEON(dst, v, other *byte, n int, factor, rest float32)

//go:noescape
func mixOpenCVNEON(dst, v, other *byte, n int, factor, rest float32)

//go:noescape
func mixMindSporeNEON(dst, v, other *byte, n int, factor, rest float32)

//go:noescape
func mixMXNetNEON(dst, v, other *byte, n int, factor, rest float32)

// chromaNEON has a weight of 16 bits.
//
//go:noescape
func chromaNEON(dst, c, y *byte, n int, weight int32)

// smooth13NEON reads 2*px more values of a, b and c.
//
//go:noescape
func smooth13NEON(dst, a, b, c *byte, n, px int)
