package rng

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Beta draws from the beta distribution of two positive parameters: a number
// from 0 to 1. It is the quotient X/(X+Y) of two numbers X and Y drawn from the
// gamma distributions of shapes a and b, in this order (Marsaglia, Tsang: A
// Simple Method for Generating Gamma Variables, 2000).
func (s *Stream) Beta(a, b float64) float64 {
	x := s.logGamma(a)
	return 1 / (1 + exactmath.Exp(s.logGamma(b)-x))
}

// Dirichlet fills dst with numbers of the symmetric Dirichlet distribution of a
// positive parameter: they are not negative, and their sum is 1 up to rounding.
// The gamma distributed numbers are drawn in order, as by Beta.
func (s *Stream) Dirichlet(alpha float64, dst []float64) {
	most := math.Inf(-1)
	for i := range dst {
		dst[i] = s.logGamma(alpha)
		most = max(most, dst[i])
	}
	sum := 0.0
	for i := range dst {
		dst[i] = exactmath.Exp(dst[i] - most)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// logGamma draws the logarithm of a number of the gamma distribution, because
// the number itself may be too small for small shapes.
func (s *Stream) logGamma(shape float64) float64 {
	more := 0.0
	if shape < 1 {
		// A number of shape+1 times u^(1/shape) has the distribution.
		more = exactmath.Log(1-s.Float64()) / shape
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	for {
		x := s.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		l := float64(3 * exactmath.Log(v))
		v = float64(float64(v*v) * v)
		bound := float64(0.5*float64(x*x)) + d - float64(d*v) + float64(d*l)
		if exactmath.Log(1-s.Float64()) < bound {
			return exactmath.Log(d) + l + more
		}
	}
}
