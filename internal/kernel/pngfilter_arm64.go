//go:build !purego

package kernel

// pngLeft3NEON and pngLeft4NEON add to n pixels, a multiple of 4 and not 0,
// those to their left. They read 16 bytes for every four pixels and may work in
// place.
//
//go:noescape
func pngLeft3NEON(dst, src *byte, n int)

//go:noescape
func pngLeft4NEON(dst, src *byte, n int)

// pngUpNEON adds n bytes, a multiple of 64 and not 0.
//
//go:noescape
func pngUpNEON(dst, src, prev *byte, n int)

// pngAverage3NEON and the next three process n pixels, a multiple of 4 and not
// 0. They read 16 bytes for every four pixels. Those for three bytes write one
// more byte.
//
//go:noescape
func pngAverage3NEON(dst, src, prev *byte, n int)

//go:noescape
func pngAverage4NEON(dst, src, prev *byte, n int)

//go:noescape
func pngPaeth3NEON(dst, src, prev *byte, n int)

//go:noescape
func pngPaeth4NEON(dst, src, prev *byte, n int)

// The functions below process the first bytes in assembly and return how many.

// pngPixels returns how many of n bytes' pixels the assembly processes.
func pngPixels(n, bpp int) int {
	if bpp != 3 && bpp != 4 || n < 16 || !hasSIMD() {
		return 0
	}
	return ((n-16)/(4*bpp) + 1) * 4
}

func pngLeft(dst, src []byte, bpp int) int {
	n := pngPixels(len(src), bpp)
	if n == 0 {
		return 0
	}
	_ = dst[len(src)-1]
	if bpp == 3 {
		pngLeft3NEON(&dst[0], &src[0], n)
	} else {
		pngLeft4NEON(&dst[0], &src[0], n)
	}
	return n * bpp
}

func pngUp(dst, src, prev []byte) int {
	n := len(src) &^ 63
	if n == 0 || !hasSIMD() {
		return 0
	}
	_, _ = dst[n-1], prev[n-1]
	pngUpNEON(&dst[0], &src[0], &prev[0], n)
	return n
}

func pngAverage(dst, src, prev []byte, bpp int) int {
	n := pngPixels(len(src), bpp)
	if n == 0 {
		return 0
	}
	_, _ = dst[len(src)-1], prev[len(src)-1]
	if bpp == 3 {
		pngAverage3NEON(&dst[0], &src[0], &prev[0], n)
	} else {
		pngAverage4NEON(&dst[0], &src[0], &prev[0], n)
	}
	return n * bpp
}

func pngPaeth(dst, src, prev []byte, bpp int) int {
	n := pngPixels(len(src), bpp)
	if n == 0 {
		return 0
	}
	_, _ = dst[len(src)-1], prev[len(src)-1]
	if bpp == 3 {
		pngPaeth3NEON(&dst[0], &src[0], &prev[0], n)
	} else {
		pngPaeth4NEON(&dst[0], &src[0], &prev[0], n)
	}
	return n * bpp
}
