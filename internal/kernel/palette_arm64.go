//go:build !purego

package kernel

// paletteNEON looks up n pixels, a multiple of 8 and not 0.
//
//go:noescape
func paletteNEON(dst, src *byte, n int, table *[256][4]uint8)

// lookupRGB processes the first pixels in assembly and returns how many.
func lookupRGB(dst, src []uint8, table *[256][4]uint8) int {
	n := len(src) &^ 7
	if n == 0 || !hasSIMD() {
		return 0
	}
	_ = dst[3*n-1]
	paletteNEON(&dst[0], &src[0], n, table)
	return n
}
