//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// ResampleSinc changes the sampling rate of a sound by a windowed sinc. It
// takes finite float32 (samples) or (channels, samples) and keeps the axes. The
// output has ceil(ToRate * samples / FromRate) samples. Equal rates copy.
//
// With o and n the rates in lowest terms, output sample j*n + p is the sum over
// i of kernel p, element i, times input sample j*o + i - W. Samples outside of
// the input are 0, W is ceil(Width*o/b) and b = Rolloff * min(o, n). The kernel
// is sinc(t) * cos(t*pi/(2*Width))^2 * b/o in float64, rounded to float32, with
// t = ((i-W)/o - p/n) * b from -Width to Width. The sum is a chain of float32
// fused multiply-adds, the oldest sample first.
//
// torchaudio adds in this order if the sound and its padding have more than
// 20480 samples. In shorter sounds it adds in another order, which depends on
// the processor: samples of up to 1 then differ by up to 1.2e-7.
//
// Reference: torchaudio 2.11.0, transforms.Resample, with torch 2.15.0 on
// x86-64 with AVX2.
type ResampleSinc struct {
	FromRate int     `json:"from_rate"` // of the input in Hz, 1 to 2^24
	ToRate   int     `json:"to_rate"`   // of the output in Hz, 1 to 2^24
	Width    int     `json:"width"`     // zero crossings of each side, 1 to 1024; torchaudio's lowpass_filter_width; default 6
	Rolloff  float64 `json:"rolloff"`   // cutoff as a fraction of the lower Nyquist frequency, above 0 to 1; default 0.99
}

//msgp:tuple ResampleSinc

// NewResampleSinc returns the op with torchaudio's defaults.
func NewResampleSinc(from, to int) *ResampleSinc {
	return &ResampleSinc{FromRate: from, ToRate: to, Width: 6, Rolloff: 0.99}
}

// Info describes the op.
func (*ResampleSinc) Info() Info {
	return Info{
		Name: "resample_sinc", Version: 1, New: func() Op { return NewResampleSinc(44100, 16000) },
		In: soundColumn, Out: soundColumn,
		Reference: "torchaudio 2.11.0 Resample", Exactness: "0 (sounds of up to 20480 samples: 1.2e-7, because torch's sums there depend on the processor)",
	}
}

// maxTaps bounds the elements of the kernels of a resampling op.
const maxTaps = 1 << 24

// Validate checks the parameters.
func (o *ResampleSinc) Validate() error {
	if err := checkRates(o.FromRate, o.ToRate); err != nil {
		return err
	}
	if o.Width < 1 || o.Width > 1024 {
		return paramErr("width is %d, want 1 to 1024", o.Width)
	}
	if !(o.Rolloff > 0 && o.Rolloff <= 1) || o.Rolloff < 1e-3 {
		return paramErr("rolloff is %v, want 0.001 to 1", o.Rolloff)
	}
	from, to := lowestTerms(o.FromRate, o.ToRate)
	_, w := o.scale(from, to)
	if from != to && int64(to)*int64(2*w+from) > maxTaps {
		return paramErr("the rates are as %d to %d, whose kernels have more than %d elements: want rates with a larger common divisor", from, to, maxTaps)
	}
	return nil
}

// checkRates checks the rates of a resampling op.
func checkRates(from, to int) error {
	if err := checkRate("from_rate", from); err != nil {
		return err
	}
	return checkRate("to_rate", to)
}

// lowestTerms divides two rates by their greatest common divisor.
func lowestTerms(a, b int) (int, int) {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x, b / x
}

// scale returns b and W.
func (o *ResampleSinc) scale(from, to int) (b float64, w int) {
	b = float64(float64(min(from, to)) * o.Rolloff)
	return b, int(math.Ceil(float64(o.Width*from) / b))
}

// length returns the number of output samples. torch rounds it to float32
// before it takes the next integer.
func (o *ResampleSinc) length(n int) int {
	from, to := lowestTerms(o.FromRate, o.ToRate)
	want := math.Ceil(float64(float32(float64(float64(to)*float64(n)) / float64(from))))
	return min(int(want), (n/from+1)*to)
}

// wantSound rejects a description other than float32 (samples) or (channels,
// samples).
func wantSound(d tensor.Desc) error {
	if err := wantSized(d); err != nil {
		return err
	}
	if r := d.Shape.Rank(); d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || r < 1 || r > 2 {
		return inputErr("%v, want a sound: float32 (samples) or (channels, samples)", d)
	}
	return nil
}

// inferResampled sets the number of samples.
func inferResampled(dst, in []tensor.Desc, length func(n int) int) error {
	d := in[0]
	if err := wantSound(d); err != nil {
		return err
	}
	dst[0] = d
	axis := d.Shape.Rank() - 1
	if n := d.Shape.At(axis); n > maxSamples {
		return inputErr("%v, want at most %d samples", d, maxSamples)
	} else if n != tensor.Unknown {
		dst[0].Shape = d.Shape.With(axis, length(n))
	}
	return inferred(dst[0])
}

// maxSamples bounds the samples of a sound that is resampled, so that numbers
// of samples times rates fit.
const maxSamples = 1<<31 - 1

// Infer sets the number of samples.
func (o *ResampleSinc) Infer(dst, in []tensor.Desc) error { return inferResampled(dst, in, o.length) }

// sincState holds the kernels of a ResampleSinc op.
type sincState struct {
	op ResampleSinc
	rateChanger
}

func (o *ResampleSinc) state(c *Context) *sincState {
	s, ok := c.State.(*sincState)
	if ok && s.op == *o {
		return s
	}
	from, to := lowestTerms(o.FromRate, o.ToRate)
	b, w := o.scale(from, to)
	s = &sincState{*o, rateChanger{from: from, step: to, front: w, back: w + from, fused: true, at: make([]int, 2*w+from)}}
	width, gain := float64(o.Width), b/float64(from)
	for p := range to {
		var ph ratePhase
		shift := float64(float32(-p) / float32(to))
		end := 0
		for i := range 2*w + from {
			v := float32(0) // the window of both ends is below the float32 numbers
			if t := math.Abs(float64((shift + float64(i-w)/float64(from)) * b)); t < width {
				_, cos := exactmath.SinCosFast(float64(float64(t*math.Pi) / width * 0.5))
				t = float64(t * math.Pi)
				k := 1.0
				if t != 0 {
					k = exactmath.SinFast(t) / t
				}
				v = float32(k * float64(float64(cos*cos)*gain))
			}
			if v == 0 && len(ph.taps) == 0 {
				ph.first = i + 1
				continue
			}
			ph.taps = append(ph.taps, v)
			if v != 0 {
				end = len(ph.taps)
			}
		}
		ph.taps = ph.taps[:end]
		s.phases = append(s.phases, ph)
	}
	c.State = s
	return s
}

// Apply resamples.
func (o *ResampleSinc) Apply(c *Context, dst, src []*tensor.Tensor) error {
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
