package kaldi

import (
	"fmt"

	"github.com/infer-prep/infer-prep/tensor"
)

// CMVN holds the statistics for normalising mean and variance. Kaldi stores
// them as a matrix of 2 x (n+1) in an archive of their own. This package only
// reads them.
type CMVN struct {
	Frames float64   // number of counted vectors
	Sums   []float64 // one for each of n elements
	// Squares are the sums of squares.
	Squares []float64
}

// ParseCMVN parses the matrix of float32 or float64: the sums and the count,
// then the sums of squares and a 0.
func ParseCMVN(t *tensor.Tensor) (CMVN, error) {
	if t.Shape.Rank() != 2 || t.Shape.At(0) != 2 || t.Shape.At(1) < 2 || !t.Dense() || t.DType != tensor.Float32 && t.DType != tensor.Float64 {
		return CMVN{}, fmt.Errorf("kaldi: CMVN statistics of %v, want a matrix of 2 x (n+1)", t.Desc)
	}
	var x []float64
	if t.DType == tensor.Float64 {
		x = append(x, tensor.View[float64](t)...)
	} else {
		for _, v := range tensor.View[float32](t) {
			x = append(x, float64(v))
		}
	}
	n := len(x)/2 - 1
	return CMVN{x[n], x[:n:n], x[n+1 : 2*n+1 : 2*n+1]}, nil
}

// Mean returns Sums / Frames.
func (c CMVN) Mean() []float64 {
	m := make([]float64, len(c.Sums))
	for i, s := range c.Sums {
		m[i] = s / c.Frames
	}
	return m
}

// Variance returns Squares / Frames less the square of the mean, at least 1e-20
// as in Kaldi.
func (c CMVN) Variance() []float64 {
	v := make([]float64, len(c.Sums))
	for i, m := range c.Mean() {
		v[i] = max(c.Squares[i]/c.Frames-float64(m*m), 1e-20)
	}
	return v
}
