//go:build !purego

package kernel

// yuvTwice[step-1] is the byte order that gives each of the 8 chroma samples
// in 16 bytes to two pixels.
var yuvTwice = func() (t [2][16]uint8) {
	for i := range 16 {
		t[0][i], t[1][i] = uint8(i/2), uint8(i/2*2)
	}
	return t
}()

// yuv420ToRGB converts the first pixels of a row and returns their number,
// which is even.
func yuv420ToRGB(dst, y, u, v []byte, step int) int {
	if len(y) < 16 || len(u) < 16 || (step != 1 && step != 2) || !hasSIMD() {
		return 0
	}
	n := 16 * min(len(y)/16, (len(u)-16)/(8*step)+1)
	_, _ = dst[3*n-1], v[len(u)-1]
	yuv420AVX2(&dst[0], &y[0], &u[0], &v[0], n, &yuvTwice[step-1], 8*step)
	return n
}
