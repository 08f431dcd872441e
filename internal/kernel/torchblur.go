package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Gaussian blur of float32 images as torchvision 0.29.2 computes it with torch
// 2.15.0 on x86-64: linspace, softmax and conv2d. Every order of operations
// below is that of torch's kernels for AVX-512 and AVX2, and oneDNN's.

// TorchGaussian fills taps, whose length is odd, with the weights of a
// Gaussian. Sums over the taps have 16 lanes, as with AVX-512.
func TorchGaussian(taps []float32, sigma float64) {
	torchGaussian(taps, float32(float64(len(taps)-1)/float64(2*math.Sqrt2)), sigma)
}

// TorchGaussianTensor is TorchGaussian for a number of taps that is a tensor:
// torch then divides in float32.
func TorchGaussianTensor(taps []float32, sigma float64) {
	torchGaussian(taps, float32(len(taps)-1)/float32(2*math.Sqrt2), sigma)
}

// torchGaussian computes the weights at places of -end to end.
func torchGaussian(taps []float32, end float32, sigma float64) {
	n := len(taps)
	s := float32(sigma)
	most := float32(math.Inf(-1))
	for i := range taps {
		x := torchLinspace(i, n, -end, end) / s
		taps[i] = -float32(x * x)
		most = max(most, taps[i])
	}
	for i, v := range taps {
		taps[i] = sleefExp(v - most)
	}
	norm := 1 / laneSum(taps)
	for i := range taps {
		taps[i] = float32(taps[i] * norm)
	}
}

// laneSum adds numbers as torch's vectors of 16 do.
func laneSum(v []float32) float32 {
	if len(v) < 16 {
		sum := v[0]
		for _, x := range v[1:] {
			sum += x
		}
		return sum
	}
	var lanes [16]float32
	copy(lanes[:], v)
	for i, x := range v[16:] {
		lanes[i%16] += x
	}
	for w := 8; w > 0; w /= 2 {
		for i := range w {
			lanes[i] += lanes[i+w]
		}
	}
	return lanes[0]
}

// The polynomial of SLEEF's expf with an error of 1 ULP, highest power first.
var sleefTerms = [...]float32{
	0.00139304355252534151077271, 0.00833336077630519866943359, 0.0416664853692054748535156, 0.166666671633720397949219, 0.5,
}

// sleefExp returns e to the power of x for x <= 0, as SLEEF's expf_u10 with
// FMA.
func sleefExp(x float32) float32 {
	if !(x >= -104) {
		return 0
	}
	q := float32(math.RoundToEven(float64(float32(x * math.Log2E))))
	s := exactmath.FMA32(-q, 0.693145751953125, x)
	s = exactmath.FMA32(-q, 1.428606765330187045e-06, s)
	u := float32(0.000198527617612853646278381)
	for _, t := range sleefTerms {
		u = exactmath.FMA32(u, s, t)
	}
	u = 1 + exactmath.FMA32(float32(s*s), u, s)
	return float32(math.Ldexp(float64(u), int(q)))
}

// TorchBlurRow computes len(sums) values of a row with a two-dimensional
// kernel. Value i is the sum of taps[y*width+x] * rows[at[y]+i+x*step] in the
// order of the taps. With fused, products are added without being rounded.
func TorchBlurRow(sums, rows []float32, at []int64, taps []float32, width, step int, fused bool) {
	if torchBlurRow(sums, rows, at, taps, width, step, fused) {
		return
	}
	for y, from := range at {
		for x, k := range taps[y*width:][:width] {
			src := rows[int(from)+x*step:][:len(sums)]
			switch {
			case x == 0 && y == 0:
				for i, v := range src {
					sums[i] = float32(v * k)
				}
			case fused:
				w := float64(k)
				for i, v := range src {
					sums[i] = exactmath.Add32(float64(float64(v)*w), sums[i])
				}
			default:
				for i, v := range src {
					sums[i] += float32(v * k)
				}
			}
		}
	}
}

// Floats converts bytes to float32.
func Floats(dst []float32, src []uint8) {
	dst = dst[:len(src)]
	for i := floats(dst, src); i < len(src); i++ {
		dst[i] = float32(src[i])
	}
}
