//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
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
	op ResamplePoly
	rateChanger
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
	down, up := lowestTerms(o.FromRate, o.ToRate)
	m := max(up, down)
	half := polyZeros * m // taps before the middle one
	cutoff, scale := 1/float64(m), bessel0(beta)
	h := make([]float64, 2*half+1)
	sum := 0.0
	for i := range h {
		t := float64(i - half)
		r := t / float64(half)
		v := cutoff
		if t != 0 {
			y := math.Abs(float64(math.Pi * float64(cutoff*t)))
			v = float64(cutoff * (exactmath.SinFast(y) / y))
		}
		h[i] = float64(v * (bessel0(float64(beta*math.Sqrt(1-float64(r*r)))) / scale))
		sum += h[i]
	}
	s = &polyState{*o, rateChanger{from: down, step: up, front: half/up + 1, back: half/up + down, at: make([]int, 2*half/up+1)}}
	s.phases = make([]ratePhase, up)
	for k := range s.phases {
		// Every up-th tap, the last one first: it belongs to the oldest sample.
		newest := half + k*down
		var taps []float32
		for i := newest%up + (len(h)-1-newest%up)/up*up; i >= 0; i -= up {
			taps = append(taps, float32(float32(h[i]/sum)*float32(up)))
		}
		s.phases[k] = ratePhase{s.front + newest/up - len(taps) + 1, taps}
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
	return o.state(c).apply(c, dst[0], t)
}
