package flac

// fixed undoes the fixed prediction of an order, 0 to 4, in place: the first
// order values are samples, the others residuals.
func fixed[T int32 | int64](v []T, order int) {
	switch order {
	case 1:
		for i := 1; i < len(v); i++ {
			v[i] += v[i-1]
		}
	case 2:
		for i := 2; i < len(v); i++ {
			v[i] += 2*v[i-1] - v[i-2]
		}
	case 3:
		for i := 3; i < len(v); i++ {
			v[i] += 3*(v[i-1]-v[i-2]) + v[i-3]
		}
	case 4:
		for i := 4; i < len(v); i++ {
			v[i] += 4*(v[i-1]+v[i-3]) - 6*v[i-2] - v[i-4]
		}
	}
}

// linear undoes linear prediction in place, as fixed. Coefficient 0 belongs to
// the sample before.
func linear[T int32 | int64](v []T, coefs []int64, shift uint) {
	n := len(coefs)
	for i := n; i < len(v); i++ {
		h := v[i-n : i]
		sum := int64(0)
		for j, c := range coefs {
			sum += c * int64(h[len(h)-1-j])
		}
		v[i] += T(sum >> shift)
	}
}

// maxFast is the largest order of linearFast. Encoders use at most 12 unless
// asked for more.
const maxFast = 12

// linearFast is linear for orders up to maxFast. The sample before is kept in a
// register, and the loops have no inner loop.
func linearFast(v []int32, coefs []int64, shift uint) {
	var c [maxFast]int64
	n := copy(c[:], coefs)
	// With zeros as the missing coefficients, the loops need more samples in
	// front of the first.
	wide := 4
	switch {
	case n > 8:
		wide = 12
	case n > 4:
		wide = 8
	}
	if len(v) <= wide {
		linear(v, coefs, shift)
		return
	}
	linear(v[:wide], coefs, shift)
	shift &= 63
	last := int64(v[wide-1])
	switch wide {
	case 4:
		c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
		for i := 4; i < len(v); i++ {
			h := v[i-4 : i+1]
			sum := int64(h[0])*c3 + int64(h[1])*c2 + int64(h[2])*c1
			last = int64(h[4] + int32((sum+last*c0)>>shift))
			h[4] = int32(last)
		}
	case 8:
		c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
		for i := 8; i < len(v); i++ {
			h := v[i-8 : i+1]
			sum := int64(h[0])*c7 + int64(h[1])*c6 + int64(h[2])*c5 + int64(h[3])*c4 + int64(h[4])*c3 + int64(h[5])*c2 + int64(h[6])*c1
			last = int64(h[8] + int32((sum+last*c0)>>shift))
			h[8] = int32(last)
		}
	case 12:
		for i := 12; i < len(v); i++ {
			h := v[i-12 : i+1]
			sum := int64(h[0])*c[11] + int64(h[1])*c[10] + int64(h[2])*c[9] + int64(h[3])*c[8] + int64(h[4])*c[7] + int64(h[5])*c[6]
			sum += int64(h[6])*c[5] + int64(h[7])*c[4] + int64(h[8])*c[3] + int64(h[9])*c[2] + int64(h[10])*c[1]
			last = int64(h[12] + int32((sum+last*c[0])>>shift))
			h[12] = int32(last)
		}
	}
}
