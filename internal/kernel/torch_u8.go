package kernel

import "math"

// TorchU8 fills t for the outputs in [from, to) of torch's resampling of uint8
// from in pixels to out, with weights of TapsBits fractional bits. Entry 0
// belongs to output from.
//
// Torch rounds weights to p bits, where p is the same for all outputs of an
// axis: the largest up to 22 with which all weights fit an int16. A weight of p
// bits, shifted left by TapsBits-p, gives the same rounded sums.
//
// Source: ATen/native/cpu/UpSampleKernel.cpp of torch 2.15.0
// (compute_index_ranges_int16_weights), for x86-64 with AVX2.
func (t *Taps) TorchU8(in, out, from, to int, f TorchFilter, antialias bool) {
	t.torchU8(in, out, from, to, f, antialias, false)
}

// TorchU8Corners is TorchU8 for all outputs, without antialiasing and with
// align_corners.
func (t *Taps) TorchU8Corners(in, out int, f TorchFilter) {
	t.torchU8(in, out, 0, out, f, false, true)
}

func (t *Taps) torchU8(in, out, from, to int, f TorchFilter, antialias, corners bool) {
	scale := float64(in) / float64(out)
	if corners {
		scale = 0
		if out > 1 {
			scale = float64(in-1) / float64(out-1)
		}
	}
	t.K = f.size()
	if antialias {
		t.K = int(math.Ceil(float64(float64(f.size()/2)*max(scale, 1))))*2 + 1
	}
	outs := to - from
	t.Start, t.Len = grow(t.Start, outs), grow(t.Len, outs)
	t.W64, t.W32 = grow(t.W64, (outs+1)*t.K), grow(t.W32, outs*t.K)
	most := 0.0 // the largest weight of all outputs
	for i := range out {
		w := t.W64[outs*t.K:] // of an output that is not wanted
		if i >= from && i < to {
			w = t.W64[(i-from)*t.K:][:t.K]
		}
		var lo, n int
		var m float64
		switch {
		case antialias:
			lo, n, m = f.window(w, in, i, scale)
		case corners:
			lo, n, m = f.neighbours(w, in, float64(scale*float64(i)))
		default:
			lo, n, m = f.neighbours(w, in, float64(scale*(float64(i)+0.5))-0.5)
		}
		if m > most {
			most = m
		}
		if i >= from && i < to {
			t.Start[i-from], t.Len[i-from] = int32(lo), int32(n)
		}
	}
	p := 0
	for p < TapsBits && int(0.5+float64(most*float64(int(1)<<(p+1)))) < 1<<15 {
		p++
	}
	t.short = p
	one := float64(int(1) << p)
	for i := range outs {
		n := int(t.Len[i])
		fixed := t.W32[i*t.K:][:t.K]
		for j, v := range t.W64[i*t.K:][:n] {
			half := 0.5
			if v < 0 {
				half = -0.5
			}
			fixed[j] = int32(float64(v*one)+half) << (TapsBits - p)
		}
		clear(fixed[n:])
	}
	t.pack()
}

// window sets the weights of output i with antialiasing. It returns the first
// input, the number of inputs and the largest weight.
func (f TorchFilter) window(w []float64, in, i int, scale float64) (lo, n int, most float64) {
	stretch := max(scale, 1)
	support := float64(float64(f.size()/2) * stretch)
	inv := 1 / stretch
	center := float64(scale * (float64(i) + 0.5))
	lo = max(int(center-support+0.5), 0)
	n = min(max(min(int(center+support+0.5), in)-lo, 0), len(w))
	w = w[:n]
	sum := 0.0
	for j := range w {
		x, v := math.Abs(float64((float64(j+lo)-center+0.5)*inv)), 0.0
		switch { // inline, for speed
		case f == TorchLinear && x < 1:
			v = 1 - x
		case f == TorchCubic && x < 1:
			v = cubicNear64(x, -0.5)
		case f == TorchCubic && x < 2:
			v = cubicFar64(x, -0.5)
		case f == TorchLanczos && x < 3:
			v = float64(sinc(x) * sinc(x/3))
		}
		w[j] = v
		sum += v
	}
	if sum == 0 {
		sum = 1
	}
	for j := range w {
		v := w[j] / sum
		w[j] = v
		if v > most {
			most = v
		}
	}
	return lo, n, most
}

// neighbours sets the weights of the output at r without antialiasing, like
// window. An input beyond the border counts as the one at the border.
func (f TorchFilter) neighbours(w []float64, in int, r float64) (lo, n int, most float64) {
	if f == TorchLinear {
		r = max(r, 0)
	}
	at := min(int(math.Floor(float64(float32(r)))), in-1)
	x := min(max(r-float64(at), 0), 1)
	var c [4]float64
	if f == TorchLinear {
		c[0], c[1] = 1-x, x
	} else {
		const a = -0.75
		y := 1 - x
		c = [4]float64{cubicFar64(x+1, a), cubicNear64(x, a), cubicNear64(y, a), cubicFar64(y+1, a)}
	}
	k := f.size()
	first := at - k/2 + 1
	lo = min(max(first, 0), in-1)
	n = max(min(first+k, in), lo+1) - lo
	clear(w)
	for j := range k {
		p := min(max(first+j, 0), in-1) - lo
		w[p] += c[j]
		most = max(most, w[p])
	}
	return lo, n, most
}

func cubicNear64(x, a float64) float64 {
	return float64(float64((float64((a+2)*x)-(a+3))*x)*x) + 1
}

func cubicFar64(x, a float64) float64 {
	return float64((float64((float64(a*x)-float64(5*a))*x)+float64(8*a))*x) - float64(4*a)
}
