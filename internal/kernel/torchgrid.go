package kernel

import "math"

// Sampling of 8-bit images as torchvision 0.29.2 does it with torch 2.15.0: in
// float32 with fused multiply-add, except the matrix products. Sources:
// ATen/native/cpu/GridSamplerKernel.cpp (align_corners=False, zeros) and
// torchvision/transforms/v2/functional/_geometry.py.

// TorchGrid holds the positions of a row of output pixels in the input. The
// centre of the first pixel is 0.
type TorchGrid struct{ X, Y []float32 }

// torchPlace converts a position in -1..1 to pixels. half is half the size.
func torchPlace(v, half float32) float32 {
	return FMA32(float64(float64(v+1)*float64(half)), -0.5)
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
	hw, hh := float32(w)/2, float32(h)/2
	v := centred(y, outH)
	for i := range xs {
		u := centred(i, len(xs))
		xs[i] = torchPlace(row3(t[0], t[1], t[2], u, v), hw)
		ys[i] = torchPlace(row3(t[3], t[4], t[5], u, v), hh)
	}
}

// Perspective computes row y for an input and output of w x h. t is from
// TorchTheta, and d holds the two coefficients of the divisor.
func (g TorchGrid) Perspective(t *[6]float32, d [2]float32, y, w, h int) {
	xs, ys := g.X, g.Y[:len(g.X)]
	hw, hh := float32(w)/2, float32(h)/2
	v := float32(y) + 0.5
	for i := range xs {
		u := float32(i) + 0.5
		q := row3(d[0], d[1], 1, u, v)
		xs[i] = torchPlace(row3(t[0], t[1], t[2], u, v)/q-1, hw)
		ys[i] = torchPlace(row3(t[3], t[4], t[5], u, v)/q-1, hh)
	}
}

// torchLinspace returns value i of n from -(n-1)/n to (n-1)/n.
func torchLinspace(i, n int) float32 {
	last := float32(float64(n-1) / float64(n))
	first := float32(float64(1-n) / float64(n))
	if n == 1 {
		return first
	}
	step := (last - first) / float32(n-1)
	if i < n/2 {
		return FMA32(float64(float64(step)*float64(i)), first)
	}
	return FMA32(-float64(float64(step)*float64(n-1-i)), last)
}

// Displace computes row y of an image of w x h, for a displacement of each
// pixel in units of half the size: x and y of each.
func (g TorchGrid) Displace(displacement []float32, y, w, h int) {
	xs, ys := g.X[:w], g.Y[:w]
	hw, hh := float32(w)/2, float32(h)/2
	v := torchLinspace(y, h)
	for i := range xs {
		d := displacement[2*i:][:2]
		xs[i] = torchPlace(torchLinspace(i, w)+d[0], hw)
		ys[i] = torchPlace(v+d[1], hh)
	}
}

// TorchImage is a dense image to sample, with the value of the pixels outside.
type TorchImage struct {
	Pix                     []uint8
	Width, Height, Channels int
	// Fill has one value per channel. Without values, positions at the border
	// mix with 0. With them, they are weighted by the part inside twice.
	Fill []float32
}

// Nearest computes a row of pixels.
func (s *TorchImage) Nearest(dst []uint8, g TorchGrid) {
	ch, ys := s.Channels, g.Y[:len(g.X)]
	for i, x := range g.X {
		out := dst[i*ch:][:ch]
		xi, yi := math.RoundToEven(float64(x)), math.RoundToEven(float64(ys[i]))
		if xi >= 0 && xi < float64(s.Width) && yi >= 0 && yi < float64(s.Height) {
			copyPixel(out, s.Pix[(int(yi)*s.Width+int(xi))*ch:])
			continue
		}
		for c := range out {
			out[c] = 0
			if len(s.Fill) > 0 {
				out[c] = uint8(s.Fill[c])
			}
		}
	}
}

// Bilinear computes a row of pixels.
func (s *TorchImage) Bilinear(dst []uint8, g TorchGrid) {
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
		xf, yf := float32(math.Floor(float64(x))), float32(math.Floor(float64(y)))
		w, n := x-xf, y-yf
		e, south := 1-w, 1-n
		xi, yi := int(xf), int(yf)
		nw, ne, sw, se := float32(south*e), float32(south*w), float32(n*e), float32(n*w)
		at := yi*line + xi*ch
		if xi >= 0 && xi < s.Width-1 && yi >= 0 && yi < s.Height-1 {
			p, q := s.Pix[at:][:2*ch], s.Pix[at+line:][:2*ch]
			inside := ((nw + ne) + sw) + se
			for c := range out {
				v := float32(float32(p[c]) * nw)
				v = FMA32(float64(float64(p[c+ch])*float64(ne)), v)
				v = FMA32(float64(float64(q[c])*float64(sw)), v)
				v = FMA32(float64(float64(q[c+ch])*float64(se)), v)
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
					v = FMA32(float64(float64(s.Pix[place[k]+c])*float64(weights[k])), v)
				}
			}
			out[c] = s.round(v, inside, c)
		}
	}
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
