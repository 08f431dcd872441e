package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// torchLinspace returns value i of n from first to last, as torch.linspace.
func torchLinspace(i, n int, first, last float32) float32 {
	if n == 1 {
		return first
	}
	step := (last - first) / float32(n-1)
	if i < n/2 {
		return exactmath.FMA32(step, float32(i), first)
	}
	return exactmath.FMA32(-step, float32(n-1-i), last)
}

// TorchFilter is a separable interpolation of torch.
type TorchFilter uint8

// The filters.
const (
	TorchLinear TorchFilter = iota
	TorchCubic
	TorchLanczos
)

func cubicNear(x, a float32) float32 {
	return exactmath.FMA32(float32(exactmath.FMA32(a+2, x, -(a+3))*x), x, 1)
}

func cubicFar(x, a float32) float32 {
	return exactmath.FMA32(exactmath.FMA32(exactmath.FMA32(a, x, float32(-5*a)), x, float32(8*a)), x, float32(-4*a))
}

func (f TorchFilter) at(x float32) float32 {
	if x < 0 {
		x = -x
	}
	switch f {
	case TorchLinear:
		if x < 1 {
			return float32(1 - float64(x))
		}
	case TorchCubic:
		if x < 1 {
			return cubicNear(x, -0.5)
		}
		if x < 2 {
			return cubicFar(x, -0.5)
		}
	case TorchLanczos:
		if x < 3 {
			// The second factor is a double in torch, because x/3.0 is one.
			return float32(float64(float64(sinc32(x)) * sinc(float64(x)/3)))
		}
	}
	return 0
}

func sinc32(x float32) float32 {
	if x == 0 {
		return 1
	}
	y := float32(x * float32(math.Pi))
	return exactmath.Sin32(y) / y
}

func (f TorchFilter) size() int { return 2 * (int(f) + 1) }

// Torch fills t for torch's antialiased resampling, in float32. Source:
// ATen/native/cpu/UpSampleKernel.cpp of torch 2.15.0.
func (t *Taps) Torch(in, out int, f TorchFilter) {
	scale := float32(in) / float32(out)
	support, inv := float32(float32(f.size())/2), float32(1)
	if scale >= 1 {
		support = float32(support * scale)
		inv = float32(1 / float64(scale))
	}
	t.K = int(math.Ceil(float64(support)))*2 + 1
	t.Start, t.Len, t.WF = grow(t.Start, out), grow(t.Len, out), grow(t.WF, out*t.K)
	for i := range out {
		center := float32(float64(scale) * (float64(i) + 0.5))
		lo := max(int(float64(center-support)+0.5), 0)
		n := min(max(min(int(float64(center+support)+0.5), in)-lo, 0), t.K)
		w := t.WF[i*t.K:][:t.K]
		var sum float32
		for j := range n {
			w[j] = f.at(float32(float64(float64(float32(j+lo)-center)+0.5) * float64(inv)))
			sum += w[j]
		}
		if sum != 0 {
			for j := range n {
				w[j] /= sum
			}
		}
		clear(w[n:])
		t.Start[i], t.Len[i] = int32(lo), int32(n)
	}
}

// TorchHorizontal resamples rows of float32 pixels. The order is that of
// torch's vector code: after the first tap, groups of four products are
// computed and then added one by one. The remaining one to three taps are
// fused, unless plain is set, as on CPUs without fused multiply-add.
func TorchHorizontal(dst, src []float32, rows, inW, outW, ch int, start, length []int32, w []float32, k int, plain bool) {
	start, length = start[:outW], length[:outW]
	for y := range rows {
		in, out := src[y*inW*ch:][:inW*ch], dst[y*outW*ch:][:outW*ch]
		for x := range start {
			n := int(length[x])
			p, q := in[int(start[x])*ch:][:n*ch], w[x*k:][:n]
			rounded := n - (n-1)&3
			if plain {
				rounded = n
			}
			for c := range ch {
				s := float32(p[c] * q[0])
				i := 1
				for ; i < rounded; i++ {
					s += float32(p[i*ch+c] * q[i])
				}
				for ; i < n; i++ {
					s = exactmath.FMA32(p[i*ch+c], q[i], s)
				}
				out[x*ch+c] = s
			}
		}
	}
}

// TorchVertical resamples the rows of src, line pixels each, to outH rows. For
// plain see TorchHorizontal.
func TorchVertical(dst, src []float32, outH, line int, start, length []int32, w []float32, k int, plain bool) {
	for y := range outH {
		n := int(length[y])
		in, q, out := src[int(start[y])*line:][:n*line], w[y*k:][:n], dst[y*line:][:line]
		for i, v := range in[:line] {
			out[i] = float32(v * q[0])
		}
		rounded := n - (n-1)&3
		if plain {
			rounded = n
		}
		j := 1
		for ; j < rounded; j++ {
			t := q[j]
			for i, v := range in[j*line:][:line] {
				out[i] += float32(v * t)
			}
		}
		for ; j < n; j++ {
			t := q[j]
			for i, v := range in[j*line:][:line] {
				out[i] = exactmath.FMA32(v, t, out[i])
			}
		}
	}
}

// TorchPlain fills t for torch's resampling without antialiasing, TorchLinear
// or TorchCubic. Output i is the sum of the K inputs Index[i*K:], weighted by
// WF. If fused is set, the coordinate uses a fused multiply-add; torch's
// kernels differ in this. If corners is set, the first and the last pixels of
// input and output have the same places: align_corners.
func (t *CVTaps) TorchPlain(in, out int, f TorchFilter, fused, corners bool) {
	k := f.size()
	t.K, t.Index, t.WF = k, grow(t.Index, out*k), grow(t.WF, out*k)
	scale := float32(in) / float32(out)
	if corners {
		scale = float32(in-1) / float32(max(out-1, 1))
		if out == 1 {
			scale = 0
		}
	}
	for i := range out {
		w, p := t.WF[i*k:][:k], t.Index[i*k:][:k]
		if f == TorchLinear && in == out {
			p[0], p[1], w[0], w[1] = int32(i), int32(i), 1, 0
			continue
		}
		at := float32(scale*(float32(i)+0.5)) - 0.5
		switch {
		case corners:
			at = float32(scale * float32(i))
		case fused:
			at = exactmath.FMA32(scale, float32(i)+0.5, -0.5)
		}
		if f == TorchLinear && at < 0 {
			at = 0
		}
		s := min(int(math.Floor(float64(at))), in-1)
		x := min(max(at-float32(s), 0), 1)
		if f == TorchLinear {
			w[0], w[1] = 1-x, x
			p[0], p[1] = int32(s), int32(min(s+1, in-1))
			continue
		}
		const a = -0.75
		y := float32(1 - float64(x))
		w[0], w[1] = cubicFarPlain(float32(float64(x)+1), a), cubicNearPlain(x, a)
		w[2], w[3] = cubicNearPlain(y, a), cubicFarPlain(float32(float64(y)+1), a)
		for j := range p {
			p[j] = int32(min(max(s+j-1, 0), in-1))
		}
	}
}

// cubicNearPlain and cubicFarPlain are the polynomials of torch's kernel
// without antialiasing, whose last step is not fused.
func cubicNearPlain(x, a float32) float32 {
	return float32(float32(exactmath.FMA32(a+2, x, -(a+3))*x)*x) + 1
}

func cubicFarPlain(x, a float32) float32 {
	return float32(exactmath.FMA32(exactmath.FMA32(a, x, float32(-5*a)), x, float32(8*a))*x) + float32(-4*a)
}

// TorchMixed scales one image with the tables of TorchPlain. It computes each
// output pixel separately, along the width and then along the height.
func TorchMixed(dst, src []float32, inW, outW, ch int, x, y *CVTaps) {
	k, line := x.K, inW*ch
	for o := range len(y.Index) / k {
		rows, v := y.Index[o*k:][:k], y.WF[o*k:][:k]
		out := dst[o*outW*ch:][:outW*ch]
		for i := range outW {
			p, w := x.Index[i*k:][:k], x.WF[i*k:][:k]
			for c := range ch {
				if k == 2 {
					a, b := src[int(rows[0])*line:][:line], src[int(rows[1])*line:][:line]
					l, r := int(p[0])*ch+c, int(p[1])*ch+c
					s := exactmath.FMA32(a[l], w[0], float32(a[r]*w[1]))
					t := exactmath.FMA32(b[l], w[0], float32(b[r]*w[1]))
					out[i*ch+c] = exactmath.FMA32(s, v[0], float32(t*v[1]))
					continue
				}
				var first, s float32
				for j, r := range rows {
					a := src[int(r)*line:][:line]
					t := float32(a[int(p[1])*ch+c] * w[1])
					t = exactmath.FMA32(a[int(p[0])*ch+c], w[0], t)
					for n := 2; n < k; n++ {
						t = exactmath.FMA32(a[int(p[n])*ch+c], w[n], t)
					}
					switch j {
					case 0:
						first = t
					case 1:
						s = exactmath.FMA32(first, v[0], float32(t*v[1]))
					default:
						s = exactmath.FMA32(t, v[j], s)
					}
				}
				out[i*ch+c] = s
			}
		}
	}
}

// TorchSmallLinear is torch's TorchLinear kernel for small outputs: it weights
// the four pixels by the products of their weights. torch adds them in another
// order for the first channels, in groups of 8; grouped is their number.
func TorchSmallLinear(dst, src []float32, inW, outW, ch, grouped int, x, y *CVTaps) {
	line := inW * ch
	for o := range len(y.Index) / 2 {
		a, b := src[int(y.Index[2*o])*line:][:line], src[int(y.Index[2*o+1])*line:][:line]
		v, u := y.WF[2*o], y.WF[2*o+1]
		out := dst[o*outW*ch:][:outW*ch]
		for i := range outW {
			l, r := int(x.Index[2*i])*ch, int(x.Index[2*i+1])*ch
			w, z := x.WF[2*i], x.WF[2*i+1]
			vw, vz, uw, uz := float32(v*w), float32(v*z), float32(u*w), float32(u*z)
			for c := range grouped {
				s := float32(uw * b[l+c])
				s = exactmath.FMA32(uz, b[r+c], s)
				s = exactmath.FMA32(vz, a[r+c], s)
				s = exactmath.FMA32(vw, a[l+c], s)
				out[i*ch+c] = s
			}
			for c := grouped; c < ch; c++ {
				s := float32(vz * a[r+c])
				s = exactmath.FMA32(vw, a[l+c], s)
				s = exactmath.FMA32(uw, b[l+c], s)
				s = exactmath.FMA32(uz, b[r+c], s)
				out[i*ch+c] = s
			}
		}
	}
}

// TorchSmall reports whether torch uses its kernels for small outputs.
func TorchSmall(h, w int) bool { return h+w <= 128 }

// TorchArea is torch's adaptive average: output (y, x) is the mean of the
// inputs that its part of the image touches.
func TorchArea(dst, src []float32, inH, inW, outH, outW, ch int) {
	for y := range outH {
		y0, y1 := y*inH/outH, ((y+1)*inH+outH-1)/outH
		for x := range outW {
			x0, x1 := x*inW/outW, ((x+1)*inW+outW-1)/outW
			for c := range ch {
				var s float32
				for i := y0; i < y1; i++ {
					for j := x0; j < x1; j++ {
						s += src[(i*inW+j)*ch+c]
					}
				}
				dst[(y*outW+x)*ch+c] = s / float32(y1-y0) / float32(x1-x0)
			}
		}
	}
}

// ToF32 converts bytes to float32.
func ToF32(dst []float32, src []uint8) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}
