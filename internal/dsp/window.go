package dsp

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Window is the shape of a window.
type Window uint8

// The windows, as NumPy's functions of their names compute them. Povey is Hann
// to the power of 0.85, and Boxcar is 1.
const (
	Hann Window = iota
	Hamming
	Povey
	Blackman
	Boxcar
)

// Table returns the window of n numbers, rounded correctly but for Povey, whose
// error is below 2 units in the last place. A periodic window is the first n
// numbers of the symmetric one of n+1.
func (w Window) Table(n int, periodic bool) []float64 {
	size := n
	if periodic {
		size++
	}
	t := make([]float64, n)
	for i := range t {
		t[i] = w.at(i, size)
	}
	return t
}

// at returns number i of the symmetric window of n.
func (w Window) at(i, n int) float64 {
	if n == 1 || w == Boxcar {
		return 1
	}
	angle := func(times float64) float64 {
		_, cos := exactmath.SinCos(float64(float64(times*math.Pi)*float64(1-n+2*i)) / float64(n-1))
		return cos
	}
	switch w {
	case Hamming:
		return 0.54 + float64(0.46*angle(1))
	case Blackman:
		return 0.42 + float64(0.5*angle(1)) + float64(0.08*angle(2))
	}
	v := 0.5 + float64(0.5*angle(1))
	if w == Povey {
		v = exactmath.Pow(v, 0.85)
	}
	return v
}

// torch returns the window of torch.hann_window, hamming_window or ones, in
// its float32 arithmetic with cosines rounded correctly.
func (w Window) torch(n int, periodic bool) []float32 {
	t := make([]float32, n)
	a, b := float32(0.5), float32(0.5)
	if w == Hamming {
		a, b = 0.54, 0.46
	}
	size := n - 1
	if periodic {
		size = n
	}
	for i := range t {
		if n == 1 || w == Boxcar {
			t[i] = 1
			continue
		}
		step := float32(float64(2*math.Pi) / float64(size))
		_, cos := exactmath.SinCos(float64(float32(float32(i) * step)))
		t[i] = float32(float32(cos)*-b) + a
	}
	return t
}
