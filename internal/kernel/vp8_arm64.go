//go:build !purego

package kernel

func vp8Read(*VP8Macroblock, *VP8Reader) bool { return false }

func vp8Modes(*VP8Reader, *VP8ModeProbs, *[4]uint8, *[4]uint8, *[16]uint8) bool { return false }

// vp8AddRowSIMD is VP8AddRow.
//
//go:noescape
func vp8AddRowSIMD(a, b *byte, stride int, coefA, coefB *[16]int16)

// vp8PredictBlocksSIMD is VP8PredictBlocks for coefficients below 1<<13.
//
//go:noescape
func vp8PredictBlocksSIMD(dst *byte, stride int, modes *[16]uint8, coef *[16][16]int16)

// vp8TrueSIMD is VP8True for n = 4, 8 or 16. It reads 16 bytes above dst.
//
//go:noescape
func vp8TrueSIMD(dst *byte, stride, n int)

// vp8FilterSIMD is VP8FilterNormal. limits are those of outer and inner edges,
// the interior and the variance. Bits 0 to 2 of edges say whether to filter the
// left edge, the upper one and the inner ones.
//
//go:noescape
func vp8FilterSIMD(y *byte, stride int, u, v *byte, strideC int, limits *[4]uint8, edges int)

// vp8ToRGBx3SIMD and vp8ToRGBx4SIMD convert n times 32 pixels to pixels of 3
// and 4 bytes. They read 17 bytes of chroma for the first 32 and 16 more for
// each of the others.
//
//go:noescape
func vp8ToRGBx3SIMD(dst, y *byte, chroma *[4]*byte, n int)

//go:noescape
func vp8ToRGBx4SIMD(dst, y *byte, chroma *[4]*byte, n int)

// vp8FilterSimpleNEON is VP8FilterSimple. limits are those of outer and inner
// edges; edges is as in vp8FilterSIMD.
//
//go:noescape
func vp8FilterSimpleNEON(y *byte, stride int, limits *[2]uint8, edges int)

func vp8FilterSimple(y []byte, at, stride int, f *VP8Filter) bool {
	if !hasSIMD() {
		return false
	}
	// The assembly reads and writes 4 samples more on both sides, and 2 rows
	// above.
	_, _, _ = y[at-2*stride], y[at-4], y[at+15*stride+19]
	vp8FilterSimpleNEON(&y[at], stride, &[2]uint8{f.Limit + 4, f.Limit}, f.edges())
	return true
}
