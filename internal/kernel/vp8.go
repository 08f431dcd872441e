package kernel

import "encoding/binary"

// This file holds the rest of decoding VP8's key frames: the inverse
// transforms, the loop filters, and libwebp's upsampling and colours.

// VP8Means writes the first coefficients of the luma blocks from their means
// (RFC 6386, section 14.3). count is that of the block of means.
func VP8Means(m *VP8Macroblock) {
	in, luma := &m.Coef[VP8Y2], m.Coef[VP8Luma:VP8Chroma]
	if m.Count[VP8Y2] <= 1 {
		v := int16((int(in[0]) + 3) >> 3)
		for i := range luma {
			luma[i][0] = v
		}
		return
	}
	var t [16]int
	for i := range 4 {
		a0, a1 := int(in[i])+int(in[12+i]), int(in[4+i])+int(in[8+i])
		a2, a3 := int(in[4+i])-int(in[8+i]), int(in[i])-int(in[12+i])
		t[i], t[4+i], t[8+i], t[12+i] = a0+a1, a3+a2, a0-a1, a3-a2
	}
	for i := range 4 {
		row, out := t[4*i:][:4], luma[4*i:][:4]
		a0, a1 := row[0]+3+row[3], row[1]+row[2]
		a2, a3 := row[1]-row[2], row[0]+3-row[3]
		out[0][0], out[1][0] = int16((a0+a1)>>3), int16((a3+a2)>>3)
		out[2][0], out[3][0] = int16((a0-a1)>>3), int16((a3-a2)>>3)
	}
}

// The factors of the inverse transform are 1 + vp8K1/65536 and vp8K2/65536.
const (
	vp8K1 = 20091
	vp8K2 = 35468
)

// VP8Add adds the inverse transform of a block of 4x4 samples to dst. count is
// the number of coefficients up to the last one. libwebp has transforms for few
// coefficients, which differ from that for many where 16 bits overflow.
func VP8Add(dst []byte, stride int, coef *[16]int16, count uint8) {
	switch {
	case count > 3:
		vp8AddAll(dst, stride, coef)
	case count > 1:
		vp8AddThree(dst, stride, coef)
	case coef[0] != 0:
		vp8AddFirst(dst, stride, coef[0])
	}
}

func vp8AddFirst(dst []byte, stride int, first int16) {
	v := (int32(first) + 4) >> 3
	for y := range 4 {
		p := dst[y*stride:][:4]
		for x := range p {
			p[x] = clampByte(int32(p[x]) + v)
		}
	}
}

// vp8AddThree is the transform of the coefficients at 0, 1 and 4.
func vp8AddThree(dst []byte, stride int, coef *[16]int16) {
	a := int32(coef[0]) + 4
	c1, d1 := int32(coef[1])*vp8K2>>16, int32(coef[1])*vp8K1>>16+int32(coef[1])
	c4, d4 := int32(coef[4])*vp8K2>>16, int32(coef[4])*vp8K1>>16+int32(coef[4])
	for y, v := range [4]int32{a + d4, a + c4, a - c4, a - d4} {
		p := dst[y*stride:][:4]
		p[0] = clampByte(int32(p[0]) + (v+d1)>>3)
		p[1] = clampByte(int32(p[1]) + (v+c1)>>3)
		p[2] = clampByte(int32(p[2]) + (v-c1)>>3)
		p[3] = clampByte(int32(p[3]) + (v-d1)>>3)
	}
}

// vp8AddAll is the whole transform. All its values have 16 bits, as in
// libwebp's SSE2, which matters for damaged files only.
func vp8AddAll(dst []byte, stride int, coef *[16]int16) {
	var t [16]int16
	for x := range 4 {
		t[4*x], t[4*x+1], t[4*x+2], t[4*x+3] = vp8Pass(coef[x], coef[4+x], coef[8+x], coef[12+x])
	}
	for y := range 4 {
		v0, v1, v2, v3 := vp8Pass(t[y]+4, t[4+y], t[8+y], t[12+y])
		p := dst[y*stride:][:4]
		p[0] = clampByte(int32(p[0]) + int32(v0>>3))
		p[1] = clampByte(int32(p[1]) + int32(v1>>3))
		p[2] = clampByte(int32(p[2]) + int32(v2>>3))
		p[3] = clampByte(int32(p[3]) + int32(v3>>3))
	}
}

func vp8Pass(i0, i1, i2, i3 int16) (int16, int16, int16, int16) {
	a, b := i0+i2, i0-i2
	c := int16(int32(i1)*vp8K2>>16) - int16(int32(i3)*vp8K1>>16) - i3
	d := int16(int32(i1)*vp8K1>>16) + i1 + int16(int32(i3)*vp8K2>>16)
	return a + d, b + c, b - c, a - d
}

// VP8AddRow adds the inverse transforms of four blocks: two at a and the next
// two at b. Their coefficients must be below 1<<13, or the results may differ
// from those of VP8Add.
func VP8AddRow(a, b []byte, stride int, coefA, coefB *[2][16]int16) {
	_, _ = a[3*stride+7], b[3*stride+7]
	if vp8AddRow(a, b, stride, coefA, coefB) {
		return
	}
	for i := range 2 {
		vp8AddAll(a[4*i:], stride, &coefA[i])
		vp8AddAll(b[4*i:], stride, &coefB[i])
	}
}

// VP8Filter says how the edges of a macroblock are filtered (RFC 6386, section
// 15). Limit is that of edges within the macroblock; those to its neighbours
// have 4 more. 0 means no filter.
type VP8Filter struct {
	Limit, Interior, Variance uint8
	Inner                     bool // the edges within the macroblock
	Left, Above               bool // the edges to the neighbours
}

// VP8Pad is the number of samples on both sides of the planes' rows that
// VP8FilterNormal may read and, without a change, write.
const VP8Pad = 16

// VP8FilterNormal filters the edges of a macroblock whose first samples are
// y[at], u[atC] and v[atC], with the normal filter: first the vertical ones.
func VP8FilterNormal(y []byte, at, stride int, u, v []byte, atC, strideC int, f *VP8Filter) {
	if vp8FilterNormal(y, at, stride, u, v, atC, strideC, f) {
		return
	}
	limit, interior, variance := int(f.Limit), int(f.Interior), int(f.Variance)
	for _, way := range [2]struct{ step, across, stepC, acrossC int }{{stride, 1, strideC, 1}, {1, stride, 1, strideC}} {
		if way.across == 1 && f.Left || way.across != 1 && f.Above {
			vp8Edge(y, at, 16, way.step, way.across, limit+4, interior, variance, true)
			vp8Edge(u, atC, 8, way.stepC, way.acrossC, limit+4, interior, variance, true)
			vp8Edge(v, atC, 8, way.stepC, way.acrossC, limit+4, interior, variance, true)
		}
		if f.Inner {
			for i := 4; i < 16; i += 4 {
				vp8Edge(y, at+i*way.across, 16, way.step, way.across, limit, interior, variance, false)
			}
			vp8Edge(u, atC+4*way.acrossC, 8, way.stepC, way.acrossC, limit, interior, variance, false)
			vp8Edge(v, atC+4*way.acrossC, 8, way.stepC, way.acrossC, limit, interior, variance, false)
		}
	}
}

// VP8FilterSimple is VP8FilterNormal for the simple filter, of luma alone.
func VP8FilterSimple(y []byte, at, stride int, f *VP8Filter) {
	if vp8FilterSimple(y, at, stride, f) {
		return
	}
	limit := int(f.Limit)
	for _, way := range [2]struct{ step, across int }{{stride, 1}, {1, stride}} {
		if way.across == 1 && f.Left || way.across != 1 && f.Above {
			vp8SimpleEdge(y, at, way.step, way.across, limit+4)
		}
		if f.Inner {
			for i := 4; i < 16; i += 4 {
				vp8SimpleEdge(y, at+i*way.across, way.step, way.across, limit)
			}
		}
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// vp8Eighth divides by 8 and limits the result to 5 bits.
func vp8Eighth(v int) int { return max(-16, min(v>>3, 15)) }

func vp8SimpleEdge(p []byte, at, step, across, limit int) {
	for range 16 {
		q := p[at-2*across:]
		p1, p0, q0, q1 := int(q[0]), int(q[across]), int(q[2*across]), int(q[3*across])
		if 2*distance(p0, q0)+distance(p1, q1)>>1 <= limit {
			a := 3*(q0-p0) + max(-128, min(p1-q1, 127))
			q[across] = clampByte(int32(p0 + vp8Eighth(a+3)))
			q[2*across] = clampByte(int32(q0 - vp8Eighth(a+4)))
		}
		at += step
	}
}

// vp8Edge filters n positions of an edge, between macroblocks or within one.
func vp8Edge(p []byte, at, n, step, across, limit, interior, variance int, outer bool) {
	for range n {
		s := p[at-4*across:]
		at += step
		p3, p2, p1, p0 := int(s[0]), int(s[across]), int(s[2*across]), int(s[3*across])
		q0, q1, q2, q3 := int(s[4*across]), int(s[5*across]), int(s[6*across]), int(s[7*across])
		dp, dq := distance(p1, p0), distance(q1, q0)
		if 2*distance(p0, q0)+distance(p1, q1)>>1 > limit ||
			max(distance(p3, p2), distance(p2, p1), dp, dq, distance(q2, q1), distance(q3, q2)) > interior {
			continue
		}
		a := 3 * (q0 - p0)
		high := max(dp, dq) > variance
		if high || outer {
			a += max(-128, min(p1-q1, 127))
		}
		switch {
		case high:
			s[3*across] = clampByte(int32(p0 + vp8Eighth(a+3)))
			s[4*across] = clampByte(int32(q0 - vp8Eighth(a+4)))
		case outer:
			a = max(-128, min(a, 127))
			a1, a2, a3 := (27*a+63)>>7, (18*a+63)>>7, (9*a+63)>>7
			s[across] = clampByte(int32(p2 + a3))
			s[2*across] = clampByte(int32(p1 + a2))
			s[3*across] = clampByte(int32(p0 + a1))
			s[4*across] = clampByte(int32(q0 - a1))
			s[5*across] = clampByte(int32(q1 - a2))
			s[6*across] = clampByte(int32(q2 - a3))
		default:
			a1 := vp8Eighth(a + 4)
			a3 := (a1 + 1) >> 1
			s[2*across] = clampByte(int32(p1 + a3))
			s[3*across] = clampByte(int32(p0 + vp8Eighth(a+3)))
			s[4*across] = clampByte(int32(q0 - a1))
			s[5*across] = clampByte(int32(q1 - a3))
		}
	}
}

// VP8Chroma420 holds the two rows of chroma that a row of pixels needs: the
// nearest one and the next one, with (n+1)/2 samples.
type VP8Chroma420 struct{ UNear, UFar, VNear, VFar []byte }

// VP8ToRGB converts a row of pixels as libwebp does with fancy upsampling. size
// is 3 for RGB and 4 for RGBA, whose alpha becomes 255.
//
// Chroma is mixed 9:3:3:1. It rounds as libwebp's dsp/upsampling.c: a sum
// divided by 8, then its mean with the nearest sample, both rounded down.
func VP8ToRGB(dst, y []byte, c *VP8Chroma420, size int) {
	n := len(y)
	last := (n - 1) / 2
	dst = dst[:n*size]
	un, uf, vn, vf := c.UNear[:last+1], c.UFar[:last+1], c.VNear[:last+1], c.VFar[:last+1]
	vp8Pixel(dst, y[0], vp8Edged(un[0], uf[0]), vp8Edged(vn[0], vf[0]), size)
	if n%2 == 0 {
		vp8Pixel(dst[(n-1)*size:], y[n-1], vp8Edged(un[last], uf[last]), vp8Edged(vn[last], vf[last]), size)
	}
	i := vp8ToRGB(dst, y, c, size)
	for ; i < last; i++ {
		u0, u1 := vp8Mixed(un[i], un[i+1], uf[i], uf[i+1])
		v0, v1 := vp8Mixed(vn[i], vn[i+1], vf[i], vf[i+1])
		x := 2*i + 1
		vp8Pixel(dst[x*size:], y[x], u0, v0, size)
		vp8Pixel(dst[(x+1)*size:], y[x+1], u1, v1, size)
	}
}

// vp8Edged mixes the chroma of the first and the last pixel of a row.
func vp8Edged(near, far uint8) uint32 { return (3*uint32(near) + uint32(far) + 2) >> 2 }

// vp8Mixed returns the chroma of the two pixels between two columns of samples.
func vp8Mixed(near0, near1, far0, far1 uint8) (uint32, uint32) {
	n0, n1, f0, f1 := uint32(near0), uint32(near1), uint32(far0), uint32(far1)
	sum := n0 + n1 + f0 + f1 + 8
	return ((sum+2*(n1+f0))>>3 + n0) >> 1, ((sum+2*(n0+f1))>>3 + n1) >> 1
}

// vp8Pixel is libwebp's VP8YuvToRgb (dsp/yuv.h): limited-range BT.601 with
// coefficients of 14 fraction bits. 8 bits are dropped after each product.
func vp8Pixel(dst []byte, y uint8, u, v uint32, size int) {
	l, cu, cv := int32(y)*19077>>8, int32(u), int32(v)
	p := dst[:3]
	p[0] = vp8Clamp[(l+cv*26149>>8-14234)>>6+vp8Bias]
	p[1] = vp8Clamp[(l-cu*6419>>8-cv*13320>>8+8708)>>6+vp8Bias]
	p[2] = vp8Clamp[(l+cu*33050>>8-17685)>>6+vp8Bias]
	if size == 4 {
		dst[3] = 255
	}
}

// vp8Clamp limits a value to a byte without a branch. All sums of vp8Pixel are
// within the table.
var vp8Clamp = func() (t [1024]uint8) {
	for i := range t {
		t[i] = uint8(max(0, min(i-vp8Bias, 255)))
	}
	return t
}()

const vp8Bias = 300

// VP8True predicts a square of n x n samples as the sample to the left plus the
// one above minus the one above to the left (TM_PRED). p[at] is the first.
func VP8True(p []byte, at, stride, n int) {
	above := p[at-stride-1:][: n+1 : n+1]
	if vp8True(p, at, stride, n) {
		return
	}
	corner := int32(above[0])
	above = above[1:]
	for range n {
		row := p[at-1:][: n+1 : n+1]
		left := int32(row[0]) - corner
		for x, a := range above {
			row[x+1] = clampByte(left + int32(a))
		}
		at += stride
	}
}

// VP8Fill sets n rows of n samples, 16 or 8, to v.
func VP8Fill(p []byte, at, stride, n int, v uint8) {
	word := uint64(v) * 0x0101010101010101
	for range n {
		row := p[at:]
		binary.LittleEndian.PutUint64(row, word)
		if n == 16 {
			binary.LittleEndian.PutUint64(row[8:], word)
		}
		at += stride
	}
}
