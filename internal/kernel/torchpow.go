package kernel

import "math"

// TorchPow returns x to the power of y, both 0 or more, as torch's vectors of
// float32 do on x86-64 with FMA: SLEEF's powf with an error of 1 ULP, and exact
// shortcuts. x is a normal number or 0.
func TorchPow(x, y float32) float32 {
	switch {
	case y == 0:
		return 1
	case x == 0:
		return 0
	case y == 0.5:
		return float32(math.Sqrt(float64(x)))
	case y == 1:
		return x
	case y == 2:
		return float32(x * x)
	case y == 3:
		return float32(float32(x*x) * x)
	}
	return sleefLog(x).scale(y).exp()
}

// pair32 is the sum of two float32 numbers, the second one small. Its methods
// round as SLEEF's functions on such sums with FMA.
type pair32 struct{ h, l float32 }

// sum32 returns a+b for any a and b.
func sum32(a, b float32) pair32 {
	s := a + b
	v := s - a
	return pair32{s, (a - (s - v)) + (b - v)}
}

// plus returns a+b for any a and b.
func (a pair32) plus(b pair32) pair32 {
	s := sum32(a.h, b.h)
	return pair32{s.h, s.l + (a.l + b.l)}
}

// ordered returns a+b for |a| >= |b|.
func (a pair32) ordered(b pair32) pair32 {
	s := a.h + b.h
	return pair32{s, (((a.h - s) + b.h) + a.l) + b.l}
}

func (a pair32) times(b pair32) pair32 {
	s := float32(a.h * b.h)
	return pair32{s, fma32(a.h, b.l, fma32(a.l, b.h, fma32(a.h, b.h, -s)))}
}

func (a pair32) squared() pair32 {
	s := float32(a.h * a.h)
	return pair32{s, fma32(a.h+a.h, a.l, fma32(a.h, a.h, -s))}
}

func (a pair32) scale(b float32) pair32 {
	s := float32(a.h * b)
	return pair32{s, fma32(a.l, b, fma32(a.h, b, -s))}
}

func (a pair32) over(b pair32) pair32 {
	t := 1 / b.h
	s := float32(a.h * t)
	u := fma32(t, a.h, -s)
	v := fma32(-b.l, t, fma32(-b.h, t, 1))
	return pair32{s, fma32(s, v, fma32(a.l, t, u))}
}

// sleefLog returns the natural logarithm of a positive normal number.
func sleefLog(x float32) pair32 {
	_, e := math.Frexp(float64(float32(x * (1 / 0.75))))
	e--
	m := float32(math.Ldexp(float64(x), -e)) // 0.75 to 1.5
	q := sum32(-1, m).over(sum32(1, m))
	q2 := q.squared()
	t := fma32(0.240320354700088500976562, q2.h, 0.285112679004669189453125)
	t = fma32(t, q2.h, 0.400007992982864379882812)
	third := pair32{0.66666662693023681640625, 3.69183861259614332084311e-09}
	s := pair32{0.69314718246459960938, -1.904654323148236017e-09}.scale(float32(e))
	s = s.ordered(pair32{float32(2 * q.h), float32(2 * q.l)})
	return s.ordered(q2.times(q).times(q2.scale(t).plus(third)))
}

// exp returns e to the power of a.
func (a pair32) exp() float32 {
	if a.h < -104 {
		return 0
	}
	q := float32(math.RoundToEven(float64(float32((a.h + a.l) * math.Log2E))))
	s := a.plus(pair32{float32(q * -0.693145751953125), 0})
	s = s.plus(pair32{float32(q * -1.428606765330187045e-06), 0})
	s = pair32{s.h + s.l, (s.h - (s.h + s.l)) + s.l}
	u := float32(0.00136324646882712841033936)
	for _, t := range [...]float32{0.00836596917361021041870117, 0.0416710823774337768554688, 0.166665524244308471679688, 0.499999850988388061523438} {
		u = fma32(u, s.h, t)
	}
	s = pair32{1, 0}.ordered(s.ordered(s.squared().scale(u)))
	return float32(math.Ldexp(float64(s.h+s.l), int(q)))
}
