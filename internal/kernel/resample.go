package kernel

// clip8 converts a fixed-point sum to a byte.
func clip8(v int32) uint8 {
	v >>= TapsBits
	if uint32(v) > 255 {
		if v < 0 {
			return 0
		}
		return 255
	}
	return uint8(v)
}

// PackRows prepares t for calls of Horizontal with pixels of 3 channels, which
// may then be faster. It pays off from about ten rows.
func (t *Taps) PackRows() { t.packRows() }

// Horizontal is the horizontal pass of Pillow's fixed-point resampling. It
// resamples rows of inW pixels of ch channels from src to rows of len(t.Start)
// pixels in dst. t must have fixed-point weights, and its Start must be
// relative to src's first column. Concurrent passes may share t. Groups of four
// rows are fastest.
func (t *Taps) Horizontal(dst, src []uint8, rows, inW, ch int) {
	if !t.horizontal(dst, src, rows, inW, ch) {
		t.horizontalGo(dst, src, rows, inW, ch, 0)
	}
}

// Vertical is the vertical pass. It resamples src, rows of line bytes, to the
// len(t.Start) rows of dst. Start must be relative to src's first row.
func (t *Taps) Vertical(dst, src []uint8, line int) {
	for y, s := range t.Start {
		t.VerticalRow(dst[y*line:][:line], src[int(s)*line:], line, y)
	}
}

// VerticalRow computes row i of Vertical. src starts with row t.Start[i] of the
// input and has at least t.Len[i] rows of line bytes.
func (t *Taps) VerticalRow(dst, src []uint8, line, i int) {
	if !t.vertical(dst, src, line, i) {
		t.verticalGo(dst, src, line, i)
	}
}

// horizontalGo is Horizontal in Go for the outputs from first on.
func (t *Taps) horizontalGo(dst, src []uint8, rows, inW, ch, first int) {
	outW := len(t.Start)
	start, length, w, k := t.Start[first:], t.Len[first:outW], t.W32[first*t.K:], t.K
	for y := range rows {
		in, out := src[y*inW*ch:][:inW*ch], dst[y*outW*ch:][:outW*ch][first*ch:]
		switch ch {
		case 1:
			for x := range out {
				n := int(length[x])
				p, q := in[start[x]:][:n], w[x*k:][:n]
				s := int32(1 << (TapsBits - 1))
				for i, c := range q {
					s += int32(p[i]) * c
				}
				out[x] = clip8(s)
			}
		case 3:
			for x := range start {
				n := int(length[x])
				p, q := in[int(start[x])*3:][:n*3], w[x*k:][:n]
				a, b, c := int32(1<<(TapsBits-1)), int32(1<<(TapsBits-1)), int32(1<<(TapsBits-1))
				for _, f := range q {
					_ = p[2]
					a += int32(p[0]) * f
					b += int32(p[1]) * f
					c += int32(p[2]) * f
					p = p[3:]
				}
				o := out[x*3:][:3]
				o[0], o[1], o[2] = clip8(a), clip8(b), clip8(c)
			}
		case 4:
			for x := range start {
				n := int(length[x])
				p, q := in[int(start[x])*4:][:n*4], w[x*k:][:n]
				a, b, c, d := int32(1<<(TapsBits-1)), int32(1<<(TapsBits-1)), int32(1<<(TapsBits-1)), int32(1<<(TapsBits-1))
				for _, f := range q {
					_ = p[3]
					a += int32(p[0]) * f
					b += int32(p[1]) * f
					c += int32(p[2]) * f
					d += int32(p[3]) * f
					p = p[4:]
				}
				o := out[x*4:][:4]
				o[0], o[1], o[2], o[3] = clip8(a), clip8(b), clip8(c), clip8(d)
			}
		default:
			for x := range start {
				n := int(length[x])
				p, q := in[int(start[x])*ch:][:n*ch], w[x*k:][:n]
				for c := range ch {
					s := int32(1 << (TapsBits - 1))
					for i, f := range q {
						s += int32(p[i*ch+c]) * f
					}
					out[x*ch+c] = clip8(s)
				}
			}
		}
	}
}

// verticalGo is VerticalRow in Go.
func (t *Taps) verticalGo(dst, src []uint8, line, i int) {
	n := int(t.Len[i])
	src = src[:n*line]
	w := t.W32[i*t.K:][:n]
	var sums [512]int32
	for first := 0; first < line; {
		out := dst[first:min(first+len(sums), line)]
		sum, in, q := sums[:len(out)], src[first:], w
		first += len(out)
		for i := range sum {
			sum[i] = 1 << (TapsBits - 1)
		}
		for len(q) > 4 {
			a, b, c, d := in[:len(out)], in[line:][:len(out)], in[2*line:][:len(out)], in[3*line:][:len(out)]
			t, u, v, z := q[0], q[1], q[2], q[3]
			for i := range sum {
				sum[i] += int32(a[i])*t + int32(b[i])*u + int32(c[i])*v + int32(d[i])*z
			}
			in, q = in[4*line:], q[4:]
		}
		switch len(q) {
		case 4:
			a, b, c, d := in[:len(out)], in[line:][:len(out)], in[2*line:][:len(out)], in[3*line:][:len(out)]
			t, u, v, z := q[0], q[1], q[2], q[3]
			for i, s := range sum {
				out[i] = clip8(s + int32(a[i])*t + int32(b[i])*u + int32(c[i])*v + int32(d[i])*z)
			}
		case 3:
			a, b, c := in[:len(out)], in[line:][:len(out)], in[2*line:][:len(out)]
			t, u, v := q[0], q[1], q[2]
			for i, s := range sum {
				out[i] = clip8(s + int32(a[i])*t + int32(b[i])*u + int32(c[i])*v)
			}
		case 2:
			a, b := in[:len(out)], in[line:][:len(out)]
			t, u := q[0], q[1]
			for i, s := range sum {
				out[i] = clip8(s + int32(a[i])*t + int32(b[i])*u)
			}
		case 1:
			a, t := in[:len(out)], q[0]
			for i, s := range sum {
				out[i] = clip8(s + int32(a[i])*t)
			}
		default:
			for i, s := range sum {
				out[i] = clip8(s)
			}
		}
	}
}

// HorizontalF32 is Taps.Horizontal for Pillow's mode F, with sums in float64.
func HorizontalF32(dst, src []float32, rows, inW, outW, ch int, start, length []int32, w []float64, k int) {
	start, length = start[:outW], length[:outW]
	for y := range rows {
		in, out := src[y*inW*ch:][:inW*ch], dst[y*outW*ch:][:outW*ch]
		for x := range start {
			n := int(length[x])
			p, q := in[int(start[x])*ch:][:n*ch], w[x*k:][:n]
			for c := range ch {
				s := 0.0
				for i, t := range q {
					s += float64(float64(p[i*ch+c]) * t)
				}
				out[x*ch+c] = float32(s)
			}
		}
	}
}

// VerticalF32 is Taps.Vertical for Pillow's mode F. sum is scratch of line
// elements.
func VerticalF32(dst, src []float32, outH, line int, start, length []int32, w []float64, k int, sum []float64) {
	sum = sum[:line]
	for y := range outH {
		n := int(length[y])
		in, q, out := src[int(start[y])*line:][:n*line], w[y*k:][:n], dst[y*line:][:line]
		clear(sum)
		for j, t := range q {
			a := in[j*line:][:line]
			for i := range sum {
				sum[i] += float64(float64(a[i]) * t)
			}
		}
		for i, s := range sum {
			out[i] = float32(s)
		}
	}
}

// Premultiply multiplies the colours of pixels of ch channels by the last
// channel, alpha, as Pillow's convert("RGBa") and convert("La") do. dst may be
// src.
func Premultiply(dst, src []uint8, ch int) {
	for i := 0; i+ch <= len(src); i += ch {
		a := uint32(src[i+ch-1])
		for c := range ch - 1 {
			v := uint32(src[i+c])*a + 128
			dst[i+c] = uint8((v>>8 + v) >> 8)
		}
		dst[i+ch-1] = uint8(a)
	}
}

// Unpremultiply is Pillow's conversion from RGBa to RGBA and from La to LA. dst
// may be src.
func Unpremultiply(dst, src []uint8, ch int) {
	for i := 0; i+ch <= len(src); i += ch {
		a := uint32(src[i+ch-1])
		for c := range ch - 1 {
			v := uint32(src[i+c])
			if a != 0 && a != 255 {
				v = min(v*255/a, 255)
			}
			dst[i+c] = uint8(v)
		}
		dst[i+ch-1] = uint8(a)
	}
}

// PremultiplyPlanes is Premultiply for ch planes, one after another.
func PremultiplyPlanes(dst, src []uint8, ch int) {
	n := len(src) / ch
	alpha := src[(ch-1)*n:][:n]
	for c := range ch - 1 {
		in, out := src[c*n:][:n], dst[c*n:][:n]
		for i, a := range alpha {
			v := uint32(in[i])*uint32(a) + 128
			out[i] = uint8((v>>8 + v) >> 8)
		}
	}
	copy(dst[(ch-1)*n:], alpha)
}

// UnpremultiplyPlanes is Unpremultiply for ch planes, one after another.
func UnpremultiplyPlanes(dst, src []uint8, ch int) {
	n := len(src) / ch
	alpha := src[(ch-1)*n:][:n]
	for c := range ch - 1 {
		in, out := src[c*n:][:n], dst[c*n:][:n]
		for i, a := range alpha {
			v := uint32(in[i])
			if a != 0 && a != 255 {
				v = min(v*255/uint32(a), 255)
			}
			out[i] = uint8(v)
		}
	}
	copy(dst[(ch-1)*n:], alpha)
}
