//go:build (amd64 || arm64) && !purego

package kernel

// adlerRow adds the first bytes of p in assembly and returns how many.
func adlerRow(p []byte, sums *[2]uint32) int {
	n := len(p) &^ 31
	if n == 0 || !hasSIMD() {
		return 0
	}
	adlerSIMD(&p[0], n, sums)
	return n
}
