package exactmath

// Atan returns the arctangent of x, |x| <= 1. It rounds correctly, as SinCos
// does. For 0.16% of random arguments, glibc 2.36 returns the next float64
// above or below.
func Atan(x float64) float64 {
	y := x / (1 + float64(0.28*float64(x*x)))
	// The tangent of the rest is (x - tan y) / (1 + x tan y). Its error is
	// about t^5 at first, and then below 2^-100.
	for range 2 {
		s, c := sinCosPair(y)
		t := (float64(x*c.h) - s.h) / (c.h + float64(x*s.h))
		y += t - float64(float64(t*t)*t)/3
	}
	s, c := sinCosPair(y)
	p := c.times(pair{x, 0})
	h, l := twoSum(p.h, -s.h)
	return y + (h+(l+(p.l-s.l)))/(c.h+float64(x*s.h))
}
