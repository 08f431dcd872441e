package kernel

import "math"

// Affine and perspective transforms of 8-bit images as Pillow 13.0.0 computes
// them on x86-64. Nearest affine transforms have coordinates of 16 fractional
// bits, or of float64 if they do not fit. Everything else is float64, with
// results truncated to bytes. Source: src/libImaging/Geometry.c.

// PILTaps is the number of taps per axis: 1 (nearest), 2 (bilinear) or 4
// (bicubic).
type PILTaps int

// AffineCoords writes the position in the input of each pixel of row y. The
// matrix maps the output to the input.
func AffineCoords(xs, ys []float64, m *[6]float64, y int) {
	ys = ys[:len(xs)]
	v := float64(y) + 0.5
	mx, my := float64(m[1]*v), float64(m[4]*v)
	if pilCoordsSIMD(xs, ys, &[9]float64{m[0], mx, m[2], m[3], my, m[5]}, false) {
		return
	}
	for i := range xs {
		u := float64(i) + 0.5
		xs[i] = (float64(m[0]*u) + mx) + m[2]
		ys[i] = (float64(m[3]*u) + my) + m[5]
	}
}

// PerspectiveCoords is AffineCoords for eight coefficients. The last two are
// those of the divisor.
func PerspectiveCoords(xs, ys []float64, m *[8]float64, y int) {
	ys = ys[:len(xs)]
	v := float64(y) + 0.5
	mx, my, md := float64(m[1]*v), float64(m[4]*v), float64(m[7]*v)
	if pilCoordsSIMD(xs, ys, &[9]float64{m[0], mx, m[2], m[3], my, m[5], m[6], md}, true) {
		return
	}
	for i := range xs {
		u := float64(i) + 0.5
		d := (float64(m[6]*u) + md) + 1
		xs[i] = ((float64(m[0]*u) + mx) + m[2]) / d
		ys[i] = ((float64(m[3]*u) + my) + m[5]) / d
	}
}

// PILImage is a dense image to transform, with the pixel for positions outside.
type PILImage struct {
	Pix                     []uint8
	Width, Height, Channels int
	Fill                    []uint8 // one value per channel
	Index                   []int32 // scratch for nearest, one for each column
}

// PILNearest computes an affine transform with one tap. dst has rows of width
// pixels. The matrix maps the output to the input.
func (s *PILImage) PILNearest(dst []uint8, width int, m *[6]float64) {
	height := len(dst) / (width * s.Channels)
	fits := func(x, y float64) bool {
		return math.Abs(float64(x*m[0])+float64(y*m[1])+m[2]) < 1<<15 && math.Abs(float64(x*m[3])+float64(y*m[4])+m[5]) < 1<<15
	}
	w, h := float64(width), float64(height)
	switch {
	case m[1] == 0 && m[3] == 0:
		s.scaled(dst, width, m)
	case fits(0, 0) && fits(w, h) && fits(0, h) && fits(w, 0):
		s.fixed(dst, width, m)
	default:
		s.floating(dst, width, m)
	}
}

// scaled is PILNearest for a matrix that keeps the axes. Positions are sums of
// steps.
func (s *PILImage) scaled(dst []uint8, width int, m *[6]float64) {
	RepeatPixel(dst, s.Fill)
	line, ch := width*s.Channels, s.Channels
	yo := m[5] + float64(m[4]*0.5)
	for ; len(dst) > 0; dst = dst[line:] {
		if yo >= 0 && yo < float64(s.Height) {
			row := s.Pix[int(yo)*s.Width*ch:][:s.Width*ch]
			xo := m[2] + float64(m[0]*0.5)
			for x := range width {
				if xo >= 0 && xo < float64(s.Width) {
					copyPixel(dst[x*ch:][:ch], row[int(xo)*ch:])
				}
				xo += m[0]
			}
		}
		yo += m[4]
	}
}

// copyPixel copies len(dst) bytes. It is faster than copy for so few.
func copyPixel(dst, src []uint8) {
	switch len(dst) {
	case 1:
		dst[0] = src[0]
	case 3:
		src = src[:3]
		dst[0], dst[1], dst[2] = src[0], src[1], src[2]
	default:
		copy(dst, src)
	}
}

// fixed is PILNearest with 16 fractional bits. Sums wrap around.
func (s *PILImage) fixed(dst []uint8, width int, m *[6]float64) {
	line, ch, w := width*s.Channels, s.Channels, s.Width
	fix := func(v float64) int32 {
		if v = math.Floor(float64(v*(1<<16)) + 0.5); v >= math.MinInt32 && v <= math.MaxInt32 {
			return int32(v)
		}
		return math.MinInt32 // as x86 converts
	}
	dx, dy := fix(m[0]), fix(m[3])
	x0 := fix((m[2] + float64(m[0]*0.5)) + float64(m[1]*0.5))
	y0 := fix((m[5] + float64(m[3]*0.5)) + float64(m[4]*0.5))
	for ; len(dst) > 0; dst = dst[line:] {
		x, y := x0, y0
		x0 += fix(m[1])
		y0 += fix(m[4])
		row := dst[:line]
		if s.fixedRow(row, x, y, dx, dy) {
			continue
		}
		RepeatPixel(row, s.Fill)
		switch ch {
		case 1:
			for i := range row {
				if xi, yi := x>>16, y>>16; uint32(xi) < uint32(w) && uint32(yi) < uint32(s.Height) {
					row[i] = s.Pix[int(yi)*w+int(xi)]
				}
				x += dx
				y += dy
			}
		case 3:
			for ; len(row) >= 3; row = row[3:] {
				if xi, yi := x>>16, y>>16; uint32(xi) < uint32(w) && uint32(yi) < uint32(s.Height) {
					p := s.Pix[(int(yi)*w+int(xi))*3:][:3]
					row[0], row[1], row[2] = p[0], p[1], p[2]
				}
				x += dx
				y += dy
			}
		default:
			for ; len(row) > 0; row = row[ch:] {
				if xi, yi := x>>16, y>>16; uint32(xi) < uint32(w) && uint32(yi) < uint32(s.Height) {
					copy(row[:ch], s.Pix[(int(yi)*w+int(xi))*ch:])
				}
				x += dx
				y += dy
			}
		}
	}
}

// floating is PILNearest for positions that are too large for fixed.
func (s *PILImage) floating(dst []uint8, width int, m *[6]float64) {
	RepeatPixel(dst, s.Fill)
	line, ch := width*s.Channels, s.Channels
	x0 := (m[2] + float64(m[1]*0.5)) + float64(m[0]*0.5)
	y0 := (m[5] + float64(m[4]*0.5)) + float64(m[3]*0.5)
	for ; len(dst) > 0; dst = dst[line:] {
		x, y := x0, y0
		for row := dst[:line]; len(row) > 0; row = row[ch:] {
			if x >= 0 && x < float64(s.Width) && y >= 0 && y < float64(s.Height) {
				copyPixel(row[:ch], s.Pix[(int(y)*s.Width+int(x))*ch:])
			}
			x += m[0]
			y += m[3]
		}
		x0 += m[1]
		y0 += m[4]
	}
}

// PILRow computes the pixels at len(xs) positions. The pixel (0, 0) of the
// image covers the positions from 0 to 1.
func (s *PILImage) PILRow(k PILTaps, dst []uint8, xs, ys []float64) {
	if !s.rowSIMD(k, dst, xs, ys) {
		s.pilRow(k, dst, xs, ys)
	}
}

// pilRow is PILRow in plain Go.
func (s *PILImage) pilRow(k PILTaps, dst []uint8, xs, ys []float64) {
	ys = ys[:len(xs)]
	ch, w, h := s.Channels, float64(s.Width), float64(s.Height)
	for i, x := range xs {
		y, out := ys[i], dst[i*ch:][:ch]
		if !(x >= 0 && x < w && y >= 0 && y < h) {
			// Pillow computes with a position that is not a number. The result
			// converts to 0.
			if k > 1 && !(x < 0 || x >= w || y < 0 || y >= h) {
				clear(out)
			} else {
				copyPixel(out, s.Fill)
			}
			continue
		}
		switch k {
		case 1:
			copyPixel(out, s.Pix[(int(y)*s.Width+int(x))*ch:])
		case 2:
			s.bilinear(out, x-0.5, y-0.5)
		case 4:
			s.bicubic(out, x-0.5, y-0.5)
		}
	}
}

// floorFrom returns the floor of v >= -0.5 and the distance of v from it.
func floorFrom(v float64) (int, float64) {
	if v < 0 {
		return -1, v + 1
	}
	n := int(v)
	return n, v - float64(n)
}

func mix(a, b, d float64) float64 { return a + float64((b-a)*d) }

func (s *PILImage) bilinear(out []uint8, x, y float64) {
	xi, dx := floorFrom(x)
	yi, dy := floorFrom(y)
	ch, line := s.Channels, s.Width*s.Channels
	l, r := max(xi, 0)*ch, min(xi+1, s.Width-1)*ch
	top, bottom := s.Pix[max(yi, 0)*line:][:line], s.Pix[min(yi+1, s.Height-1)*line:][:line]
	if len(out) == 3 {
		a, b, c, d := top[l:][:3], top[r:][:3], bottom[l:][:3], bottom[r:][:3]
		out[0] = uint8(int(mix(mix(float64(a[0]), float64(b[0]), dx), mix(float64(c[0]), float64(d[0]), dx), dy)))
		out[1] = uint8(int(mix(mix(float64(a[1]), float64(b[1]), dx), mix(float64(c[1]), float64(d[1]), dx), dy)))
		out[2] = uint8(int(mix(mix(float64(a[2]), float64(b[2]), dx), mix(float64(c[2]), float64(d[2]), dx), dy)))
		return
	}
	for c := range out {
		v1 := mix(float64(top[l+c]), float64(top[r+c]), dx)
		v2 := mix(float64(bottom[l+c]), float64(bottom[r+c]), dx)
		out[c] = uint8(int(mix(v1, v2, dy)))
	}
}

// cubic interpolates between b and c with a = -1.
func cubic(a, b, c, d, t float64) float64 {
	p2 := c - a
	p3 := (float64(2*(a-b)) + c) - d
	p4 := ((b - a) - c) + d
	return b + float64(t*(p2+float64(t*(p3+float64(t*p4)))))
}

// cubic8 is cubic for bytes. Their sums are exact.
func cubic8(a, b, c, d uint8, t float64) float64 {
	i, j, k, l := int(a), int(b), int(c), int(d)
	return float64(j) + float64(t*(float64(k-i)+float64(t*(float64(2*(i-j)+k-l)+float64(t*float64(j-i-k+l))))))
}

func (s *PILImage) bicubic(out []uint8, x, y float64) {
	xi, dx := floorFrom(x)
	yi, dy := floorFrom(y)
	ch, line := s.Channels, s.Width*s.Channels
	if len(out) == 3 && xi > 0 && xi < s.Width-2 && yi > 0 && yi < s.Height-2 {
		p := s.Pix[(yi-1)*line+(xi-1)*3:]
		a, b, c, d := p[:12], p[line:][:12], p[2*line:][:12], p[3*line:][:12]
		out[0] = byteOf(cubic(cubic8(a[0], a[3], a[6], a[9], dx), cubic8(b[0], b[3], b[6], b[9], dx), cubic8(c[0], c[3], c[6], c[9], dx), cubic8(d[0], d[3], d[6], d[9], dx), dy))
		out[1] = byteOf(cubic(cubic8(a[1], a[4], a[7], a[10], dx), cubic8(b[1], b[4], b[7], b[10], dx), cubic8(c[1], c[4], c[7], c[10], dx), cubic8(d[1], d[4], d[7], d[10], dx), dy))
		out[2] = byteOf(cubic(cubic8(a[2], a[5], a[8], a[11], dx), cubic8(b[2], b[5], b[8], b[11], dx), cubic8(c[2], c[5], c[8], c[11], dx), cubic8(d[2], d[5], d[8], d[11], dx), dy))
		return
	}
	var at [4]int
	for j := range at {
		at[j] = min(max(xi-1+j, 0), s.Width-1) * ch
	}
	var rows [4][]uint8
	for j := range rows {
		rows[j] = s.Pix[min(max(yi-1+j, 0), s.Height-1)*line:][:line]
	}
	for c := range out {
		var v [4]float64
		for j, p := range rows {
			v[j] = cubic(float64(p[at[0]+c]), float64(p[at[1]+c]), float64(p[at[2]+c]), float64(p[at[3]+c]), dx)
		}
		out[c] = byteOf(cubic(v[0], v[1], v[2], v[3], dy))
	}
}

// byteOf clamps and truncates.
func byteOf(v float64) uint8 {
	switch {
	case v <= 0:
		return 0
	case v >= 255:
		return 255
	}
	return uint8(int(v))
}
