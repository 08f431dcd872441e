package exactmath

import "math"

// The sine, cosine and tangent of glibc 2.36 in single precision. They are not
// always the nearest float32.

// sin32 is the sine of 0 <= y < 120.
func sin32(y float32) float32 {
	if y < 0x1p-12 {
		return y
	}
	return trig32(y, 0)
}

// trig32 returns the sine of y + turns*pi/2, 0 <= y < 120: a polynomial in
// float64 follows a reduction by multiples of pi/2. The coefficients are those
// of ARM's optimized-routines, the source of glibc's.
func trig32(y float32, turns int) float32 {
	const (
		c1, c2, c3, c4 = -0x1.ffffffd0c621cp-2, 0x1.55553e1068f19p-5, -0x1.6c087e89a359dp-10, 0x1.99343027bf8c3p-16
		s1, s2, s3     = -0x1.555545995a603p-3, 0x1.1107605230bc4p-7, -0x1.994eb3774cf24p-13
	)
	x := float64(y)
	n := int(math.Floor(float64(x*(2/math.Pi)) + 0.5))
	x -= float64(float64(n) * (math.Pi / 2))
	n += turns
	q := float64(x * x)
	if n&1 == 0 {
		if n&2 != 0 {
			x = -x
		}
		cube := float64(x * q)
		return float32(x + float64(cube*s1) + float64(float64(cube*q)*(s2+float64(q*s3))))
	}
	square := float64(q * q)
	c := 1 + float64(q*c1) + float64(square*c2) + float64(float64(square*q)*(c3+float64(q*c4)))
	if n&2 != 0 {
		c = -c
	}
	return float32(c)
}

// Sin32 returns the sine of x, -120 < x < 120.
func Sin32(x float32) float32 {
	if x < 0 {
		return -sin32(-x)
	}
	return sin32(x)
}

// Cos32 returns the cosine of x, -120 < x < 120.
func Cos32(x float32) float32 {
	if x < 0 {
		x = -x
	}
	if x < 0x1p-12 {
		return 1
	}
	return trig32(x, 1)
}

// pi/4 in two parts, for Tan32. It is fdlibm's k_tanf after the reduction of
// Sin32.
const piQuarter, piQuarterLow float32 = 0x1.921fb4p-1, 0x1.4442dp-25

var tanTerms = [...]float32{
	3.3333334327e-01, 1.3333334029e-01, 5.3968254477e-02, 2.1869488060e-02, 8.8632395491e-03, 3.5920790397e-03, 1.4562094584e-03,
	5.8804126456e-04, 2.4646313977e-04, 7.8179444245e-05, 7.1407252108e-05, -1.8558637748e-05, 2.5907305826e-05,
}

// Tan32 returns the tangent of x, -120 < x < 120.
func Tan32(x float32) float32 {
	if x < 0 {
		return -Tan32(-x)
	}
	if math.Float32bits(x) <= 0x3f490fda {
		return tanSmall(x, 0, false)
	}
	n := int(math.Floor(float64(float64(x)*(2/math.Pi)) + 0.5))
	d := float64(x) - float64(float64(n)*(math.Pi/2))
	h := float32(d)
	return tanSmall(h, float32(d-float64(h)), n&1 == 1)
}

// tanSmall returns the tangent of x+y within pi/4, or minus its reciprocal.
func tanSmall(x, y float32, inverse bool) float32 {
	sign, one := float32(1), float32(1)
	if inverse {
		one = -1
	}
	size := math.Float32bits(x) &^ (1 << 31)
	if size < 0x39000000 { // 2^-13
		if inverse {
			return -1 / x
		}
		return x
	}
	large := size >= 0x3f2ca140 // 0.6744
	if large {
		if x < 0 {
			x, y, sign = -x, -y, -1
		}
		x = (piQuarter - x) + (piQuarterLow - y)
		y = 0
		if x < 0x1p-13 && x > -0x1p-13 {
			return float32(float32(sign*one) * (1 - float32(float32(2*one)*x)))
		}
	}
	z := float32(x * x)
	w := float32(z * z)
	t := &tanTerms
	r := t[1] + float32(w*(t[3]+float32(w*(t[5]+float32(w*(t[7]+float32(w*(t[9]+float32(w*t[11])))))))))
	v := float32(z * (t[2] + float32(w*(t[4]+float32(w*(t[6]+float32(w*(t[8]+float32(w*(t[10]+float32(w*t[12])))))))))))
	s := float32(z * x)
	r = y + float32(z*(float32(s*(r+v))+y))
	r += float32(t[0] * s)
	w = x + r
	if large {
		return float32(sign * (one - float32(2*(x-(float32(w*w)/(w+one)-r)))))
	}
	if !inverse {
		return w
	}
	// -1/(x+r) with more bits
	cut := func(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ 0xfff) }
	z = cut(w)
	v = r - (z - x)
	a := -1 / w
	c := cut(a)
	s = 1 + float32(c*z)
	return c + float32(a*(s+float32(c*v)))
}
