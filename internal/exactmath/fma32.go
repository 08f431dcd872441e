package exactmath

import "math"

// FMA32 returns a*b+c with one rounding, as torch's kernels compute it on every
// CPU with fused multiply-add. The product is exact in float64. Only a sum half
// way between two float32 numbers needs care.
func FMA32(a, b, c float32) float32 { return Add32(float64(float64(a)*float64(b)), c) }

// Add32 returns ab + c, rounded once, for finite numbers. ab is the product of
// two float32 numbers, which is exact.
func Add32(ab float64, c float32) float32 {
	z := float64(c)
	s := ab + z
	if math.Float64bits(s)&(1<<29-1) == 1<<28 || s > -0x1p-125 && s < 0x1p-125 {
		return Tie32(ab, z, s)
	}
	return float32(s)
}

// Tie32 rounds p+z once: to odd, then to float32. s is the sum in float64.
func Tie32(p, z, s float64) float32 {
	t := s - p
	e := (p - (s - t)) + (z - t)
	if b := math.Float64bits(s); e != 0 && b&1 == 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
		s = math.Float64frombits(b)
	}
	return float32(s)
}
