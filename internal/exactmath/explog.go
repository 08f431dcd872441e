package exactmath

import "math"

// Exp and Log do not use package math, whose results depend on the platform.
// They use additions, multiplications and divisions in a fixed order.

// ln 2 in two parts. The first part ends with 21 zero bits, so its product with
// an exponent is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// The reciprocals of 3, 5, 7, …, last first. With |s| <= 0.1716 in Log, the
// first omitted term is smaller than 2^-70 of the first term.
var logTerms = [...]float64{
	1.0 / 27, 1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3,
}

// Log returns the natural logarithm of x with an error below 0.6 units in the
// last place. Log(0) is -Inf, and Log of a negative number is NaN.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	h, _ := logParts(x)
	return h
}

// logParts returns the logarithm of a positive finite number: the nearest
// float64 and the rest.
func logParts(x float64) (h, l float64) {
	// x = m * 2^k, m from sqrt(1/2) to sqrt(2)
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m = float64(m * 2)
		k--
	}
	// log m = 2 atanh(s) = 2(s + s^3/3 + s^5/5 + …) with s = (m-1)/(m+1) in two
	// parts
	f := m - 1
	d, dl := twoSum(m, 1)
	s := f / d
	p, e := twoProd(s, d)
	sl := ((f - p) - e - float64(s*dl)) / d
	q := float64(s * s)
	tail := 0.0
	for _, t := range logTerms {
		tail = float64((tail + t) * q)
	}
	tail = float64(s*tail) + sl
	h, l = twoSum(float64(float64(k)*ln2High), float64(2*s))
	return twoSum(h, l+(float64(2*tail)+float64(float64(k)*ln2Low)))
}

// The reciprocals of the factorials of 16, 15, … 2. With |r| <= 0.35, the first
// omitted term is smaller than 2^-70.
var expTerms = [...]float64{
	1.0 / 20922789888000, 1.0 / 1307674368000, 1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
	1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2,
}

// Exp returns e to the power of x with an error below 0.6 units in the last
// place. A result below the normal numbers is 0, and one above them is +Inf.
func Exp(x float64) float64 { return expParts(x, 0) }

// expParts returns e to the power of x+y; y is small.
func expParts(x, y float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.7:
		return math.Inf(1)
	case x < -708.3:
		return 0
	}
	// x = k*ln2 + r, r in two parts
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r, e := twoSum(x-float64(k*ln2High), -float64(k*ln2Low))
	tail := 0.0
	for _, t := range expTerms {
		tail = float64(tail*r) + t
	}
	tail = float64(float64(tail*r)*r) + (e + float64(y*(1+float64(r*(1+float64(r/2))))))
	h, l := twoSum(1, r)
	return math.Ldexp(h+(l+tail), int(k))
}

// Pow returns x to the power of y for finite numbers that are not negative.
// Pow(x, 0) is 1. A result below the normal numbers is 0. The error of others
// is below 0.65 units in the last place if they are from 2^-32 to 2^32.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x == 0:
		return 0
	case y == 1:
		return x
	}
	h, l := logParts(x)
	p, e := twoProd(h, y)
	if p > 710 || p < -710 {
		return Exp(p)
	}
	return expParts(p, e+float64(l*y))
}

// Cos2Pi returns the cosine of 2*pi*x for x in 0..1.
func Cos2Pi(x float64) float64 {
	_, c := SinCosFast(float64(x * (2 * math.Pi)))
	return c
}
