package jpeg

// YCbCr to RGB by CCIR 601-1, in 16-bit fixed point:
//
//	R = Y + 1.40200 Cr
//	G = Y - 0.34414 Cb - 0.71414 Cr
//	B = Y + 1.77200 Cb
//
// with Cb and Cr less 128. R's and B's chroma parts are rounded alone, G's two
// are added first: so libjpeg's tables are made.
var crR, cbB, crG, cbG [256]int32

// The factors, times 65536.
const (
	fix140200 = 91881
	fix177200 = 116130
	fix071414 = 46802
	fix034414 = 22554
)

func init() {
	for i := range 256 {
		x := int32(i) - 128
		crR[i] = (fix140200*x + 1<<15) >> 16
		cbB[i] = (fix177200*x + 1<<15) >> 16
		crG[i] = -fix071414 * x
		cbG[i] = -fix034414*x + 1<<15
	}
}

// clamp limits a colour to a byte.
func clamp(v int32) byte {
	if uint32(v) > 255 {
		return byte(^(v >> 31))
	}
	return byte(v)
}

// yccToRGB fills dst, three bytes a pixel.
func yccToRGB(dst, y, cb, cr []byte) {
	n := len(dst) / 3
	y, cb, cr = y[:n], cb[:n], cr[:n]
	for i := range n {
		l, b, r := int32(y[i]), cb[i], cr[i]
		p := dst[3*i : 3*i+3 : 3*i+3]
		p[0] = clamp(l + crR[r])
		p[1] = clamp(l + (cbG[b]+crG[r])>>16)
		p[2] = clamp(l + cbB[b])
	}
}

// interleave3 fills dst with three planes.
func interleave3(dst, a, b, c []byte) {
	n := len(dst) / 3
	a, b, c = a[:n], b[:n], c[:n]
	for i := range n {
		p := dst[3*i : 3*i+3 : 3*i+3]
		p[0], p[1], p[2] = a[i], b[i], c[i]
	}
}

// rgbToGray is libjpeg's and Pillow's luma: 0.299 R + 0.587 G + 0.114 B.
func rgbToGray(dst, r, g, b []byte) {
	r, g, b = r[:len(dst)], g[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = byte((19595*uint32(r[i]) + 38470*uint32(g[i]) + 7471*uint32(b[i]) + 1<<15) >> 16)
	}
}

// invert4 fills dst with four planes, inverted: Pillow takes all CMYK files to be
// the other way round, as Adobe writes them.
func invert4(dst, c, m, y, k []byte) {
	n := len(dst) / 4
	c, m, y, k = c[:n], m[:n], y[:n], k[:n]
	for i := range n {
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = ^c[i], ^m[i], ^y[i], ^k[i]
	}
}

// ycckToCMYK converts the first three planes to RGB, which is inverted CMY, and
// then inverts all as invert4 does: libjpeg's own inversion and Pillow's cancel
// out in C, M and Y.
func ycckToCMYK(dst, y, cb, cr, k []byte) {
	n := len(dst) / 4
	y, cb, cr, k = y[:n], cb[:n], cr[:n], k[:n]
	for i := range n {
		l, b, r := int32(y[i]), cb[i], cr[i]
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0] = clamp(l + crR[r])
		p[1] = clamp(l + (cbG[b]+crG[r])>>16)
		p[2] = clamp(l + cbB[b])
		p[3] = ^k[i]
	}
}
