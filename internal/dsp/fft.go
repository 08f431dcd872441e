package dsp

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Lanes is the number of transforms that an FFT computes side by side.
const Lanes = 4

// FFT computes Fourier transforms of real numbers with the bits of NumPy's
// rfft, which is the pocketfft of C++ in float64. It is safe for concurrent
// use.
type FFT struct {
	n      int
	passes []pass // in the order of computation
}

// pass multiplies the length of l1*ido transforms by the factor p.
type pass struct {
	p, l1, ido int
	// twiddles has p-1 complex numbers for each i = 2, 4, … < ido.
	twiddles []float64
}

// MaxFFT is the largest length of an FFT.
const MaxFFT = 1 << 16

// NewFFT returns the transform of n numbers. ok is false unless n is 1 to
// MaxFFT and has no prime factors but 2, 3 and 5.
func NewFFT(n int) (f *FFT, ok bool) {
	factors, ok := factorize(n)
	if !ok {
		return nil, false
	}
	f = &FFT{n: n}
	w := newTwiddles(n)
	l1 := n
	for k := len(factors) - 1; k >= 0; k-- {
		p := factors[k]
		ido := n / l1
		l1 /= p
		s := pass{p: p, l1: l1, ido: ido}
		for i := 2; i < ido; i += 2 {
			for j := 1; j < p; j++ {
				re, im := w.at(j * l1 * (i / 2))
				s.twiddles = append(s.twiddles, re, im)
			}
		}
		f.passes = append(f.passes, s)
	}
	return f, true
}

// CanTransform reports whether NewFFT returns a transform of n numbers.
func CanTransform(n int) bool {
	_, ok := factorize(n)
	return ok
}

// factorize returns the factors of n in pocketfft's order: 4s, of which the
// first changes places with a 2, then 3s and 5s.
func factorize(n int) (factors []int, ok bool) {
	if n < 1 || n > MaxFFT {
		return nil, false
	}
	for n%4 == 0 {
		factors, n = append(factors, 4), n/4
	}
	if n%2 == 0 {
		factors, n = append(factors, 2), n/2
		last := len(factors) - 1
		factors[0], factors[last] = factors[last], factors[0]
	}
	for _, p := range []int{3, 5} {
		for n%p == 0 {
			factors, n = append(factors, p), n/p
		}
	}
	return factors, n == 1
}

// twiddles are the numbers e^(2*pi*i*k/n), as products of two tables.
type twiddles struct {
	n            int
	shift        uint
	small, large [][2]float64
}

func newTwiddles(n int) *twiddles {
	// pi/(4n), rounded once: pi is the sum of two float64.
	const piLow = 1.2246467991473532e-16
	d := float64(4 * n)
	angle := math.Pi / d
	angle += (math.FMA(-angle, d, math.Pi) + piLow) / d
	count := (n + 2) / 2
	w := &twiddles{n: n, shift: 1}
	for 1<<(2*w.shift) < count {
		w.shift++
	}
	size := 1 << w.shift
	for i := range size {
		w.small = append(w.small, octant(i, n, angle))
	}
	for i := range (count + size - 1) / size {
		w.large = append(w.large, octant(i*size, n, angle))
	}
	return w
}

// octant returns e^(2*pi*i*k/n), from an angle of at most pi/4.
func octant(k, n int, angle float64) [2]float64 {
	if k == 0 {
		return [2]float64{1, 0}
	}
	x, mirror := 8*k, false
	if x >= 4*n {
		x, mirror = 8*n-x, true
	}
	turned := x >= 2*n
	if turned {
		x -= 2 * n
	}
	var re, im float64
	if x < n {
		im, re = exactmath.SinCos(float64(float64(x) * angle))
	} else {
		re, im = exactmath.SinCos(float64(float64(2*n-x) * angle))
	}
	if turned {
		re, im = -im, re
	}
	if mirror {
		im = -im
	}
	return [2]float64{re, im}
}

func (w *twiddles) at(k int) (re, im float64) {
	mirror := 2*k > w.n
	if mirror {
		k = w.n - k
	}
	a, b := w.small[k&(1<<w.shift-1)], w.large[k>>w.shift]
	re = float64(a[0]*b[0]) - float64(a[1]*b[1])
	im = float64(a[0]*b[1]) + float64(a[1]*b[0])
	if mirror {
		im = -im
	}
	return re, im
}

// Len returns the length of the transform.
func (f *FFT) Len() int { return f.n }

// Transform computes Lanes transforms. Number i of transform k is x[i*Lanes+k].
// x and work have Len()*Lanes numbers, and both are overwritten. The result is
// in one of them: r0, r1, i1, r2, i2, … of each transform, in the same places.
func (f *FFT) Transform(x, work []float64) []float64 {
	x, work = x[:f.n*Lanes], work[:f.n*Lanes]
	for i := range f.passes {
		f.passes[i].run(x, work)
		x, work = work, x
	}
	return x
}

func (s *pass) run(c, h []float64) {
	if passSIMD(s, c, h) {
		return
	}
	s.runGo(c, h)
}

// runGo is run without vector instructions.
func (s *pass) runGo(c, h []float64) {
	switch s.p {
	case 2:
		s.radix2(c, h)
	case 3:
		s.radix3(c, h)
	case 4:
		s.radix4(c, h)
	case 5:
		s.radix5(c, h)
	}
}

// The passes read c_j(a) = c[a+ido*(k+l1*j)] and write h_j(a) =
// h[a+ido*(j+p*k)]. Every index is that of Lanes numbers.

// turn returns the product of the conjugate of w and (r, i).
func turn(w []float64, r, i float64) (float64, float64) {
	return float64(w[0]*r) + float64(w[1]*i), float64(w[0]*i) - float64(w[1]*r)
}

func (s *pass) radix2(c, h []float64) {
	const p = 2
	ido, step := s.ido, s.ido*s.l1*Lanes
	for k := range s.l1 {
		for lane := range Lanes {
			at, to := k*ido*Lanes+lane, k*p*ido*Lanes+lane
			last := (ido - 1) * Lanes
			c0, c1 := c[at], c[at+step]
			h[to], h[to+last+ido*Lanes] = c0+c1, c0-c1
			if ido%2 == 0 {
				h[to+ido*Lanes] = -c[at+last+step]
				h[to+last] = c[at+last]
			}
			for i := 2; i < ido; i += 2 {
				w := s.twiddles[i-2 : i]
				a := at + i*Lanes
				r, m := turn(w, c[a-Lanes+step], c[a+step])
				q, o := to+i*Lanes, to+(2*ido-i)*Lanes
				h[q-Lanes], h[o-Lanes] = c[a-Lanes]+r, c[a-Lanes]-r
				h[q], h[o] = m+c[a], m-c[a]
			}
		}
	}
}

func (s *pass) radix3(c, h []float64) {
	const p, taur, taui = 3, -0.5, 0.8660254037844386467637231707529362
	ido, step, row := s.ido, s.ido*s.l1*Lanes, s.ido*Lanes
	for k := range s.l1 {
		for lane := range Lanes {
			at, to := k*ido*Lanes+lane, k*p*ido*Lanes+lane
			c0, c1, c2 := c[at], c[at+step], c[at+2*step]
			t := c1 + c2
			h[to] = c0 + t
			h[to+2*row] = float64(taui * (c2 - c1))
			h[to+2*row-Lanes] = c0 + float64(taur*t)
			for i := 2; i < ido; i += 2 {
				w := s.twiddles[(i/2-1)*2*(p-1):][:2*(p-1)]
				a := at + i*Lanes
				r1, i1 := turn(w, c[a-Lanes+step], c[a+step])
				r2, i2 := turn(w[2:], c[a-Lanes+2*step], c[a+2*step])
				c0r, c0i := c[a-Lanes], c[a]
				sr, si := r1+r2, i1+i2
				tr2, ti2 := c0r+float64(taur*sr), c0i+float64(taur*si)
				tr3, ti3 := float64(taui*(i1-i2)), float64(taui*(r2-r1))
				q, o := to+i*Lanes, to+(ido-i)*Lanes
				h[q-Lanes], h[q] = c0r+sr, c0i+si
				h[q-Lanes+2*row], h[o-Lanes+row] = tr2+tr3, tr2-tr3
				h[q+2*row], h[o+row] = ti3+ti2, ti3-ti2
			}
		}
	}
}

func (s *pass) radix4(c, h []float64) {
	const p, half = 4, 0.707106781186547524400844362104849
	ido, step, row := s.ido, s.ido*s.l1*Lanes, s.ido*Lanes
	for k := range s.l1 {
		for lane := range Lanes {
			at, to := k*ido*Lanes+lane, k*p*ido*Lanes+lane
			last := (ido - 1) * Lanes
			c0, c1, c2, c3 := c[at], c[at+step], c[at+2*step], c[at+3*step]
			t1, t2 := c3+c1, c0+c2
			h[to+2*row] = c3 - c1
			h[to+last+row] = c0 - c2
			h[to], h[to+last+3*row] = t2+t1, t2-t1
			if ido%2 == 0 {
				a := at + last
				c0, c1, c2, c3 = c[a], c[a+step], c[a+2*step], c[a+3*step]
				u, v := float64(-half*(c1+c3)), float64(half*(c1-c3))
				h[to+last], h[to+last+2*row] = c0+v, c0-v
				h[to+3*row], h[to+row] = u+c2, u-c2
			}
			for i := 2; i < ido; i += 2 {
				w := s.twiddles[(i/2-1)*2*(p-1):][:2*(p-1)]
				a := at + i*Lanes
				r1, i1 := turn(w, c[a-Lanes+step], c[a+step])
				r2, i2 := turn(w[2:], c[a-Lanes+2*step], c[a+2*step])
				r3, i3 := turn(w[4:], c[a-Lanes+3*step], c[a+3*step])
				tr1, tr4 := r3+r1, r3-r1
				ti1, ti4 := i1+i3, i1-i3
				tr2, tr3 := c[a-Lanes]+r2, c[a-Lanes]-r2
				ti2, ti3 := c[a]+i2, c[a]-i2
				q, o := to+i*Lanes, to+(ido-i)*Lanes
				h[q-Lanes], h[o-Lanes+3*row] = tr2+tr1, tr2-tr1
				h[q], h[o+3*row] = ti1+ti2, ti1-ti2
				h[q-Lanes+2*row], h[o-Lanes+row] = tr3+ti4, tr3-ti4
				h[q+2*row], h[o+row] = tr4+ti3, tr4-ti3
			}
		}
	}
}

// The cosines and sines of 72 and 144 degrees.
const (
	cos72  = 0.3090169943749474241022934171828191
	sin72  = 0.9510565162951535721164393333793821
	cos144 = -0.8090169943749474241022934171828191
	sin144 = 0.5877852522924731291687059546390728
)

func (s *pass) radix5(c, h []float64) {
	const p = 5
	ido, step, row := s.ido, s.ido*s.l1*Lanes, s.ido*Lanes
	for k := range s.l1 {
		for lane := range Lanes {
			at, to := k*ido*Lanes+lane, k*p*ido*Lanes+lane
			last := (ido - 1) * Lanes
			c0, c1, c2, c3, c4 := c[at], c[at+step], c[at+2*step], c[at+3*step], c[at+4*step]
			r2, i5 := c4+c1, c4-c1
			r3, i4 := c3+c2, c3-c2
			h[to] = c0 + r2 + r3
			h[to+last+row] = c0 + float64(cos72*r2) + float64(cos144*r3)
			h[to+2*row] = float64(sin72*i5) + float64(sin144*i4)
			h[to+last+3*row] = c0 + float64(cos144*r2) + float64(cos72*r3)
			h[to+4*row] = float64(sin144*i5) - float64(sin72*i4)
			for i := 2; i < ido; i += 2 {
				w := s.twiddles[(i/2-1)*2*(p-1):][:2*(p-1)]
				a := at + i*Lanes
				r1, i1 := turn(w, c[a-Lanes+step], c[a+step])
				r2, i2 := turn(w[2:], c[a-Lanes+2*step], c[a+2*step])
				r3, i3 := turn(w[4:], c[a-Lanes+3*step], c[a+3*step])
				r4, i4 := turn(w[6:], c[a-Lanes+4*step], c[a+4*step])
				c0r, c0i := c[a-Lanes], c[a]
				ar, ai, br, bi := r1+r4, i1+i4, r2+r3, i2+i3
				er, ei, gr, gi := i1-i4, r4-r1, i2-i3, r3-r2
				tr, ti := c0r+float64(cos72*ar)+float64(cos144*br), c0i+float64(cos72*ai)+float64(cos144*bi)
				ur, ui := c0r+float64(cos144*ar)+float64(cos72*br), c0i+float64(cos144*ai)+float64(cos72*bi)
				vr, vi := float64(sin72*er)+float64(sin144*gr), float64(sin72*ei)+float64(sin144*gi)
				zr, zi := float64(sin144*er)-float64(sin72*gr), float64(sin144*ei)-float64(sin72*gi)
				q, o := to+i*Lanes, to+(ido-i)*Lanes
				h[q-Lanes], h[q] = c0r+ar+br, c0i+ai+bi
				h[q-Lanes+2*row], h[o-Lanes+row] = tr+vr, tr-vr
				h[q+2*row], h[o+row] = vi+ti, vi-ti
				h[q-Lanes+4*row], h[o-Lanes+3*row] = ur+zr, ur-zr
				h[q+4*row], h[o+3*row] = zi+ui, zi-ui
			}
		}
	}
}
