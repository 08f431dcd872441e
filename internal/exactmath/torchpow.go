package exactmath

import "math"

// TorchPow returns x to the power of y, 0 or more, as torch's vectors of
// float32 do on x86-64 with FMA: SLEEF's powf with an error of 1 ULP, and
// shortcuts. Results below the normal numbers may differ in the last bit. For
// y = 0.5 torch calls MKL, whose square root may differ in the last bit from
// the correctly rounded one returned here.
func TorchPow(x, y float32) float32 {
	switch y {
	case 0:
		return 1
	case 0.5:
		return float32(math.Sqrt(float64(x)))
	case 1:
		return x
	case 2:
		return float32(x * x)
	case 3:
		return float32(float32(x*x) * x)
	}
	a := float32(math.Abs(float64(x)))
	whole := float64(y) == math.Floor(float64(y))
	switch {
	case x != x, x < 0 && a <= math.MaxFloat32 && !whole:
		return float32(math.NaN())
	case a != 0 && a <= math.MaxFloat32:
		a = sleefLog(a).scale(y).exp()
	}
	if whole && y < 1<<24 && int32(y)&1 == 1 {
		return float32(math.Copysign(float64(a), float64(x)))
	}
	return a
}

// twoFloats is a sum of two float32 numbers, the second one small. Its methods
// round as SLEEF's functions on such sums with FMA.
type twoFloats struct{ h, l float32 }

// addFloats returns a+b for any a and b.
func addFloats(a, b float32) twoFloats {
	s := a + b
	v := s - a
	return twoFloats{s, (a - (s - v)) + (b - v)}
}

// plus returns a+b for any a and b.
func (a twoFloats) plus(b twoFloats) twoFloats {
	s := addFloats(a.h, b.h)
	return twoFloats{s.h, s.l + (a.l + b.l)}
}

// ordered returns a+b for |a| >= |b|.
func (a twoFloats) ordered(b twoFloats) twoFloats {
	s := a.h + b.h
	return twoFloats{s, (((a.h - s) + b.h) + a.l) + b.l}
}

func (a twoFloats) times(b twoFloats) twoFloats {
	s := float32(a.h * b.h)
	return twoFloats{s, FMA32(a.h, b.l, FMA32(a.l, b.h, FMA32(a.h, b.h, -s)))}
}

func (a twoFloats) squared() twoFloats {
	s := float32(a.h * a.h)
	return twoFloats{s, FMA32(a.h+a.h, a.l, FMA32(a.h, a.h, -s))}
}

func (a twoFloats) scale(b float32) twoFloats {
	s := float32(a.h * b)
	return twoFloats{s, FMA32(a.l, b, FMA32(a.h, b, -s))}
}

func (a twoFloats) over(b twoFloats) twoFloats {
	t := 1 / b.h
	s := float32(a.h * t)
	u := FMA32(t, a.h, -s)
	v := FMA32(-b.l, t, FMA32(-b.h, t, 1))
	return twoFloats{s, FMA32(s, v, FMA32(a.l, t, u))}
}

// sleefLog returns the natural logarithm of a positive number.
func sleefLog(x float32) twoFloats {
	e := 128
	if next := float32(x * (1 / 0.75)); next <= math.MaxFloat32 {
		_, e = math.Frexp(float64(next))
		e--
	}
	m := float32(math.Ldexp(float64(x), -e)) // 0.75 to 1.5
	q := addFloats(-1, m).over(addFloats(1, m))
	q2 := q.squared()
	t := FMA32(0.240320354700088500976562, q2.h, 0.285112679004669189453125)
	t = FMA32(t, q2.h, 0.400007992982864379882812)
	third := twoFloats{0.66666662693023681640625, 3.69183861259614332084311e-09}
	s := twoFloats{0.69314718246459960938, -1.904654323148236017e-09}.scale(float32(e))
	s = s.ordered(twoFloats{float32(2 * q.h), float32(2 * q.l)})
	return s.ordered(q2.times(q).times(q2.scale(t).plus(third)))
}

// exp returns e to the power of a.
func (a twoFloats) exp() float32 {
	switch {
	case a.h < -104:
		return 0
	case a.h > 104:
		return float32(math.Inf(1))
	}
	q := float32(math.RoundToEven(float64(float32((a.h + a.l) * math.Log2E))))
	s := a.plus(twoFloats{float32(q * -0.693145751953125), 0})
	s = s.plus(twoFloats{float32(q * -1.428606765330187045e-06), 0})
	s = twoFloats{s.h + s.l, (s.h - (s.h + s.l)) + s.l}
	u := float32(0.00136324646882712841033936)
	for _, t := range [...]float32{0.00836596917361021041870117, 0.0416710823774337768554688, 0.166665524244308471679688, 0.499999850988388061523438} {
		u = FMA32(u, s.h, t)
	}
	s = twoFloats{1, 0}.ordered(s.ordered(s.squared().scale(u)))
	return float32(math.Ldexp(float64(s.h+s.l), int(q)))
}
