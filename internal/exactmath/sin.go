package exactmath

import "math"

// The sine and cosine here do not use package math, whose results depend on the
// platform. They use additions and multiplications in a fixed order, with an
// error below 0.52 units in the last place.

// pi/2 in three parts of 33 bits and a remainder. Small multiples of the first
// three are exact (the split of fdlibm's e_rem_pio2).
const (
	piHalf1 = 1.57079632673412561417e+00
	piHalf2 = 6.07710050630396597660e-11
	piHalf3 = 2.02226624871116645580e-21
	piHalf4 = 8.47842766036889956997e-32
)

// twoSum returns a+b and its rounding error.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// twoProd returns a*b and its rounding error, by Dekker's split of the factors
// into halves of 26 bits.
func twoProd(a, b float64) (p, e float64) {
	const split = 1<<27 + 1
	p = float64(a * b)
	c := float64(split * a)
	ah := c - (c - a)
	al := a - ah
	c = float64(split * b)
	bh := c - (c - b)
	bl := b - bh
	e = float64(ah*bh) - p
	e += float64(ah * bl)
	e += float64(al * bh)
	e += float64(al * bl)
	return p, e
}

// quarter returns the k with the smallest remainder x - k*pi/2, and the
// remainder in two parts, for x in 0..2^18. k has at most 20 bits.
func quarter(x float64) (k int, r, e float64) {
	q := math.Floor(float64(x*(2/math.Pi)) + 0.5)
	r, e = twoSum(x-float64(q*piHalf1), -float64(q*piHalf2))
	r2, e2 := twoSum(r, -float64(q*piHalf3))
	r, e = twoSum(r2, (e+e2)-float64(q*piHalf4))
	return int(q), r, e
}

// SinCosFast returns the sine and the cosine of x, 0 <= x <= 2^18.
func SinCosFast(x float64) (sin, cos float64) {
	k, r, e := quarter(x)
	s, c := sinSmall(r, e), cosSmall(r, e)
	switch k & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	}
	return -c, s
}

// SinFast returns the sine of x, 0 <= x <= 2^18.
func SinFast(x float64) float64 {
	k, r, e := quarter(x)
	switch k & 3 {
	case 0:
		return sinSmall(r, e)
	case 1:
		return cosSmall(r, e)
	case 2:
		return -sinSmall(r, e)
	}
	return -cosSmall(r, e)
}

// Terms of the Taylor series. With |r| <= pi/4, the first omitted term is
// smaller than 2^-70.
var (
	sinTerms = [...]float64{
		1.0 / 51090942171709440000, -1.0 / 121645100408832000, 1.0 / 355687428096000, -1.0 / 1307674368000,
		1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120,
	}
	cosTerms = [...]float64{
		1.0 / 2432902008176640000, -1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200,
		1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24,
	}
)

const (
	sixthHigh = -1.0 / 6
	sixthLow  = -9.25185853854297066e-18 // -1/6 - sixthHigh
)

// square returns (r+e)^2 in two parts.
func square(r, e float64) (h, l float64) {
	h, l = twoProd(r, r)
	l += float64(2 * float64(r*e))
	return h, l
}

// sinSmall computes r - r^3/6 + r^5*(1/120 - ...), with the first two terms in
// two parts.
func sinSmall(r, e float64) float64 {
	h, l := square(r, e)
	tail := 0.0
	for _, t := range sinTerms {
		tail = float64(tail*h) + t
	}
	q := float64(tail * h)
	// q = -1/6 + h*tail in two parts, times r^3 in two parts
	qh, ql := twoSum(sixthHigh, q)
	ql += sixthLow
	mh, ml := twoProd(h, qh)
	ml += float64(h*ql) + float64(l*qh)
	ph, pl := twoProd(r, mh)
	pl += float64(r*ml) + float64(e*mh)
	sh, sl := twoSum(r, ph)
	return sh + (sl + (pl + e))
}

// cosSmall computes 1 - r^2/2 + r^4*(1/24 - ...).
func cosSmall(r, e float64) float64 {
	h, l := square(r, e)
	tail := 0.0
	for _, t := range cosTerms {
		tail = float64(tail*h) + t
	}
	q := float64(float64(tail*h) * h)
	sh, sl := twoSum(1, float64(-0.5*h))
	th, tl := twoSum(sh, q)
	return th + (tl + (sl - float64(0.5*l)))
}

// CosSinDegrees returns the cosine and the sine of n degrees as a C program
// computes them that converts to radians as n/180.0*M_PI and keeps a float.
// They are therefore not exactly 0 for multiples of 90 degrees. n is at most a
// million.
func CosSinDegrees(n int) (cos, sin float32) {
	x := float64(math.Abs(float64(n)) / 180 * math.Pi)
	s, c := SinCosFast(x)
	if n < 0 {
		s = -s
	}
	return float32(c), float32(s)
}
