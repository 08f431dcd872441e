//go:build !purego

package kernel

// adlerSIMD adds n bytes to the sums of Adler-32, which it does not reduce. n
// is a multiple of 32, at most adlerMost and not 0.
//
//go:noescape
func adlerSIMD(p *byte, n int, sums *[2]uint32)
