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

// TorchSum adds values that follow each other in memory in the order of torch's
// sum on processors with AVX2: eight lanes of four accumulators, each of which
// is a cascade of sums.
func TorchSum(v []float32) float32 {
	const most, ways, levels = 8, 4, 4
	lanes := most
	if len(v) < lanes {
		lanes = 1
	}
	vectors := len(v) / lanes
	rows := vectors / ways
	power := 4
	for rows > 1<<(levels*power+levels-1) { // a quarter of the logarithm, rounded up
		power++
	}
	var acc [levels][ways * most]float32
	row := ways * lanes
	add := func(i int) {
		for k, x := range v[i*row : (i+1)*row] {
			acc[0][k] += x
		}
	}
	i := 0
	for i+(1<<power) <= rows {
		for range 1 << power {
			add(i)
			i++
		}
		for level := 1; level < levels; level++ {
			for k := range row {
				acc[level][k] += acc[level-1][k]
				acc[level-1][k] = 0
			}
			if i&((1<<power-1)<<(level*power)) != 0 {
				break
			}
		}
	}
	for ; i < rows; i++ {
		add(i)
	}
	for level := 1; level < levels; level++ {
		for k := range row {
			acc[0][k] += acc[level][k]
		}
	}
	sums := acc[0][:lanes]
	for j := rows * ways; j < vectors; j++ {
		for k := range sums {
			sums[k] += v[j*lanes+k]
		}
	}
	for way := 1; way < ways; way++ {
		for k := range sums {
			sums[k] += acc[0][way*lanes+k]
		}
	}
	sum := float32(0)
	for _, x := range v[vectors*lanes:] {
		sum += x
	}
	for _, x := range sums {
		sum += x
	}
	return sum
}
