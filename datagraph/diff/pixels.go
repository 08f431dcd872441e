package diff

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

// pixels holds the values of a tensor, those of an image in the order (y, x,
// c). A matrix has h rows and w columns; other tensors are one row.
type pixels struct {
	h, w, c int
	image   bool
	layout  tensor.Layout // of the tensor
	v       []float64
}

// sameShape reports whether the values of two tensors can be compared.
func (p *pixels) sameShape(o *pixels) bool {
	return p.v != nil && o.v != nil && p.image == o.image && p.h == o.h && p.w == o.w && p.c == o.c && len(p.v) > 0
}

// permute makes the image h x w; from returns the source of each pixel. It
// reports false for a tensor that is not an image.
func (p *pixels) permute(h, w int, from func(y, x, c int) (int, int, int)) bool {
	if !p.image {
		return false
	}
	v := make([]float64, 0, len(p.v))
	for y := range h {
		for x := range w {
			for c := range p.c {
				sy, sx, sc := from(y, x, c)
				v = append(v, p.v[(sy*p.w+sx)*p.c+sc])
			}
		}
	}
	p.h, p.w, p.v = h, w, v
	return true
}

// pixelsOf reads a tensor, as an image of geometry g if image is true. It uses
// the memory of v if that is large enough.
func pixelsOf(t *tensor.Tensor, g geometry, image bool, v []float64) *pixels {
	t = dense(t)
	at := tensor.Float64s(t)
	n := int(t.Len())
	if cap(v) < n {
		v = make([]float64, n)
	}
	p := &pixels{h: 1, w: n, c: 1, v: v[:n]}
	if !image {
		if t.Shape.Rank() == 2 {
			p.h, p.w = t.Shape.At(0), t.Shape.At(1)
		}
		for i := range p.v {
			p.v[i] = at(i)
		}
		return p
	}
	p.h, p.w, p.c, p.image, p.layout = g.h, g.w, g.c, true, g.layout
	channelStride, pixelStride := 1, g.c
	if g.layout == tensor.CHW {
		channelStride, pixelStride = g.h*g.w, 1
	}
	for i := range g.h * g.w {
		for c := range g.c {
			p.v[i*g.c+c] = at(i*pixelStride + c*channelStride)
		}
	}
	return p
}

// digest returns a hash of the size and the values.
func (p *pixels) digest() [sha256.Size]byte {
	h := sha256.New()
	b := make([]byte, 0, 1<<16)
	for _, n := range []int{p.h, p.w, p.c} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, v := range p.v {
		if b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)); len(b) > 1<<16-8 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return [sha256.Size]byte(h.Sum(nil))
}

// extent returns the smallest and the largest finite value.
func (p *pixels) extent() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range p.v {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// fit is the linear function of each channel that comes nearest to another
// image, and what it leaves.
type fit struct {
	// reversed reports that the channels are compared in reverse order.
	reversed bool
	// The numbers of each channel: the function a*v + b, the mean and variance
	// of v, the variance of the other image, and the mean squared error.
	a, b, mean, variance, other, mse []float64
}

// sampled is the number of pixels from which a fit is computed.
const sampled = 20000

// fitted fits the channels of h to those of w, in reverse order if reversed. It
// leaves out values that are not finite.
func fitted(h, w *pixels, reversed bool) *fit {
	f := &fit{reversed: reversed}
	n := len(h.v) / h.c
	step := max(1, n/sampled) | 1
	for c := range h.c {
		k := c
		if reversed {
			k = h.c - 1 - c
		}
		each := func(do func(x, y float64)) {
			for i := 0; i < n; i += step {
				if x, y := h.v[i*h.c+k], w.v[i*h.c+c]; finite(x) && finite(y) {
					do(x, y)
				}
			}
		}
		var count, meanH, meanW, hh, hw, ww, a, squares float64
		each(func(x, y float64) { count++; meanH += x; meanW += y })
		count = max(count, 1)
		meanH, meanW = meanH/count, meanW/count
		each(func(x, y float64) {
			x, y = x-meanH, y-meanW
			hh += float64(x * x)
			hw += float64(x * y)
			ww += float64(y * y)
		})
		if hw > 0 { // else the images have nothing in common
			a = hw / hh
		}
		b := meanW - float64(a*meanH)
		each(func(x, y float64) {
			d := y - b - float64(a*x)
			squares += float64(d * d)
		})
		f.a, f.b = append(f.a, a), append(f.b, b)
		f.mean, f.variance = append(f.mean, meanH), append(f.variance, hh/count)
		f.other, f.mse = append(f.other, ww/count), append(f.mse, squares/count)
	}
	return f
}

// score returns how much of the other image the fit leaves, from 0, nothing, to
// 1: the root of the share of the variance.
func (f *fit) score() float64 {
	share := 0.0
	for c := range f.mse {
		switch {
		case f.mse[c] == 0 && f.a[c] != 0:
		case f.other[c] == 0:
			share++
		default:
			share += f.mse[c] / f.other[c]
		}
	}
	return math.Sqrt(min(1, share/float64(len(f.mse))))
}

// rmse returns the root of the mean squared error.
func (f *fit) rmse() float64 { return f.rmseOf(f) }

// identity returns the function that changes nothing.
func (f *fit) identity() *fit {
	return &fit{a: slices.Repeat([]float64{1}, len(f.a)), b: make([]float64, len(f.b))}
}

// rmseOf returns the root of the mean squared error of another function, which
// was fitted to the same channels.
func (f *fit) rmseOf(o *fit) float64 {
	sum := 0.0
	for c := range f.mse {
		a := f.a[c] - o.a[c]
		m := float64(a*f.mean[c]) + f.b[c] - o.b[c]
		sum += f.mse[c] + float64(a*a)*f.variance[c] + float64(m*m)
	}
	return math.Sqrt(sum / float64(len(f.mse)))
}

// sameAs reports whether two functions are equal up to the rounding of float32.
func (f *fit) sameAs(o *fit) bool {
	if f.reversed != o.reversed {
		return false
	}
	for c := range f.a {
		if math.Abs(f.a[c]-o.a[c]) > 1e-5*math.Abs(f.a[c]) || math.Abs(f.b[c]-o.b[c]) > 1e-5*max(math.Abs(f.b[c]), math.Abs(f.a[c])) {
			return false
		}
	}
	return true
}
