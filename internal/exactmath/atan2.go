package exactmath

import "math"

// Atan2 returns the angle of the point (x, y) in radians, -pi to pi. Its error
// is below 2 units in the last place of float64. The cases of package math's
// Atan2 hold for zeros, infinities and NaN.
func Atan2(y, x float64) float64 {
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		// Scale infinite sides to 1 and finite ones to 0.
		x, y = infinite(x), infinite(y)
	}
	a, b := math.Abs(x), math.Abs(y)
	var r float64
	switch {
	case a == 0 && b == 0:
	case b <= a:
		r = Atan(b / a)
	default: // also for NaN
		r = math.Pi/2 - Atan(a/b)
	}
	if math.Signbit(x) {
		r = math.Pi - r
	}
	return math.Copysign(r, y)
}

func infinite(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return v
	case math.IsInf(v, 0):
		return math.Copysign(1, v)
	}
	return math.Copysign(0, v)
}
