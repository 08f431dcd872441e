package dsp

// PairwiseSum adds values in the order of NumPy's pairwise_sum: a part of up to
// 128 values by eight accumulators, a longer part in two halves, of which the
// first has a multiple of eight values.
func PairwiseSum[T float32 | float64](v []T) T {
	const lanes, block = 8, 128
	n := len(v)
	switch {
	case n < lanes:
		sum := T(0)
		for _, x := range v {
			sum += x
		}
		return sum
	case n <= block:
		r0, r1, r2, r3, r4, r5, r6, r7 := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
		i := lanes
		for ; i < n-n%lanes; i += lanes {
			x := v[i : i+lanes : i+lanes]
			r0 += x[0]
			r1 += x[1]
			r2 += x[2]
			r3 += x[3]
			r4 += x[4]
			r5 += x[5]
			r6 += x[6]
			r7 += x[7]
		}
		sum := ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
		for _, x := range v[i:] {
			sum += x
		}
		return sum
	}
	half := n / 2
	half -= half % lanes
	return PairwiseSum(v[:half]) + PairwiseSum(v[half:])
}
