package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// NearestPillow computes the source index of every output pixel by Pillow's
// rule, -1 for none. The coordinate starts at the first pixel's centre, and the
// scale is added for each pixel. Source: ImagingScaleAffine of Pillow 13.0.0.
func NearestPillow(idx []int32, in, out int) {
	scale := float64(in) / float64(out)
	at := float64(scale * 0.5)
	for i := range idx[:out] {
		idx[i] = -1
		if at < float64(in) {
			idx[i] = int32(at)
		}
		at += scale
	}
}

// NearestCV is the rule of OpenCV's INTER_NEAREST: the floor of the output
// index times the scale.
func NearestCV(idx []int32, in, out int) {
	scale := 1 / (float64(out) / float64(in))
	for i := range idx[:out] {
		idx[i] = int32(min(int(math.Floor(float64(float64(i)*scale))), in-1))
	}
}

// NearestExactCV is the rule of INTER_NEAREST_EXACT, which is Pillow's. OpenCV
// 4 has another rule in 16-bit fixed point.
func NearestExactCV(idx []int32, in, out int) {
	NearestPillow(idx, in, out)
	for i, n := range idx[:out] {
		if n < 0 {
			idx[i] = int32(in - 1)
		}
	}
}

// NearestTorch is the rule of torch's mode "nearest", in float32.
func NearestTorch(idx []int32, in, out int) {
	scale := float32(in) / float32(out)
	for i := range idx[:out] {
		idx[i] = int32(min(int(float32(float32(i)*scale)), in-1))
	}
}

// NearestExactTorch returns the rule of torch's mode "nearest-exact" for an
// output of h x w pixels.
func NearestExactTorch(h, w int) func(idx []int32, in, out int) {
	if TorchSmall(h, w) {
		return nearestExactTorchSmall
	}
	return nearestExactTorch
}

// nearestExactTorch is the rule in float32.
func nearestExactTorch(idx []int32, in, out int) {
	scale := float32(in) / float32(out)
	for i := range idx[:out] {
		at := exactmath.FMA32(scale, float32(i)+0.5, -0.5)
		if at < 0 {
			at = 0
		}
		idx[i] = int32(min(int(float32(float64(at)+0.5)), in-1))
	}
}

// nearestExactTorchSmall is the rule of the kernel for small outputs.
func nearestExactTorchSmall(idx []int32, in, out int) {
	scale := float32(in) / float32(out)
	for i := range idx[:out] {
		idx[i] = int32(min(int(float32(float64((float64(i)+0.5)*float64(scale)))), in-1))
	}
}

// Pick copies the pixels at the columns xs and the rows ys. dst has len(ys)
// rows of len(xs) pixels of size bytes; src has rows of inW pixels. An index of
// -1 writes zeros.
func Pick(dst, src []uint8, inW, size int, xs, ys []int32) {
	line := len(xs) * size
	last := int32(-2)
	fast := canPick(inW, size, xs)
	for y, sy := range ys {
		out := dst[y*line:][:line]
		switch {
		case sy < 0:
			clear(out)
			last = sy
			continue
		case sy == last:
			copy(out, dst[(y-1)*line:][:line])
			continue
		}
		last = sy
		in := src[int(sy)*inW*size:][:inW*size]
		done := 0
		if fast {
			done = pickRow(out, src[int(sy)*inW*size:], inW, size, xs)
		}
		out, xs := out[done*size:], xs[done:]
		switch size {
		case 1:
			for x, sx := range xs {
				if sx < 0 {
					out[x] = 0
				} else {
					out[x] = in[sx]
				}
			}
		case 3:
			for x, sx := range xs {
				o := out[x*3:][:3]
				if sx < 0 {
					clear(o)
					continue
				}
				p := in[int(sx)*3:][:3]
				o[0], o[1], o[2] = p[0], p[1], p[2]
			}
		default:
			for x, sx := range xs {
				o := out[x*size:][:size]
				if sx < 0 {
					clear(o)
					continue
				}
				copy(o, in[int(sx)*size:][:size])
			}
		}
	}
}
