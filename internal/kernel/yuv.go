package kernel

// libyuv's coefficients for BT.601 in full range (kYuvJPEGConstants), in 6
// bits: R = Y + 1.402 V, G = Y - 0.34414 U - 0.71414 V, B = Y + 1.772 U.
const (
	yuvY  = 16320 // 64 x 256 x 256 / 257, for Y x 257 and a shift by 16
	yuvUB = 113
	yuvUG = 22
	yuvVG = 46
	yuvVR = 90
)

// yuvClamp clamps the values of a conversion, plus yuvBias, without a branch,
// which would often be mispredicted.
var yuvClamp = func() (t [1024]byte) {
	for i := range t {
		t[i] = clampByte(int32(i) - yuvBias)
	}
	return t
}()

const yuvBias = 256 // values are from -225 to 480

// YUV420ToRGB converts a row of a camera frame as libyuv's Android420ToARGB
// does with kYuvJPEGConstants: dst gets three bytes for each pixel of y. Pixel
// i has the chroma samples u[i/2*step] and v[i/2*step].
func YUV420ToRGB(dst, y, u, v []byte, step int) {
	n := len(y)
	if n == 0 {
		return
	}
	dst = dst[:3*n]
	last := (n - 1) / 2 * step
	u, v = u[:last+1], v[:last+1]
	i := yuv420ToRGB(dst, y, u, v, step)
	for c := i / 2 * step; i < n; c += step {
		cu, cv := int32(u[c])-128, int32(v[c])-128
		r, g, b := yuvVR*cv, -yuvUG*cu-yuvVG*cv, yuvUB*cu
		for end := min(i+2, n); i < end; i++ {
			l := int32(uint32(y[i])*257*yuvY>>16) + 32 + yuvBias<<6
			p := dst[3*i : 3*i+3 : 3*i+3]
			p[0] = yuvClamp[uint32(l+r)>>6%1024]
			p[1] = yuvClamp[uint32(l+g)>>6%1024]
			p[2] = yuvClamp[uint32(l+b)>>6%1024]
		}
	}
}
