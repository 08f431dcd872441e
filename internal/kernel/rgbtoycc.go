package kernel

// RGB to YCbCr by CCIR 601-1, in 16-bit fixed point as libjpeg computes it:
//
//	Y  = ( 0.29900 R + 0.58700 G + 0.11400 B), rounded to nearest
//	Cb = (-0.16874 R - 0.33126 G + 0.50000 B) + 128, halves rounded down
//	Cr = ( 0.50000 R - 0.41869 G - 0.08131 B) + 128, halves rounded down
const (
	fix029900 = 19595
	fix058700 = 38470
	fix011400 = 7471
	fix016874 = 11059
	fix033126 = 21709
	fix050000 = 32768
	fix041869 = 27439
	fix008131 = 5329

	yRound = 1 << 15
	cRound = 128<<16 + 1<<15 - 1
)

// RGBToYCC converts len(y) pixels of three bytes each.
func RGBToYCC(y, cb, cr, rgb []byte) {
	n := len(y)
	cb, cr, rgb = cb[:n], cr[:n], rgb[:3*n]
	if rgbToYCC(y, cb, cr, rgb) {
		return
	}
	for i := range y {
		p := rgb[3*i : 3*i+3 : 3*i+3]
		r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
		y[i] = byte((fix029900*r + fix058700*g + fix011400*b + yRound) >> 16)
		cb[i] = byte((fix050000*b - fix016874*r - fix033126*g + cRound) >> 16)
		cr[i] = byte((fix050000*r - fix041869*g - fix008131*b + cRound) >> 16)
	}
}

// DownsampleH2V1 averages pairs of samples of src. Halves are rounded down at
// even positions of dst and up at odd ones.
func DownsampleH2V1(dst, src []byte) {
	src = src[:2*len(dst)]
	if downsampleH2V1(dst, src) {
		return
	}
	for i := range dst {
		p := src[2*i : 2*i+2 : 2*i+2]
		dst[i] = byte((uint(p[0]) + uint(p[1]) + uint(i&1)) >> 1)
	}
}

// DownsampleH2V2 averages squares of four samples of the rows a and b. 1/4 is
// added at even positions of dst and 2/4 at odd ones before rounding down.
func DownsampleH2V2(dst, a, b []byte) {
	a, b = a[:2*len(dst)], b[:2*len(dst)]
	if downsampleH2V2(dst, a, b) {
		return
	}
	for i := range dst {
		p, q := a[2*i:2*i+2:2*i+2], b[2*i:2*i+2:2*i+2]
		dst[i] = byte((uint(p[0]) + uint(p[1]) + uint(q[0]) + uint(q[1]) + 1 + uint(i&1)) >> 2)
	}
}
