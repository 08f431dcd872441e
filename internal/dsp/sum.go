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
		r := [lanes]T(v[:lanes])
		i := lanes
		for ; i < n-n%lanes; i += lanes {
			for k, x := range v[i : i+lanes] {
				r[k] += x
			}
		}
		sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for _, x := range v[i:] {
			sum += x
		}
		return sum
	}
	half := n / 2
	half -= half % lanes
	return PairwiseSum(v[:half]) + PairwiseSum(v[half:])
}
