package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Filter is a resampling filter of Pillow.
type Filter uint8

// The filters.
const (
	FilterBox Filter = iota
	FilterBilinear
	FilterHamming
	FilterBicubic
	FilterLanczos
)

// Taps is the table of one axis. Output i is the sum of the Len[i] inputs from
// Start[i] on, weighted by the weights from i*K on. Only the requested kind of
// weights is set.
type Taps struct {
	K          int
	Start, Len []int32
	W32        []int32   // fixed point
	WF         []float32 // torch
	W64        []float64 // Pillow's floating-point modes; scratch of its fixed-point modes
	packed     packed    // W32 for the assembly
	// short is not 0 if all of W32 are int16 numbers shifted left: it is then
	// the number of fractional bits of those.
	short int
}

// TapsBits is the number of fractional bits of Pillow's fixed-point weights.
const TapsBits = 32 - 8 - 2

// grow returns a slice of n elements. It uses the memory of s if it is large
// enough. Inlined it is 2 KB of the small browser package.
//
//go:noinline
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (f Filter) support() float64 {
	switch f {
	case FilterBox:
		return 0.5
	case FilterBicubic:
		return 2
	case FilterLanczos:
		return 3
	}
	return 1
}

func (f Filter) at(x float64) float64 {
	switch f {
	case FilterBox:
		if x > -0.5 && x <= 0.5 {
			return 1
		}
		return 0
	case FilterLanczos:
		if -3 <= x && x < 3 {
			return float64(sinc(x) * sinc(x/3))
		}
		return 0
	}
	x = math.Abs(x)
	switch {
	case f == FilterBilinear && x < 1:
		return 1 - x
	case f == FilterHamming && x == 0:
		return 1
	case f == FilterHamming && x < 1:
		x = float64(x * math.Pi)
		s, c := exactmath.SinCosFast(x)
		// The constants of the reference are single precision.
		return float64(s / x * (float64(float32(0.54)) + float64(float64(float32(0.46))*c)))
	case f == FilterBicubic:
		return bicubic(x)
	}
	return 0
}

// bicubic is Keys' filter with a = -0.5, for x >= 0.
func bicubic(x float64) float64 {
	if x < 1 {
		return float64(float64((float64(1.5*x)-2.5)*x)*x) + 1
	}
	if x < 2 {
		return float64((float64((float64((x-5)*x)+8)*x) - 4) * -0.5)
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x = float64(math.Abs(x) * math.Pi)
	return exactmath.SinFast(x) / x
}

// Pillow fills t for the outputs in [from, to) of Pillow's resampling of in
// pixels to out. Weights are fixed-point, or float64 if float is set. Entry 0
// belongs to output from. Source: libImaging/Resample.c of Pillow 13.0.0
// (precompute_coeffs, normalize_coeffs_8bpc).
func (t *Taps) Pillow(in, out, from, to int, f Filter, float bool) {
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := float64(f.support() * stretch)
	t.K, t.short = int(math.Ceil(support))*2+1, 0
	outs := to - from
	t.Start, t.Len = grow(t.Start, outs), grow(t.Len, outs)
	if float {
		t.W64 = grow(t.W64, outs*t.K)
	} else {
		t.W64 = grow(t.W64, t.K) // for one output
		t.W32 = grow(t.W32, outs*t.K)
	}
	inv := 1 / stretch
	quick := lanczosQuick{inv: inv}
	if f == FilterLanczos && !float {
		quick.sin, quick.cos = exactmath.SinCosFast(float64(inv * (math.Pi / 3)))
	}
	for i := range outs {
		center := float64((float64(from+i) + 0.5) * scale)
		lo := max(int(center-support+0.5), 0)
		n := min(int(center+support+0.5), in) - lo
		t.Start[i], t.Len[i] = int32(lo), int32(n)
		if float {
			w := t.W64[i*t.K:][:t.K]
			sum := f.weights(w[:n], lo, center, inv)
			for j := range n {
				if sum != 0 {
					w[j] /= sum
				}
			}
			clear(w[n:])
			continue
		}
		w, fixed := t.W64[:n], t.W32[i*t.K:][:t.K]
		clear(fixed[n:])
		if f == FilterLanczos && quick.fixed(fixed[:n], w, lo, center) {
			continue
		}
		sum := f.weights(w, lo, center, inv)
		if sum == 0 {
			sum = 1
		}
		for j, v := range w {
			// Halves are rounded away from 0.
			v = float64(v / sum * (1 << TapsBits))
			fixed[j] = int32(v + math.Copysign(0.5, v))
		}
	}
	if !float {
		t.pack()
	}
}

// weights fills w with the filter's values at the pixels from lo on, for an
// output centred at center. It returns their sum.
func (f Filter) weights(w []float64, lo int, center, inv float64) float64 {
	sum := 0.0
	switch f {
	case FilterBilinear:
		for j := range w {
			v := max(1-math.Abs(float64((float64(j+lo)-center+0.5)*inv)), 0)
			w[j] = v
			sum += v
		}
	case FilterBicubic:
		for j := range w {
			v := bicubic(math.Abs(float64((float64(j+lo) - center + 0.5) * inv)))
			w[j] = v
			sum += v
		}
	default:
		for j := range w {
			v := f.at(float64((float64(j+lo) - center + 0.5) * inv))
			w[j] = v
			sum += v
		}
	}
	return sum
}

// lanczosQuick computes fixed-point weights of Lanczos's filter without a sine
// per weight. It rotates the angle of one pixel to that of the next, and uses
// sin 3a = 3 sin a - 4 sin^3 a. This is less precise than Filter.at but rounds
// to the same weight, except near a half of the last place, where it gives up.
type lanczosQuick struct {
	inv      float64 // filter units per input pixel
	sin, cos float64 // of pi/3 times inv
}

const (
	// A rotation adds less than 4 units of 2^-53 to a sine's error, so among n
	// pixels no sine is wrong by more than 5e-16 n. A weight decreases with the
	// distance; weights closer than lanczosNear to the centre are computed
	// directly. A weight at lanczosNear is wrong by less than 6e-14 n before
	// the division by the sum, about n/6. After the division it is wrong by
	// 4e-13, less than a 500,000th of the last place.
	lanczosNear  = 1.0 / 64
	lanczosDoubt = 1.0 / 4096
)

// fixed sets weights for the pixels from lo on, and reports whether it could. w
// is scratch of the same length.
func (q *lanczosQuick) fixed(weights []int32, w []float64, lo int, center float64) bool {
	a := float64((float64(lo) - center + 0.5) * q.inv * (math.Pi / 3))
	s, c := exactmath.SinCosFast(math.Abs(a))
	if a < 0 {
		s = -s
	}
	sum := 0.0
	for j := range w {
		x := float64((float64(j+lo) - center + 0.5) * q.inv)
		v := 0.0
		switch d := math.Abs(x); {
		case d < lanczosNear:
			v = FilterLanczos.at(x)
		case d < 3:
			ss := float64(s * s)
			v = float64(float64(ss*(3-float64(4*ss)))*(3/(math.Pi*math.Pi))) / float64(x*x)
		}
		w[j] = v
		sum += v
		s, c = float64(s*q.cos)+float64(c*q.sin), float64(c*q.cos)-float64(s*q.sin)
	}
	scale := (1 << TapsBits) / sum
	for j, v := range w {
		v = float64(v * scale)
		u := math.Abs(v) + 0.5
		n := int32(u)
		if d := u - float64(n); d < lanczosDoubt || d > 1-lanczosDoubt {
			return false
		}
		if v < 0 {
			n = -n
		}
		weights[j] = n
	}
	return true
}

// Shift makes Start relative to the input pixel by, the first pixel of the
// caller's region.
func (t *Taps) Shift(by int) {
	for i := range t.Start {
		t.Start[i] -= int32(by)
	}
}
