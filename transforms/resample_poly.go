package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// ResamplePoly changes the sampling rate of a sound by a polyphase filter. It
// takes finite float32 (samples) or (channels, samples) and keeps the axes. The
// output has ceil(ToRate * samples / FromRate) samples. Equal rates copy.
//
// With u and d the rates ToRate and FromRate in lowest terms, the filter h has
// 2*H + 1 taps, H = 10 * max(u, d): a sinc with the cutoff 1/max(u, d) of the
// Nyquist frequency, times a Kaiser window with beta 5, divided by its sum. It
// is computed in float64, rounded to float32, and multiplied by u. Output
// sample k is the sum over input samples x[j] of h[k*d + H - j*u] * x[j], the
// oldest sample first, with every product and sum rounded to float32. Samples
// outside of the input are 0.
//
// Reference: SciPy 1.16.3, signal.resample_poly.
type ResamplePoly struct {
	FromRate int `json:"from_rate"` // of the input in Hz, 1 to 2^24
	ToRate   int `json:"to_rate"`   // of the output in Hz, 1 to 2^24
}

//msgp:tuple ResamplePoly

// NewResamplePoly returns the op.
func NewResamplePoly(from, to int) *ResamplePoly { return &ResamplePoly{FromRate: from, ToRate: to} }

// Info describes the op.
func (*ResamplePoly) Info() Info {
	return Info{
		Name: "resample_poly", Version: 1, New: func() Op { return NewResamplePoly(44100, 16000) },
		In: soundColumn, Out: soundColumn,
		Reference: "SciPy 1.16.3 signal.resample_poly", Exactness: "0",
	}
}

// polyZeros is SciPy's number of zero crossings of each side of the filter.
const polyZeros = 10

// Validate checks the rates.
func (o *ResamplePoly) Validate() error {
	if err := checkRates(o.FromRate, o.ToRate); err != nil {
		return err
	}
	down, up := lowestTerms(o.FromRate, o.ToRate)
	if m := max(up, down); 2*polyZeros*m+1 > maxTaps {
		return paramErr("the rates are as %d to %d, whose filter has more than %d taps: want rates with a larger common divisor", down, up, maxTaps)
	}
	return nil
}

func (o *ResamplePoly) length(n int) int {
	down, up := lowestTerms(o.FromRate, o.ToRate)
	return int((int64(n)*int64(up) + int64(down) - 1) / int64(down))
}

// Infer sets the number of samples.
func (o *ResamplePoly) Infer(dst, in []tensor.Desc) error { return inferResampled(dst, in, o.length) }

// polyState holds the filter of a ResamplePoly op.
type polyState struct {
	op       ResamplePoly
	up, down int
	half     int // taps before the middle one
	// phases hold every up-th tap, the last one first: it belongs to the oldest
	// sample.
	phases [][]float32
}

// bessel0 returns the modified Bessel function of the first kind and order 0,
// for x up to 5, by its power series.
func bessel0(x float64) float64 {
	q, term, sum := float64(float64(x*x)*0.25), 1.0, 1.0
	for k := 1.0; k < 40; k++ {
		term = float64(term*q) / float64(k*k)
		sum += term
	}
	return sum
}

func (o *ResamplePoly) state(c *Context) *polyState {
	s, ok := c.State.(*polyState)
	if ok && s.op == *o {
		return s
	}
	const beta = 5
	s = &polyState{op: *o}
	s.down, s.up = lowestTerms(o.FromRate, o.ToRate)
	m := max(s.up, s.down)
	s.half = polyZeros * m
	cutoff, scale := 1/float64(m), bessel0(beta)
	h := make([]float64, 2*s.half+1)
	sum := 0.0
	for i := range h {
		t := float64(i - s.half)
		r := t / float64(s.half)
		v := cutoff
		if t != 0 {
			y := math.Abs(float64(math.Pi * float64(cutoff*t)))
			v = float64(cutoff * (exactmath.SinFast(y) / y))
		}
		h[i] = float64(v * (bessel0(float64(beta*math.Sqrt(1-float64(r*r)))) / scale))
		sum += h[i]
	}
	s.phases = make([][]float32, s.up)
	for p := range s.phases {
		var taps []float32
		for i := p + (len(h)-1-p)/s.up*s.up; i >= 0; i -= s.up {
			taps = append(taps, float32(float32(h[i]/sum)*float32(s.up)))
		}
		s.phases[p] = taps
	}
	c.State = s
	return s
}

// Apply resamples.
func (o *ResamplePoly) Apply(c *Context, dst, src []*tensor.Tensor) error {
	t, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if o.FromRate == o.ToRate {
		copy(dst[0].Data, t.Data)
		return nil
	}
	s := o.state(c)
	axis := t.Shape.Rank() - 1
	n, m := t.Shape.At(axis), dst[0].Shape.At(axis)
	in, out := tensor.View[float32](t), tensor.View[float32](dst[0])
	if n == 0 {
		return nil
	}
	front := s.half/s.up + 1 // more than the taps on older samples
	need := int64(n) + 2*int64(front) + int64(s.down)
	if l := c.Limits.Bytes; l > 0 && 4*need > l {
		return limitErr("%v needs %d bytes, the limit is %d", t.Desc, 4*need, l)
	}
	padded := tensor.Cast[float32](c.Scratch(int(4 * need)))
	clear(padded)
	for ch := range len(in) / n {
		copy(padded[front:], in[ch*n:][:n])
		s.row(out[ch*m:][:m], padded, front)
	}
	return nil
}

// row resamples a channel. padded has front zeros in front, and enough behind.
func (s *polyState) row(dst, padded []float32, front int) {
	for k := range min(s.up, len(dst)) {
		at := s.half + k*s.down
		taps := s.phases[at%s.up]
		oldest := at/s.up - len(taps) + 1
		kernel.Chain32(dst[k:], s.up, padded[front+oldest:], s.down, taps)
	}
}
