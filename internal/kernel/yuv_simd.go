//go:build (amd64 || arm64) && !purego

package kernel

// yuvTwice[step-1][at] is the byte order that gives each of 8 chroma samples to
// two pixels. The samples are those of 16 bytes from byte at on.
var yuvTwice = func() (t [2][9][16]uint8) {
	for i := range 16 {
		for at := range 9 {
			t[0][at][i] = uint8(at + i/2)
		}
		for at := range 2 {
			t[1][at][i] = uint8(at + i/2*2)
		}
	}
	return t
}()

// yuv420ToRGB converts the first pixels of a row and returns their number,
// which is even.
func yuv420ToRGB(dst, y, u, v []byte, step int) int {
	n := len(y) &^ 1
	chroma := (n/2-1)*step + 1
	if chroma < 16 || (step != 1 && step != 2) || !hasSIMD() {
		return 0
	}
	_, _, _ = dst[3*n-1], u[chroma-1], v[chroma-1]
	order := &yuvTwice[step-1]
	i := ((chroma-16)/(8*step) + 1) * 16
	yuv420SIMD(&dst[0], &y[0], &u[0], &v[0], i, &order[0], 8*step)
	// Fewer than 16 bytes of chroma are left, so the last pixels use the last
	// 16 bytes. If fewer than 16 pixels are left, some are converted again.
	for ; i < n; i += 16 {
		i = min(i, n-16)
		c := i / 2 * step
		from := min(c, chroma-16)
		yuv420SIMD(&dst[3*i], &y[i], &u[from], &v[from], 16, &order[c-from], 0)
	}
	return n
}
