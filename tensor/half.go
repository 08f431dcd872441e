package tensor

import "math"

// Float16FromFloat32 rounds f to binary16, to nearest with ties to even, and
// returns its bits. The result equals astype(float16) of NumPy 2.4.6 bit for
// bit:
//
//   - Magnitudes of 65520 and more become infinity. Smaller ones above 65504,
//     the largest finite value, round down to it.
//   - Magnitudes of 2^-25 and less become a zero of f's sign. Larger ones below
//     2^-14 become subnormal.
//   - A NaN keeps its sign and the upper ten bits of its payload, quiet or not.
//     If those bits are all zero, the lowest is set, so that it stays a NaN.
//
// The NaN rule is that of NumPy's software conversion, which its x86-64 wheels
// use; hardware conversions also set the quiet bit.
func Float16FromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // NaN
		p := uint16(b >> 13 & 0x3ff)
		if p == 0 {
			p = 1
		}
		return sign | 0x7c00 | p
	case b >= 0x477ff000: // 65520
		return sign | 0x7c00
	case b <= 0x33000000: // 2^-25, a tie with zero, which is even
		return sign
	case b < 0x38800000: // 2^-14: the result counts units of 2^-24
		m := b&0x7fffff | 0x800000
		return sign | uint16(roundShift(uint64(m), uint(126-b>>23)))
	}
	// A carry out of the significand correctly increments the exponent.
	return sign | uint16(roundShift(uint64(b-(127-15)<<23), 13))
}

// Float16FromFloat64 rounds f to binary16 in one step, not through float32, and
// returns its bits. It follows the rules of [Float16FromFloat32], as NumPy
// does.
func Float16FromFloat64(f float64) uint16 {
	b := math.Float64bits(f)
	sign := uint16(b >> 48 & 0x8000)
	b &= 1<<63 - 1
	switch {
	case b > 0x7ff<<52: // NaN
		p := uint16(b >> 42 & 0x3ff)
		if p == 0 {
			p = 1
		}
		return sign | 0x7c00 | p
	case b >= 0x40effe0000000000: // 65520
		return sign | 0x7c00
	case b <= 0x3e60000000000000: // 2^-25
		return sign
	case b < 0x3f10000000000000: // 2^-14
		m := b&(1<<52-1) | 1<<52
		return sign | uint16(roundShift(m, uint(1051-b>>52)))
	}
	return sign | uint16(roundShift(b-(1023-15)<<52, 42))
}

// roundShift returns v >> n rounded to nearest, ties to even; 1 <= n <= 63.
func roundShift(v uint64, n uint) uint64 {
	return (v + 1<<(n-1) - 1 + v>>n&1) >> n
}

// Float16ToFloat32 returns the float32 of binary16 bits. Every value is exact.
// A NaN keeps its sign and its payload, in the upper bits, and is not made
// quiet, as in NumPy. Float16FromFloat32 therefore restores every bit pattern.
func Float16ToFloat32(h uint16) float32 {
	sign, e, m := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case e == 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | m<<13)
	case e == 0 && m == 0:
		return math.Float32frombits(sign)
	case e == 0: // subnormal: shift the leading one to the implied position
		e = 1
		for m&0x400 == 0 {
			m <<= 1
			e--
		}
		m &= 0x3ff
	}
	return math.Float32frombits(sign | (e+127-15)<<23 | m<<13)
}

// BFloat16FromFloat32 rounds f to bfloat16, to nearest with ties to even, and
// returns its bits, as ml_dtypes 0.6.0 does. Magnitudes of 0x7f7f8000 and more,
// half a step beyond the largest finite value, become infinity. Subnormals stay
// subnormal. Every NaN becomes the quiet 0x7fc0 with f's sign, without payload.
func BFloat16FromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16&0x8000) | 0x7fc0
	}
	return uint16(roundShift(uint64(b), 16))
}

// BFloat16ToFloat32 returns the float32 of bfloat16 bits, NaNs included: the
// bits followed by 16 zeros.
func BFloat16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
