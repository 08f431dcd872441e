package kernel

import "math"

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

// Taps is the table of a resampling along one axis: output i is the sum of the
// Len[i] inputs from Start[i] on, weighted by the weights from i*K on. Only the
// kind of weights that was asked for is set.
type Taps struct {
	K          int
	Start, Len []int32
	W32        []int32   // fixed point
	WF         []float32 // torch
	W64        []float64 // Pillow's floating point modes
	packed     packed    // W32 for the assembly
}

// TapsBits is the number of fractional bits of Pillow's fixed-point weights.
const TapsBits = 32 - 8 - 2

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
		s, c := sinCos(x)
		// The reference's constants are single precision.
		return float64(s / x * (float64(float32(0.54)) + float64(float64(float32(0.46))*c)))
	case f == FilterBicubic && x < 1:
		return float64(float64((float64(1.5*x)-2.5)*x)*x) + 1
	case f == FilterBicubic && x < 2:
		return float64((float64((float64((x-5)*x)+8)*x) - 4) * -0.5)
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x = float64(math.Abs(x) * math.Pi)
	return sine(x) / x
}

// Pillow fills t for the outputs from from to to (not included) of Pillow's
// resampling of in pixels to out, with fixed-point weights or, if float is set,
// with float64 ones. Entry 0 is output from's. Source: libImaging/Resample.c
// of Pillow 13.0.0 (precompute_coeffs, normalize_coeffs_8bpc).
func (t *Taps) Pillow(in, out, from, to int, f Filter, float bool) {
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := float64(f.support() * stretch)
	t.K = int(math.Ceil(support))*2 + 1
	outs := to - from
	t.Start, t.Len = grow(t.Start, outs), grow(t.Len, outs)
	if float {
		t.W64 = grow(t.W64, outs*t.K)
	} else {
		t.W64 = grow(t.W64, t.K) // of one output
		t.W32 = grow(t.W32, outs*t.K)
	}
	inv := 1 / stretch
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
		sum := f.weights(w, lo, center, inv)
		if sum == 0 {
			sum = 1
		}
		for j, v := range w {
			// Halves are rounded away from 0.
			v = float64(v / sum * (1 << TapsBits))
			fixed[j] = int32(v + math.Copysign(0.5, v))
		}
		clear(fixed[n:])
	}
	if !float {
		t.pack()
	}
}

// weights fills w with the filter's values at the pixels from lo on of an output
// that has its center there, and gives their sum.
func (f Filter) weights(w []float64, lo int, center, inv float64) float64 {
	sum := 0.0
	switch f {
	case FilterBilinear:
		for j := range w {
			v := max(1-math.Abs(float64((float64(j+lo)-center+0.5)*inv)), 0)
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

// Shift makes Start relative to the input pixel by, the first of the region that
// a caller has.
func (t *Taps) Shift(by int) {
	for i := range t.Start {
		t.Start[i] -= int32(by)
	}
}
