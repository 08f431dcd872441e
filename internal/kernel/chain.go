package kernel

import "github.com/infer-prep/infer-prep/internal/exactmath"

// ChainFMA32 computes dst[i*to] as the sum over j of x[i*from+j]*k[j], a chain
// of float32 fused multiply-adds from 0 and the first product on, as oneDNN's
// convolutions compute it, for all i with i*to < len(dst). x has the values for
// them. The numbers are finite.
func ChainFMA32(dst []float32, to int, x []float32, from int, k []float32) {
	n := (len(dst) + to - 1) / to
	at, i := 0, 0
	// The steps of a chain wait for each other, so four chains advance at once.
	for ; n >= 4; n -= 4 {
		a, b, c, d := x[at:], x[at+from:], x[at+2*from:], x[at+3*from:]
		a, b, c, d = a[:len(k)], b[:len(k)], c[:len(k)], d[:len(k)]
		var s0, s1, s2, s3 float32
		for j, v := range k {
			w := float64(v)
			s0 = exactmath.Add32(float64(float64(a[j])*w), s0)
			s1 = exactmath.Add32(float64(float64(b[j])*w), s1)
			s2 = exactmath.Add32(float64(float64(c[j])*w), s2)
			s3 = exactmath.Add32(float64(float64(d[j])*w), s3)
		}
		dst[i], dst[i+to], dst[i+2*to], dst[i+3*to] = s0, s1, s2, s3
		at, i = at+4*from, i+4*to
	}
	for ; n > 0; n-- {
		s := float32(0)
		for j, v := range x[at:][:len(k)] {
			s = exactmath.FMA32(v, k[j], s)
		}
		dst[i] = s
		at, i = at+from, i+to
	}
}

// Chain32 is ChainFMA32 with every product rounded to float32 before it is
// added.
func Chain32(dst []float32, to int, x []float32, from int, k []float32) {
	n := (len(dst) + to - 1) / to
	at, i := 0, 0
	for ; n >= 4; n -= 4 {
		a, b, c, d := x[at:], x[at+from:], x[at+2*from:], x[at+3*from:]
		a, b, c, d = a[:len(k)], b[:len(k)], c[:len(k)], d[:len(k)]
		var s0, s1, s2, s3 float32
		for j, v := range k {
			s0 += float32(a[j] * v)
			s1 += float32(b[j] * v)
			s2 += float32(c[j] * v)
			s3 += float32(d[j] * v)
		}
		dst[i], dst[i+to], dst[i+2*to], dst[i+3*to] = s0, s1, s2, s3
		at, i = at+4*from, i+4*to
	}
	for ; n > 0; n-- {
		s := float32(0)
		for j, v := range x[at:][:len(k)] {
			s += float32(v * k[j])
		}
		dst[i] = s
		at, i = at+from, i+to
	}
}
