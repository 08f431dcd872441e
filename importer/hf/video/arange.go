package video

import (
	"fmt"
	"math"
)

// maxArange is the most elements that torch.arange computes as one part. More
// are divided among threads, and the values depend on the division.
const maxArange = 1 << 15

// arange returns torch.arange(start, n, n/k).int() of x86-64 with AVX2. The
// values are float32, computed in vectors of 8: the first is rounded from the
// double, and the others are the rounded one plus a multiple of the step. Those
// that do not fill two vectors are computed one by one.
func arange(start float64, n int, step float64) ([]int, error) {
	if !(step > 0) || math.IsInf(step, 0) {
		return nil, fmt.Errorf("%w: no frame is chosen", ErrSample)
	}
	count := math.Ceil((float64(n) - start) / step)
	switch {
	case start > float64(n):
		return nil, fmt.Errorf("%w: the first frame, %v, is behind the last of %d", ErrSample, start, n)
	case count > maxArange:
		return nil, fmt.Errorf("%w: %v frames: torch.arange computes at most %d alike on all machines", ErrSample, count, maxArange)
	}
	const lanes = 8
	l := make([]int, int(count))
	whole := len(l) / (2 * lanes) * (2 * lanes)
	for i := range l {
		v := float32(start + float64(step*float64(i)))
		if i < whole {
			k := i % lanes
			base := float32(start + float64(step*float64(i-k)))
			v = float32(float64(base) + float64(float64(k)*step))
		}
		l[i] = int(v)
	}
	return l, nil
}

// torchLinspace returns torch.linspace(a, b, k): the step is a float32, and the
// second half counts from the end.
func torchLinspace(a, b, k int) []float32 {
	l := make([]float32, k)
	first, last := float32(a), float32(b)
	step := (last - first) / float32(k-1)
	for i := range l {
		switch {
		case i < k/2:
			l[i] = first + float32(step*float32(i))
		case i == k-1:
			l[i] = last
		default:
			l[i] = last - float32(step*float32(k-1-i))
		}
	}
	if k == 1 {
		l[0] = first
	}
	return l
}

// linspace returns numpy.linspace(a, b, k), in doubles.
func linspace(a, b float64, k int) ([]float64, error) {
	if err := bounded(float64(k)); err != nil {
		return nil, err
	}
	l := make([]float64, max(k, 0))
	if k == 1 {
		l[0] = a
		return l, nil
	}
	step := (b - a) / float64(k-1)
	for i := range l {
		l[i] = float64(float64(i)*step) + a
	}
	if k > 1 {
		l[k-1] = b
	}
	return l, nil
}

// floors returns numpy.linspace(a, b, k, dtype=int).
func floors(a, b, k int) ([]int, error) {
	l, err := linspace(float64(a), float64(b), k)
	return each(l, math.Floor), err
}

// each returns f of each value as an integer.
func each(l []float64, f func(float64) float64) []int {
	n := make([]int, len(l))
	for i, v := range l {
		n[i] = trunc(f(v))
	}
	return n
}

// trunc returns Python's int(v), limited to ±2^30: the numbers of frames are
// smaller.
func trunc(v float64) int {
	const most = 1 << 30
	return int(max(-most, min(most, v)))
}

// bounded rejects lists that are too long to make.
func bounded(count float64) error {
	if count > MaxFrames {
		return fmt.Errorf("%w: a list of %v frames, want at most %d", ErrSample, count, MaxFrames)
	}
	return nil
}

// all returns the numbers of n frames.
func all(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// even drops repeated frames, and repeats the last one of an odd number.
func even(l []int) []int {
	seen := map[int]bool{}
	u := l[:0]
	for _, i := range l {
		if !seen[i] {
			seen[i] = true
			u = append(u, i)
		}
	}
	if len(u)%2 == 1 {
		u = append(u, u[len(u)-1])
	}
	return u
}
