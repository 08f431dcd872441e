package dsp

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// The logarithms here have the polynomial of fdlibm's e_log.c and the two-part
// sums of its e_log10.c. Their error is below 1 unit in the last place.
const (
	log1, log2, log3, log4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
	log5, log6, log7       = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01

	ln2High, ln2Low           = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	log10of2High, log10of2Low = 3.01029995663611771306e-01, 3.69423907715893078616e-13
	tenthHigh, tenthLow       = 4.34294481878168880939e-01, 2.50829467116452752298e-11 // 1/ln 10

	rootHalf = 0x3fe6a09e667f3bcd // the bits of sqrt(1/2)
)

// normal reports whether x is positive, finite and no subnormal number.
func normal(x float64) bool { return x >= 0x1p-1022 && x <= math.MaxFloat64 }

// split returns x = m * 2^k, with m from sqrt(1/2) to sqrt(2), m-1, and the
// terms of log m = f - (half - s*(half+r)).
func split(x float64) (k, f, half, s, r float64) {
	bits := math.Float64bits(x) + (0x3ff0000000000000 - rootHalf)
	k = float64(int64(bits>>52) - 1023)
	f = math.Float64frombits(bits&(1<<52-1)+rootHalf) - 1
	s = f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	r = float64(z*(log1+float64(w*(log3+float64(w*(log5+float64(w*log7))))))) +
		float64(w*(log2+float64(w*(log4+float64(w*log6)))))
	half = float64(float64(0.5*f) * f)
	return k, f, half, s, r
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if !normal(x) {
		return exactmath.Log(x)
	}
	k, f, half, s, r := split(x)
	return float64(k*ln2High) - ((half - (float64(s*(half+r)) + float64(k*ln2Low))) - f)
}

// Log10 returns the decimal logarithm of x.
func Log10(x float64) float64 {
	if !normal(x) {
		return exactmath.Log(x) / math.Ln10
	}
	k, f, half, s, r := split(x)
	high := math.Float64frombits(math.Float64bits(f-half) &^ (1<<32 - 1))
	low := ((f - high) - half) + float64(s*(half+r))
	a, b := float64(k*log10of2High), float64(high*tenthHigh)
	sum := a + b
	rest := float64(k*log10of2Low) + float64((low+high)*tenthLow) + float64(low*tenthHigh)
	rest += (a - sum) + b
	return rest + sum
}
