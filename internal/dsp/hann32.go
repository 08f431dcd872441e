package dsp

import "github.com/infer-prep/infer-prep/internal/exactmath"

// hann32 returns the periodic Hann window that Gemma 3n computes in float32.
func hann32(n int) []float32 {
	const turn = 6.2831853071795864769252867665590057
	t := make([]float32, n)
	for i := range t {
		t[i] = float32(0.5 * (1 - cos32(float32(turn*float32(i))/float32(n))))
	}
	return t
}

// cos32 returns the cosine of x, 0 <= x <= 7, as NumPy 2.4.6 computes it for
// float32 with FMA: x minus a multiple of pi/2 in three parts, then a
// polynomial. Its error is below 1.5 units in the last place.
func cos32(x float32) float32 {
	const magic = 0x1.8p23 // rounds to a whole number
	fma := exactmath.FMA32
	q := fma(x, 0x1.45f306p-1, magic) - magic
	r := fma(q, -0x1.921fb0p+00, x)
	r = fma(q, -0x1.5110b4p-22, r)
	r = fma(q, -0x1.846988p-48, r)
	z := float32(r * r)
	var v float32
	k := int(q)
	if k&1 == 0 {
		v = fma(0x1.98e616p-16, z, -0x1.6c06dcp-10)
		v = fma(v, z, 0x1.55553cp-05)
		v = fma(v, z, -0.5)
		v = fma(v, z, 1)
	} else {
		v = fma(0x1.7d3bbcp-19, z, -0x1.a06bbap-13)
		v = fma(v, z, 0x1.11119ap-07)
		v = fma(v, z, -0x1.555556p-03)
		v = fma(fma(v, z, 0), r, r)
	}
	if (k+1)&2 != 0 {
		v = -v
	}
	return v
}
