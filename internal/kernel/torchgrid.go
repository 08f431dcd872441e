package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Sampling of 8-bit images as torchvision 0.29.2 does it with torch 2.15.0: in
// float32 with fused multiply-add, except the matrix products. Sources:
// ATen/native/cpu/GridSamplerKernel.cpp (align_corners=False, zeros) and
// torchvision/transforms/v2/functional/_geometry.py.

// TorchGrid holds the positions of a row of output pixels in the input. The
// centre of the first pixel is 0.
type TorchGrid struct{ X, Y []float32 }

// torchPlaces converts positions in -1..1 to pixels of a side of n: (v+1)*n/2 -
// 0.5 with one rounding after the first sum.
func torchPlaces(v []float32, n int) {
	half := float64(float32(n) / 2)
	for i, x := range v {
		p := float64(float64(x+1) * half)
		s := p - 0.5
		if math.Float64bits(s)<<35 == 1<<63 || s > -0x1p-125 && s < 0x1p-125 {
			v[i] = exactmath.Add32(p, -0.5)
			continue
		}
		v[i] = float32(s)
	}
}

// TorchTheta returns a matrix in the units of Affine for an input of w x h: the
// rows of m divided by half the sizes.
func TorchTheta(m *[6]float64, w, h int) (t [6]float32) {
	hw, hh := float32(0.5*float64(w)), float32(0.5*float64(h))
	for i := range 3 {
		t[i] = float32(m[i]) / hw
		t[i+3] = float32(m[i+3]) / hh
	}
	return t
}

// centred returns the distance of pixel i of n from the centre.
func centred(i, n int) float32 {
	if i < n/2 {
		return float32(0.5*float64(1-n)) + float32(i)
	}
	return float32(0.5*float64(n-1)) - float32(n-1-i)
}

// row3 returns (a*x + b*y) + c.
func row3(a, b, c, x, y float32) float32 { return (float32(x*a) + float32(y*b)) + c }

// Affine computes row y of outH rows. t is from TorchTheta for an input of w x
// h.
func (g TorchGrid) Affine(t *[6]float32, y, outH, w, h int) {
	xs, ys := g.X, g.Y[:len(g.X)]
	v := centred(y, outH)
	if g.affineSIMD(t, v, w, h) {
		return
	}
	xv, yv := float32(v*t[1]), float32(v*t[4])
	for i := range xs {
		u := centred(i, len(xs))
		xs[i] = (float32(u*t[0]) + xv) + t[2]
		ys[i] = (float32(u*t[3]) + yv) + t[5]
	}
	torchPlaces(xs, w)
	torchPlaces(ys, h)
}

// Perspective computes row y for an input and output of w x h. t is from
// TorchTheta, and d holds the two coefficients of the divisor.
func (g TorchGrid) Perspective(t *[6]float32, d [2]float32, y, w, h int) {
	xs, ys := g.X, g.Y[:len(g.X)]
	v := float32(y) + 0.5
	if g.perspectiveSIMD(t, d, v, w, h) {
		return
	}
	for i := range xs {
		u := float32(i) + 0.5
		q := row3(d[0], d[1], 1, u, v)
		xs[i] = row3(t[0], t[1], t[2], u, v)/q - 1
		ys[i] = row3(t[3], t[4], t[5], u, v)/q - 1
	}
	torchPlaces(xs, w)
	torchPlaces(ys, h)
}

// TorchIdentity returns value i of n from -(n-1)/n to (n-1)/n.
func TorchIdentity(i, n int) float32 {
	return torchLinspace(i, n, float32(float64(1-n)/float64(n)), float32(float64(n-1)/float64(n)))
}

// Displace computes row y of an image of w x h, for a displacement of each
// pixel in units of half the size: x and y of each. columns has TorchIdentity
// of each column.
func (g TorchGrid) Displace(displacement, columns []float32, y, w, h int) {
	xs, ys := g.X[:w], g.Y[:w]
	displacement, columns = displacement[:2*w], columns[:w]
	v := TorchIdentity(y, h)
	if g.displaceSIMD(displacement, columns, v, w, h) {
		return
	}
	for i := range xs {
		d := displacement[2*i:][:2]
		xs[i] = columns[i] + d[0]
		ys[i] = v + d[1]
	}
	torchPlaces(xs, w)
	torchPlaces(ys, h)
}

// TorchImage is a dense image to sample, with the value of the pixels outside.
type TorchImage struct {
	Pix                     []uint8
	Width, Height, Channels int
	// Fill has one value per channel, or none, which means 0. At the border,
	// the pixels inside the image have a total weight of w. Their weighted sum
	// v becomes v without values and (v-Fill)*w + Fill with them.
	Fill []float32
	// Index is scratch for Nearest, one for each column.
	Index []int32
}

// fill writes the bytes of the fill, or 0.
func (s *TorchImage) fill(dst []uint8) {
	for c := range dst {
		dst[c] = 0
		if len(s.Fill) > 0 {
			dst[c] = uint8(s.Fill[c])
		}
	}
}

// Nearest computes a row of pixels.
func (s *TorchImage) Nearest(dst []uint8, g TorchGrid) {
	if s.nearestSIMD(dst, g) {
		return
	}
	ch, ys := s.Channels, g.Y[:len(g.X)]
	for i, x := range g.X {
		y, out := ys[i], dst[i*ch:][:ch]
		if x > -1 && x < float32(s.Width) && y > -1 && y < float32(s.Height) {
			// The sums round half to even.
			const whole = 3 << 22
			xi, yi := int((x+whole)-whole), int((y+whole)-whole)
			if s.Width > 1<<22 || s.Height > 1<<22 {
				xi, yi = int(math.RoundToEven(float64(x))), int(math.RoundToEven(float64(y)))
			}
			if uint(xi) < uint(s.Width) && uint(yi) < uint(s.Height) {
				copyPixel(out, s.Pix[(yi*s.Width+xi)*ch:])
				continue
			}
		}
		s.fill(out)
	}
}

// Bilinear computes a row of pixels.
func (s *TorchImage) Bilinear(dst []uint8, g TorchGrid) {
	if !s.bilinearSIMD(dst, g) {
		s.bilinear(dst, g)
	}
}

// bilinear is Bilinear in plain Go.
func (s *TorchImage) bilinear(dst []uint8, g TorchGrid) {
	ch, line, ys := s.Channels, s.Width*s.Channels, g.Y[:len(g.X)]
	for i, x := range g.X {
		y, out := ys[i], dst[i*ch:][:ch]
		if !(x > -1 && x < float32(s.Width) && y > -1 && y < float32(s.Height)) {
			// A position that is not finite makes a pixel that is not a number.
			// It converts to 0.
			bad := x-x != 0 || y-y != 0
			for c := range out {
				out[c] = 0
				if len(s.Fill) > 0 && !bad {
					out[c] = uint8(s.Fill[c])
				}
			}
			continue
		}
		xi, yi := floor32(x), floor32(y)
		w, n := x-float32(xi), y-float32(yi)
		e, south := 1-w, 1-n
		nw, ne, sw, se := float32(south*e), float32(south*w), float32(n*e), float32(n*w)
		at := yi*line + xi*ch
		if xi >= 0 && xi < s.Width-1 && yi >= 0 && yi < s.Height-1 {
			p, q := s.Pix[at:][:2*ch], s.Pix[at+line:][:2*ch]
			inside := ((nw + ne) + sw) + se
			weights := torchWeights{float64(nw), float64(ne), float64(sw), float64(se)}
			// Smaller weights make sums below the normal numbers.
			normal := (w == 0 || w > 0x1p-60) && (n == 0 || n > 0x1p-60)
			for c := range out {
				var v float32
				if normal {
					v = weights.mix(p[c], p[c+ch], q[c], q[c+ch])
				} else {
					v = float32(float32(p[c]) * nw)
					v = exactmath.Add32(float64(float64(p[c+ch])*weights.ne), v)
					v = exactmath.Add32(float64(float64(q[c])*weights.sw), v)
					v = exactmath.Add32(float64(float64(q[c+ch])*weights.se), v)
				}
				out[c] = s.round(v, inside, c)
			}
			continue
		}
		// Pixels outside have the value and the weight 0.
		in := [4]bool{xi >= 0 && yi >= 0, xi < s.Width-1 && yi >= 0, xi >= 0 && yi < s.Height-1, xi < s.Width-1 && yi < s.Height-1}
		weights, place := [4]float32{nw, ne, sw, se}, [4]int{at, at + ch, at + line, at + line + ch}
		inside := float32(0)
		for k, ok := range in {
			if ok {
				inside += weights[k]
			}
		}
		for c := range out {
			v := float32(0)
			for k, ok := range in {
				if ok {
					v = exactmath.Add32(float64(float64(s.Pix[place[k]+c])*float64(weights[k])), v)
				}
			}
			out[c] = s.round(v, inside, c)
		}
	}
}

// floor32 returns the floor of v > -1.
func floor32(v float32) int {
	if v < 0 {
		return -1
	}
	return int(v)
}

// torchWeights are the weights of four pixels: float32 numbers.
type torchWeights struct{ nw, ne, sw, se float64 }

// mix returns the weighted sum of four pixels in float32 with fused
// multiply-add, for sums that are 0 or normal.
func (w *torchWeights) mix(a, b, c, d uint8) float32 {
	v := float64(float32(float64(float64(a) * w.nw)))
	p := float64(float64(b) * w.ne)
	s := p + v
	if math.Float64bits(s)<<35 == 1<<63 {
		s = float64(exactmath.Tie32(p, v, s))
	}
	v = float64(float32(s))
	p = float64(float64(c) * w.sw)
	s = p + v
	if math.Float64bits(s)<<35 == 1<<63 {
		s = float64(exactmath.Tie32(p, v, s))
	}
	v = float64(float32(s))
	p = float64(float64(d) * w.se)
	s = p + v
	if math.Float64bits(s)<<35 == 1<<63 {
		s = float64(exactmath.Tie32(p, v, s))
	}
	return float32(s)
}

// round mixes v with the fill of channel c and rounds half to even. inside is
// the weight of the pixels inside of the image.
func (s *TorchImage) round(v, inside float32, c int) uint8 {
	if len(s.Fill) > 0 {
		f := s.Fill[c]
		v = float32((v-f)*inside) + f
	}
	return uint8(int(math.RoundToEven(float64(v))))
}
