//go:build !purego && !small

package kernel

// addLeft16NEON adds to every sample the one of its band to the left, in n
// bytes of pixels of 3 samples. It reads 4 bytes after them. n is a multiple of
// 12, not 0.
//
//go:noescape
func addLeft16NEON(row *byte, n int)

// addLeft16 processes the first bytes of a row of pixels of 3 samples in
// assembly and returns how many.
func addLeft16(row []byte) int {
	n := max(0, len(row)-4) / 12 * 12
	if n == 0 || !hasSIMD() {
		return 0
	}
	addLeft16NEON(&row[0], n)
	return n
}
