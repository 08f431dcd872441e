//go:build !purego

package dsp

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// The functions of this file compute what their callers compute in plain Go.
// They report whether they did, or how much.

// passSIMD is pass.runGo. c and h have p*l1*ido*Lanes numbers.
func passSIMD(s *pass, c, h []float64) bool {
	if !cpu.Has(cpu.AVX2) {
		return false
	}
	n := s.p * s.l1 * s.ido * Lanes
	_, _ = c[n-1], h[n-1]
	_ = s.twiddles[:(s.p-1)*((s.ido-1)/2)*2]
	w := unsafe.SliceData(s.twiddles)
	switch s.p {
	case 2:
		radix2AVX2(&c[0], &h[0], s.l1, s.ido, w)
	case 4:
		radix4AVX2(&c[0], &h[0], s.l1, s.ido, w)
	case 5:
		radix5AVX2(&c[0], &h[0], s.l1, s.ido, w)
	default:
		return false
	}
	return true
}

// loadSIMD writes the first numbers of Lanes frames, times the window, and
// returns how many.
func loadSIMD(x []float64, in []float32, hop int, window []float64) int {
	n := len(window) &^ 3
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_, _ = x[n*Lanes-1], in[(Lanes-1)*hop+n-1]
	loadAVX2(&x[0], &in[0], 4*hop, &window[0], n)
	return n
}

// prepareSIMD prepares Lanes whole frames as Spectrogram.prepare does: minus the
// mean, if that is wanted, minus c times the number before, times the window.
// ones has a 1 for each number.
func prepareSIMD(x []float64, in []float32, hop int, window, ones []float64, dc bool, c float64) bool {
	n := len(window)
	done := loadSIMD(x, in, hop, ones[:n])
	if done == 0 {
		return false
	}
	for i := done; i < n; i++ {
		for lane := range Lanes {
			x[i*Lanes+lane] = float64(in[lane*hop+i])
		}
	}
	by := [Lanes + 1]float64{Lanes: c}
	if dc {
		sum := lanesSum(x[:n*Lanes])
		for lane, v := range sum {
			by[lane] = v / float64(n)
		}
	}
	var first [Lanes]float64
	for lane := range first {
		first[lane] = float64(float64((x[lane]-by[lane])*(1-c)) * window[0])
	}
	emphasizeAVX2(&x[0], &window[0], &by[0], n)
	copy(x, first[:])
	return true
}

// lanesSum is PairwiseSum of each lane.
func lanesSum(x []float64) (sum [Lanes]float64) {
	n := len(x) / Lanes
	switch {
	case n < 8:
		for i, v := range x[:n*Lanes] {
			sum[i%Lanes] += v
		}
	case n <= 128:
		sumAVX2(&sum[0], &x[0], n)
	default:
		half := n / 2
		half -= half % 8
		a, b := lanesSum(x[:half*Lanes]), lanesSum(x[half*Lanes:])
		for i := range sum {
			sum[i] = a[i] + b[i]
		}
	}
	return sum
}

// powersSIMD writes n powers of complex numbers.
func powersSIMD(dst, x []float64, n int) bool {
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return n == 0
	}
	_, _ = dst[n*Lanes-1], x[2*n*Lanes-1]
	powersAVX2(&dst[0], &x[0], n)
	return true
}

// melSIMD writes the sum of a filter.
func melSIMD(dst, power, weights []float64) bool {
	if !cpu.Has(cpu.AVX2) {
		return false
	}
	if len(weights) > 0 {
		_ = power[len(weights)*Lanes-1]
	}
	_ = dst[Lanes-1]
	melAVX2(&dst[0], unsafe.SliceData(power), unsafe.SliceData(weights), len(weights))
	return true
}

// logSIMD replaces numbers of at least 0, those below floor by its. ok is false
// if one of them is infinite or NaN; all are lost then.
func logSIMD(x []float64, floor float64, decimal bool) (done, ok bool) {
	n := len(x) / Lanes
	if n == 0 || !normal(floor) || !cpu.Has(cpu.AVX2) {
		return false, false
	}
	if decimal {
		return true, log10AVX2(&x[0], n, floor)
	}
	return true, lnAVX2(&x[0], n, floor)
}
