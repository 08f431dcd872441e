package kernel

import "math"

// NearestPillow lists the source index of every output pixel by Pillow's rule,
// -1 for none: the coordinate starts at the first pixel's centre and the scale
// is added from pixel to pixel. Source: ImagingScaleAffine of Pillow 13.0.0.
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

// NearestCV is the rule of OpenCV's INTER_NEAREST: floor of the output index times the scale.
func NearestCV(idx []int32, in, out int) {
	scale := 1 / (float64(out) / float64(in))
	for i := range idx[:out] {
		idx[i] = int32(min(int(math.Floor(float64(float64(i)*scale))), in-1))
	}
}

// NearestExactCV is the rule of INTER_NEAREST_EXACT, which is Pillow's.
// (OpenCV 4 had one in 16-bit fixed point.)
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

// NearestExactTorch is the rule of torch's mode "nearest-exact", in float32.
func NearestExactTorch(idx []int32, in, out int) {
	scale := float32(in) / float32(out)
	for i := range idx[:out] {
		at := float32(scale*(float32(i)+0.5)) - 0.5
		idx[i] = int32(min(max(int(math.Floor(float64(at)+0.5)), 0), in-1))
	}
}
