//go:build (amd64 || arm64) && !purego

package kernel

func vp8AddRow(a, b []byte, stride int, coefA, coefB *[2][16]int16) bool {
	if !hasSIMD() {
		return false
	}
	vp8AddRowSIMD(&a[0], &b[0], stride, &coefA[0], &coefB[0])
	return true
}

func vp8PredictBlocks(p []byte, at, stride int, modes *[16]uint8, m *VP8Macroblock) bool {
	if !hasSIMD() {
		return false
	}
	_, _, _ = p[at-stride-1:], p[at-4:], p[at+3*stride+15:][:12*stride+1]
	for _, mode := range modes {
		if mode > vp8HorizontalUp {
			panic("kernel: unknown mode of VP8")
		}
	}
	vp8PredictBlocksSIMD(&p[at], stride, modes, (*[16][16]int16)(m.Coef[VP8Luma:]))
	return true
}

func vp8True(p []byte, at, stride, n int) bool {
	if !hasSIMD() {
		return false
	}
	_, _ = p[at-stride:][15], p[at+(n-1)*stride+n-1]
	vp8TrueSIMD(&p[at], stride, n)
	return true
}

// edges returns bits 0 to 2: whether to filter the left edge, the upper one and
// the inner ones.
func (f *VP8Filter) edges() (edges int) {
	if f.Left {
		edges |= 1
	}
	if f.Above {
		edges |= 2
	}
	if f.Inner {
		edges |= 4
	}
	return edges
}

func vp8FilterNormal(y []byte, at, stride int, u, v []byte, atC, strideC int, f *VP8Filter) bool {
	if !hasSIMD() {
		return false
	}
	// The assembly reads and writes 4 rows above, and on both sides 4 samples
	// more than those of the macroblock.
	_, _ = y[at-4*stride-4], y[at+15*stride+19]
	_, _ = u[atC-4*strideC-4], u[atC+7*strideC+11]
	_, _ = v[atC-4*strideC-4], v[atC+7*strideC+11]
	limits := [4]uint8{f.Limit + 4, f.Limit, f.Interior, f.Variance}
	vp8FilterSIMD(&y[at], stride, &u[atC], &v[atC], strideC, &limits, f.edges())
	return true
}

// vp8ToRGB converts the pixels between the first and the last columns of
// samples and returns the number of columns that are done.
func vp8ToRGB(dst, y []byte, c *VP8Chroma420, size int) int {
	gaps := (len(y) - 1) / 2 // between columns of samples; each has two pixels
	if gaps < 16 || !hasSIMD() {
		return 0
	}
	convert := func(from, n int) {
		x, last := 2*from+1, from+16*n
		d, l := dst[x*size:(x+32*n)*size], y[x:x+32*n]
		_, _, _, _ = c.UNear[last], c.UFar[last], c.VNear[last], c.VFar[last]
		chroma := [4]*byte{&c.UNear[from], &c.UFar[from], &c.VNear[from], &c.VFar[from]}
		if size == 3 {
			vp8ToRGBx3SIMD(&d[0], &l[0], &chroma, n)
		} else {
			vp8ToRGBx4SIMD(&d[0], &l[0], &chroma, n)
		}
	}
	convert(0, gaps/16)
	if gaps%16 != 0 {
		convert(gaps-16, 1) // some are converted again
	}
	return gaps
}
