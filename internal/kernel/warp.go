package kernel

import (
	"math"
	"sync"
)

// Affine warps of 8-bit images as OpenCV 3.4 to 4.11 computes them. Coordinates
// have 10 fractional bits and are rounded to 1/32 of a pixel. Weights have 15
// bits. Source: modules/imgproc/src/imgwarp.cpp of OpenCV 4.11
// (WarpAffineInvoker, initInterTab2D, remap).

const (
	warpBits = 10 // AB_BITS
	warpFrac = 5  // INTER_BITS: 32 positions per pixel
	warpMask = 1<<warpFrac - 1
	warpOne  = 1 << 15 // INTER_REMAP_COEF_SCALE
)

// WarpInvert returns the inverse of an affine map, in rows, as warpAffine
// computes it. If the determinant is 0, the result maps everything to (0, 0).
func WarpInvert(m [6]float64) [6]float64 {
	d := float64(m[0]*m[4]) - float64(m[1]*m[3])
	if d != 0 {
		d = 1 / d
	}
	a, b := float64(m[4]*d), float64(m[1]*-d)
	c, e := float64(m[3]*-d), float64(m[0]*d)
	return [6]float64{
		a, b, float64(-a*m[2]) - float64(b*m[5]),
		c, e, float64(-c*m[2]) - float64(e*m[5]),
	}
}

// WarpTaps is the number of taps per axis: 1 (nearest), 2, 4 (cubic) or 8
// (Lanczos).
type WarpTaps int

// WarpDeltas fills dst with the distance of each column from the first, in
// 1/1024 of a pixel. m is an element of the inverse.
func WarpDeltas(dst []int32, m float64) {
	for x := range dst {
		dst[x] = warpInt(float64(float64(m*float64(x)) * (1 << warpBits)))
	}
}

// WarpStart returns the position of the first column of row y.
func (k WarpTaps) WarpStart(m1, m2 float64, y int) int32 {
	half := int32(1 << (warpBits - warpFrac - 1))
	if k == 1 {
		half = 1 << (warpBits - 1)
	}
	return warpInt(float64((float64(m1*float64(y))+m2)*(1<<warpBits))) + half
}

// warpInt rounds half to even. A number that an int32 cannot hold becomes the
// smallest int32, as in SSE2's conversion.
func warpInt(v float64) int32 {
	if v = math.RoundToEven(v); v >= math.MinInt32 && v <= math.MaxInt32 {
		return int32(v)
	}
	return math.MinInt32
}

// warpSource is the image to warp.
type warpSource struct {
	pix            []uint8
	w, h, channels int
	fill           []uint8
}

// at returns a channel of a pixel, or the fill outside the image.
func (s *warpSource) at(x, y, c int) int32 {
	if uint(x) < uint(s.w) && uint(y) < uint(s.h) {
		return int32(s.pix[(y*s.w+x)*s.channels+c])
	}
	return int32(s.fill[c])
}

// WarpRow computes one row of the output from the dense image src of w x h
// pixels. Column i samples (x0+dx[i], y0+dy[i]). Pixels outside the image are
// fill, which has one value per channel. index is scratch of len(dx) for
// nearest.
func (k WarpTaps) WarpRow(dst, src []uint8, w, h, channels int, fill []uint8, x0, y0 int32, dx, dy, index []int32) {
	s := warpSource{src[:w*h*channels], w, h, channels, fill[:channels]}
	dst, dy = dst[:len(dx)*channels], dy[:len(dx)]
	switch k {
	case 1:
		if !s.nearestSIMD(dst, x0, y0, dx, dy, index) {
			s.nearest(dst, x0, y0, dx, dy)
		}
	case 2:
		if !s.bilinearSIMD(dst, x0, y0, dx, dy) {
			s.bilinear(dst, x0, y0, dx, dy)
		}
	case 4, 8:
		table := warpCubic
		if k == 8 {
			table = warpLanczos
		}
		if t := table(); !s.tapsSIMD(dst, int(k), t, x0, y0, dx, dy) {
			s.taps(dst, int(k), t, x0, y0, dx, dy)
		}
	}
}

// warpWhole returns the pixel of a coordinate, clamped to int16.
func warpWhole(v int32) int { return int(min(max(v, math.MinInt16), math.MaxInt16)) }

func (s *warpSource) nearest(dst []uint8, x0, y0 int32, dx, dy []int32) {
	ch := s.channels
	for i := range dx {
		x, y := warpWhole((x0+dx[i])>>warpBits), warpWhole((y0+dy[i])>>warpBits)
		p := s.fill
		if uint(x) < uint(s.w) && uint(y) < uint(s.h) {
			p = s.pix[(y*s.w+x)*ch:][:ch]
		}
		if ch == 3 {
			p, out := p[:3], dst[i*3:][:3]
			out[0], out[1], out[2] = p[0], p[1], p[2]
			continue
		}
		copy(dst[i*ch:][:ch], p)
	}
}

// bilinear uses products of 5-bit weights in place of the 15-bit weights, which
// are 32 times as large. If both coordinates are whole, OpenCV's weights are
// 32767 and 1, but no difference of up to 255 shows.
func (s *warpSource) bilinear(dst []uint8, x0, y0 int32, dx, dy []int32) {
	ch, line := s.channels, s.w*s.channels
	for i := range dx {
		x, y := (x0+dx[i])>>(warpBits-warpFrac), (y0+dy[i])>>(warpBits-warpFrac)
		fx, fy := x&warpMask, y&warpMask
		w3 := fx * fy
		w1, w2 := fx<<warpFrac-w3, fy<<warpFrac-w3
		w0 := 1<<(2*warpFrac) - w1 - w2 - w3
		sx, sy := warpWhole(x>>warpFrac), warpWhole(y>>warpFrac)
		out := dst[i*ch:][:ch]
		if sx < 0 || sx >= s.w-1 || sy < 0 || sy >= s.h-1 {
			if sx < -1 || sx >= s.w || sy < -1 || sy >= s.h {
				copy(out, s.fill)
				continue
			}
			for c := range out {
				v := s.at(sx, sy, c)*w0 + s.at(sx+1, sy, c)*w1 + s.at(sx, sy+1, c)*w2 + s.at(sx+1, sy+1, c)*w3
				out[c] = uint8((v + 1<<(2*warpFrac-1)) >> (2 * warpFrac))
			}
			continue
		}
		p := s.pix[(sy*s.w+sx)*ch:]
		q := p[line:]
		if ch == 3 {
			p, q, out = p[:6], q[:6], out[:3]
			out[0] = uint8((int32(p[0])*w0 + int32(p[3])*w1 + int32(q[0])*w2 + int32(q[3])*w3 + 1<<(2*warpFrac-1)) >> (2 * warpFrac))
			out[1] = uint8((int32(p[1])*w0 + int32(p[4])*w1 + int32(q[1])*w2 + int32(q[4])*w3 + 1<<(2*warpFrac-1)) >> (2 * warpFrac))
			out[2] = uint8((int32(p[2])*w0 + int32(p[5])*w1 + int32(q[2])*w2 + int32(q[5])*w3 + 1<<(2*warpFrac-1)) >> (2 * warpFrac))
			continue
		}
		p, q = p[:2*ch], q[:2*ch]
		for c := range out {
			v := int32(p[c])*w0 + int32(p[c+ch])*w1 + int32(q[c])*w2 + int32(q[c+ch])*w3
			out[c] = uint8((v + 1<<(2*warpFrac-1)) >> (2 * warpFrac))
		}
	}
}

// taps sums k x k pixels with the weights of table.
func (s *warpSource) taps(dst []uint8, k int, table []int16, x0, y0 int32, dx, dy []int32) {
	ch, line := s.channels, s.w*s.channels
	for i := range dx {
		x, y := (x0+dx[i])>>(warpBits-warpFrac), (y0+dy[i])>>(warpBits-warpFrac)
		w := table[int((y&warpMask)<<warpFrac|x&warpMask)*k*k:][:k*k]
		sx, sy := warpWhole(x>>warpFrac)-(k/2-1), warpWhole(y>>warpFrac)-(k/2-1)
		out := dst[i*ch:][:ch]
		switch {
		case sx >= 0 && sx <= s.w-k && sy >= 0 && sy <= s.h-k:
			var sum [4]int32
			for r := range k {
				p := s.pix[(sy+r)*line+sx*ch:][:k*ch]
				wr := w[r*k:][:k]
				if ch == 3 {
					for j, v := range wr {
						q := p[j*3:][:3]
						sum[0] += int32(q[0]) * int32(v)
						sum[1] += int32(q[1]) * int32(v)
						sum[2] += int32(q[2]) * int32(v)
					}
					continue
				}
				for j, v := range wr {
					for c, u := range p[j*ch:][:ch] {
						sum[c&3] += int32(u) * int32(v)
					}
				}
			}
			for c := range out {
				out[c] = warpRound(sum[c&3])
			}
		case sx <= -k || sx >= s.w || sy <= -k || sy >= s.h:
			copy(out, s.fill)
		default:
			for c := range out {
				var sum int32
				for r := range k {
					for j := range k {
						sum += s.at(sx+j, sy+r, c) * int32(w[r*k+j])
					}
				}
				out[c] = warpRound(sum)
			}
		}
	}
}

// warpRound converts a sum with 15 fractional bits to a byte, clamped.
func warpRound(v int32) uint8 { return uint8(min(max((v+warpOne/2)>>15, 0), 255)) }

// warpCubic and warpLanczos hold the weights of all 32 x 32 positions within a
// pixel, rows outermost. They are built on first use and take 32 and 128 KiB.
var (
	warpCubic = sync.OnceValue(func() []int16 {
		return warpTable(4, cvCubic)
	})
	warpLanczos = sync.OnceValue(func() []int16 {
		return warpTable(8, func(w []float32, x float32) {
			if x == 0 {
				clear(w)
				w[3] = 1
				return
			}
			cvLanczos4(w, x)
		})
	})
)

// warpTable multiplies the weights of both axes and rounds. If the weights do
// not sum to 1, it adds the missing part to the largest of the four central
// weights, or subtracts the excess from the smallest.
func warpTable(k int, at func([]float32, float32)) []int16 {
	const n = 1 << warpFrac
	one := make([]float32, n*k)
	for i := range n {
		at(one[i*k:][:k], float32(float32(i)/n))
	}
	table := make([]int16, n*n*k*k)
	for place := range n * n {
		t := table[place*k*k:][:k*k]
		wy, wx := one[place/n*k:][:k], one[place%n*k:][:k]
		sum := 0
		for i := range t {
			v := math.RoundToEven(float64(float32(float32(wy[i/k]*wx[i%k]) * warpOne)))
			t[i] = int16(min(v, math.MaxInt16))
			sum += int(t[i])
		}
		if sum == warpOne {
			continue
		}
		// These are the four weights at and after the centre, as in OpenCV.
		most := k/2*k + k/2
		least := most
		for r := k / 2; r < k/2+2; r++ {
			for c := k / 2; c < k/2+2; c++ {
				if i := r*k + c; t[i] < t[least] {
					least = i
				} else if t[i] > t[most] {
					most = i
				}
			}
		}
		if sum < warpOne {
			t[most] += int16(warpOne - sum)
		} else {
			t[least] -= int16(sum - warpOne)
		}
	}
	return table
}
