package kernel

// YCbCr to RGB by CCIR 601-1, in 16-bit fixed point:
//
//	R = Y + 1.40200 Cr
//	G = Y - 0.34414 Cb - 0.71414 Cr
//	B = Y + 1.77200 Cb
//
// 128 is subtracted from Cb and Cr first. As in libjpeg's tables, the chroma
// terms of R and B are rounded separately, and the two of G are added before
// rounding.
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

// clampByte clamps a colour to a byte.
func clampByte(v int32) byte {
	if uint32(v) > 255 {
		return byte(^(v >> 31))
	}
	return byte(v)
}

// YCCToRGB fills dst with three bytes per pixel. dst must not overlap the
// inputs.
func YCCToRGB(dst, y, cb, cr []byte) {
	n := len(dst) / 3
	y, cb, cr = y[:n], cb[:n], cr[:n]
	if yccToRGB(dst, y, cb, cr) {
		return
	}
	for i := range n {
		l, b, r := int32(y[i]), cb[i], cr[i]
		p := dst[3*i : 3*i+3 : 3*i+3]
		p[0] = clampByte(l + crR[r])
		p[1] = clampByte(l + (cbG[b]+crG[r])>>16)
		p[2] = clampByte(l + cbB[b])
	}
}

// YCCKToCMYK converts the first three planes to RGB, which is inverted CMY. It
// then inverts all channels as Pillow does; in C, M and Y libjpeg's own
// inversion cancels Pillow's.
func YCCKToCMYK(dst, y, cb, cr, k []byte) {
	n := len(dst) / 4
	y, cb, cr, k = y[:n], cb[:n], cr[:n], k[:n]
	for i := range n {
		l, b, r := int32(y[i]), cb[i], cr[i]
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0] = clampByte(l + crR[r])
		p[1] = clampByte(l + (cbG[b]+crG[r])>>16)
		p[2] = clampByte(l + cbB[b])
		p[3] = ^k[i]
	}
}
