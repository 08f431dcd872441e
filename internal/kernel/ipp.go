package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// IPPTaps is the table of one axis of Intel IPP's cubic filter, as cv2.resize
// uses it. Output i is the sum of the inputs at Index[4*i:], which are clamped
// to the image, with the weights at W[4*i:].
type IPPTaps struct {
	Index []int32
	W     []float32
	// inner is the range of outputs none of whose inputs were clamped.
	inner [2]int
}

// Resize fills the table.
func (t *IPPTaps) Resize(in, out int) {
	t.Index, t.W = grow(t.Index, 4*out), grow(t.W, 4*out)
	t.inner = [2]int{out, out}
	den := 2 * int64(out)
	for i := range out {
		// The place is (i+0.5)*in/out - 0.5 = num/den.
		num := (2*int64(i)+1)*int64(in) - int64(out)
		s := num / den
		if num < 0 && num%den != 0 {
			s--
		}
		// The distance to the first input is rounded, not that to the second.
		d := 1 + float32(float64(num-s*den)/float64(den))
		x := float64(d - 1)
		w := t.W[4*i:][:4]
		w[0] = float32(float64((float64((float64(-0.75*x)+1.5)*x) - 0.75) * x))
		w[1] = float32(float64(float64((float64(1.25*x)-2.25)*x)*x) + 1)
		w[2] = float32(float64((float64((float64(-1.25*x)+1.5)*x) + 0.75) * x))
		w[3] = float32(float64(float64((float64(0.75*x)-0.75)*x) * x))
		for j := range w {
			t.Index[4*i+j] = int32(min(max(int(s)-1+j, 0), in-1))
		}
		if s >= 1 && int(s)+2 < in {
			t.inner[0] = min(t.inner[0], i)
			t.inner[1] = i + 1
		}
	}
}

// isInner reports whether none of the inputs of output i was clamped.
func (t *IPPTaps) isInner(i int) bool { return i >= t.inner[0] && i < t.inner[1] }

// IPPResizeU8 scales an image of 1, 3 or 4 channels and inW columns. rows has
// room for four rows of the output. The order of the sums is that of IPP's AVX2
// code, which has one for pixels whose inputs lie within the image and one for
// the others. In some rows the others beside inner pixels add product 0 before
// product 1; which rows is not known.
func IPPResizeU8(dst, src []uint8, inW, ch int, x, y *IPPTaps, rows []float32) {
	line := len(x.W) / 4 * ch
	// The inputs of a row of outputs are at most four consecutive rows. Each is
	// kept at its number modulo 4, as scaled for inner rows or for others.
	have, inner := [4]int32{-1, -1, -1, -1}, false
	for i := range len(y.W) / 4 {
		if in := y.isInner(i); in != inner {
			have, inner = [4]int32{-1, -1, -1, -1}, in
		}
		index := y.Index[4*i:][:4]
		var r [4][]float32
		for k, at := range index {
			slot := at & 3
			r[k] = rows[int(slot)*line:][:line]
			if have[slot] != at {
				have[slot] = at
				ippRow(r[k], src[int(at)*inW*ch:][:inW*ch], ch, x, inner)
			}
		}
		w := [4]float32(y.W[4*i:])
		out := dst[i*line:][:line]
		if !inner {
			ippMixBorder(out, &r, w)
			continue
		}
		ippMixBorder(out[:x.inner[0]*ch], &r, w)
		ippMix(out, &r, w, x.inner[0]*ch, x.inner[1]*ch)
		for k := range r {
			r[k] = r[k][x.inner[1]*ch:]
		}
		ippMixBorder(out[x.inner[1]*ch:], &r, w)
	}
}

// ippRow scales a row.
func ippRow(dst []float32, src []uint8, ch int, x *IPPTaps, inner bool) {
	for i := range len(x.W) / 4 {
		index, w := x.Index[4*i:][:4], x.W[4*i:][:4]
		in := inner && x.isInner(i)
		for c := range ch {
			var a [4]float32
			for k := range a {
				a[k] = float32(src[int(index[k])*ch+c])
			}
			var v float32
			switch {
			case !in:
				v = float32(a[1] * w[1])
				for _, k := range [...]int{0, 2, 3} {
					v = exactmath.FMA32(a[k], w[k], v)
				}
			case ch == 1:
				v = (float32(a[0]*w[0]) + float32(a[1]*w[1])) + (float32(a[2]*w[2]) + float32(a[3]*w[3]))
			default:
				v = exactmath.FMA32(a[0], w[0], float32(a[3]*w[3])) + exactmath.FMA32(a[1], w[1], float32(a[2]*w[2]))
			}
			dst[i*ch+c] = v
		}
	}
}

func ippMixBorder(dst []uint8, r *[4][]float32, w [4]float32) {
	for i := range dst {
		dst[i] = ippRound((float32(r[0][i]*w[0]) + float32(r[2][i]*w[2])) + (float32(r[1][i]*w[1]) + float32(r[3][i]*w[3])))
	}
}

func ippMix(dst []uint8, r *[4][]float32, w [4]float32, from, to int) {
	for i := from; i < to; i++ {
		dst[i] = ippRound(exactmath.FMA32(r[2][i], w[2], float32(r[3][i]*w[3])) + exactmath.FMA32(r[0][i], w[0], float32(r[1][i]*w[1])))
	}
}

func ippRound(v float32) uint8 {
	return uint8(min(max(math.RoundToEven(float64(v)), 0), 255))
}
