//go:build !purego

package kernel

// findBlock is the number of bytes that findWordNEON compares at a time.
const findBlock = 64

// findWordNEON returns the index of the first block of 64 bytes that has w at a
// multiple of 4, or n. n is a multiple of 64 and not 0.
//
//go:noescape
func findWordNEON(b *byte, n int, w uint32) int

// findWord returns an index before the first occurrence of w.
func findWord(b []byte, w uint32) int {
	n := len(b) / findBlock * findBlock
	if n == 0 || !hasSIMD() {
		return 0
	}
	return findWordNEON(&b[0], n, w)
}
