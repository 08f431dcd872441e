package kernel

import "github.com/infer-prep/infer-prep/internal/exactmath"

// ChainBlock is the number of outputs that Chain computes at once.
const ChainBlock = 32

// Chain computes dst[i] as the sum over j of x[at[j]+i]*k[j] in float32, the
// first product first. With fused it is a chain of fused multiply-adds from 0
// on, as oneDNN's convolutions compute it. Otherwise every product is rounded
// before it is added. The length of dst is a multiple of ChainBlock, x has the
// values for it, and the numbers are finite.
func Chain(dst, x []float32, at []int, k []float32, fused bool) {
	if len(dst) == 0 || len(k) == 0 {
		clear(dst)
		return
	}
	at = at[:len(k)]
	for _, a := range at {
		_ = x[a:][:len(dst)]
	}
	if !chain(dst, x, at, k, fused) {
		chainGo(dst, x, at, k, fused)
	}
}

// chainGo is Chain in plain Go.
func chainGo(dst, x []float32, at []int, k []float32, fused bool) {
	// The steps of a chain wait for each other, so four chains advance at once.
	for i := 0; i+4 <= len(dst); i += 4 {
		var s0, s1, s2, s3 float32
		if fused {
			for j, v := range k {
				p, w := (*[4]float32)(x[at[j]+i:]), float64(v)
				s0 = exactmath.Add32(float64(float64(p[0])*w), s0)
				s1 = exactmath.Add32(float64(float64(p[1])*w), s1)
				s2 = exactmath.Add32(float64(float64(p[2])*w), s2)
				s3 = exactmath.Add32(float64(float64(p[3])*w), s3)
			}
		} else {
			for j, v := range k {
				p := (*[4]float32)(x[at[j]+i:])
				s0 += float32(p[0] * v)
				s1 += float32(p[1] * v)
				s2 += float32(p[2] * v)
				s3 += float32(p[3] * v)
			}
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = s0, s1, s2, s3
	}
}
