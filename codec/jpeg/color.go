package jpeg

// interleave3 interleaves three planes in dst.
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

// invert4 interleaves four inverted planes in dst. Pillow treats all CMYK files
// as inverted, as Adobe writes them.
func invert4(dst, c, m, y, k []byte) {
	n := len(dst) / 4
	c, m, y, k = c[:n], m[:n], y[:n], k[:n]
	for i := range n {
		p := dst[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = ^c[i], ^m[i], ^y[i], ^k[i]
	}
}
