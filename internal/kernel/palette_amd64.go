//go:build !purego

package kernel

// lookupRGB processes the first pixels in assembly and returns how many.
func lookupRGB(dst, src []uint8, table *[256][4]uint8) int {
	n := len(src) &^ 7
	if n == 0 || !hasSIMD() {
		return 0
	}
	paletteAMD64(&dst[0], &src[0], n, table)
	return n
}
