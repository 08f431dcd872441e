//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Fbank computes Kaldi's features of mel filter banks. It takes the samples of
// one channel, float32 (samples), all finite. The output is float32 (frames,
// Mels), or (frames, Mels + 1) with an energy.
//
// FrameLength and FrameShift are rounded down to samples. With SnipEdges the
// number of frames is 1 + floor((samples - length) / shift), or 0 if a frame is
// longer than the sound. Without, it is floor((samples + shift/2) / shift);
// frame i is centred at sample i*shift + shift/2, and the sound is mirrored at
// its ends, the end samples included. The rule torchaudio refuses a sound that
// is shorter than a frame as an ErrInput.
//
// A frame passes these steps:
//
//   - Samples times Scale. Kaldi's sounds are 16-bit numbers, so the default
//     for sounds of -1 to 1 is 32768.
//   - With RemoveDC, minus the mean of the frame.
//   - With Preemphasis c, x[i] - c*x[i-1]; x[0] - c*x[0].
//   - Times the symmetric window, and zeros up to the length of the transform,
//     which is the next power of 2 with PowerOfTwo.
//   - The Fourier transform in float64, rounded to complex64, and its
//     amplitude, squared for Power 2.
//   - The sums over triangles that are straight in mels of 1127 ln(1 + f/700).
//   - With Log, the natural logarithm of at least 2^-23.
//   - Rounded to float32.
//
// The energy is the natural logarithm of a frame's sum of squares, at least
// 2^-23 and at least EnergyFloor. Op random_dither adds Kaldi's noise before
// this op. Options of Kaldi that are not here have their defaults: no warped
// filters (vtln_warp).
//
// The rules kaldi and torchaudio compute frames and filters in float32, and the
// rest in float64. Kaldi's implementations compute all in float32, so that
// their values depend on the processor; docs/exactness.md has the distances.
// The rule double has float64 after Scale, and the bits of transformers.
//
// Reference: torchaudio 2.11.0 compliance.kaldi.fbank, kaldi-native-fbank
// 1.23.0, and transformers 5.23.0 audio_utils.spectrogram.
type Fbank struct {
	SamplingRate int               `json:"sampling_rate"` // samples a second, 1 to 2^24; default 16000
	FrameLength  float64           `json:"frame_length"`  // milliseconds, of 1 to 65536 samples; default 25
	FrameShift   float64           `json:"frame_shift"`   // milliseconds, of 1 to 2^24 samples; default 10
	SnipEdges    bool              `json:"snip_edges"`    // only whole frames; default true
	Scale        float64           `json:"scale"`         // factor of the samples, not 0; default 32768
	RemoveDC     bool              `json:"remove_dc"`     // default true
	Preemphasis  float64           `json:"preemphasis"`   // 0 to 1; default 0.97
	Window       SpectrogramWindow `json:"window"`        // default povey; boxcar is Kaldi's rectangular
	PowerOfTwo   bool              `json:"power_of_two"`  // transforms of a power of 2; default true
	Mels         int               `json:"mels"`          // filters, 3 to 1024; default 23
	MelLow       float64           `json:"mel_low"`       // Hz where the first filter starts; default 20
	MelHigh      float64           `json:"mel_high"`      // Hz where the last filter ends; 0 or less is added to half of the rate; default 0
	Power        int               `json:"power"`         // 1 or 2; default 2
	Log          bool              `json:"log"`           // default true
	Energy       FbankEnergy       `json:"energy"`        // default none
	RawEnergy    bool              `json:"raw_energy"`    // the energy is that before Preemphasis and the window; default true
	EnergyFloor  float64           `json:"energy_floor"`  // 0 or more; 0 for none; default 0
	Rule         KaldiRule         `json:"rule"`          // arithmetic of frames and filters; default kaldi
}

//msgp:tuple Fbank

// NewFbank returns the op with Kaldi's defaults, but without noise and without
// an energy.
func NewFbank(mels int) *Fbank {
	return &Fbank{
		SamplingRate: 16000, FrameLength: 25, FrameShift: 10, SnipEdges: true, Scale: 32768, RemoveDC: true, Preemphasis: 0.97,
		Window: WindowPovey, PowerOfTwo: true, Mels: mels, MelLow: 20, Power: 2, Log: true, RawEnergy: true,
	}
}

// KaldiRule is the implementation whose float32 tables Fbank and DCT have.
type KaldiRule uint8

// The rules.
const (
	RuleKaldi      KaldiRule = iota // Kaldi and kaldi-native-fbank
	RuleTorchaudio                  // torchaudio.compliance.kaldi
	RuleDouble                      // float64: transformers, SciPy
)

var kaldiRuleNames = []string{"kaldi", "torchaudio", "double"}

func (r KaldiRule) String() string { return enum.String("rule", kaldiRuleNames, r) }

// MarshalText returns the name.
func (r KaldiRule) MarshalText() ([]byte, error) { return enum.Format("rule", kaldiRuleNames, r) }

// UnmarshalText parses the name.
func (r *KaldiRule) UnmarshalText(t []byte) error { return enum.Parse(r, "rule", kaldiRuleNames, t) }

// FbankEnergy says where Fbank writes the energy of a frame.
type FbankEnergy uint8

// The places of the energy.
const (
	EnergyNone  FbankEnergy = iota
	EnergyFirst             // before the filters: Kaldi's use_energy
	EnergyLast              // behind the filters: Kaldi's use_energy with htk_compat
)

var fbankEnergyNames = []string{"none", "first", "last"}

func (e FbankEnergy) String() string { return enum.String("energy", fbankEnergyNames, e) }

// MarshalText returns the name.
func (e FbankEnergy) MarshalText() ([]byte, error) {
	return enum.Format("energy", fbankEnergyNames, e)
}

// UnmarshalText parses the name.
func (e *FbankEnergy) UnmarshalText(t []byte) error {
	return enum.Parse(e, "energy", fbankEnergyNames, t)
}

// Info describes the op.
func (*Fbank) Info() Info {
	return Info{
		Name: "fbank", Version: 1, New: func() Op { return NewFbank(23) },
		In: soundColumn, Out: soundColumn,
		Reference: "torchaudio 2.11.0 compliance.kaldi.fbank, kaldi-native-fbank 1.23.0", Exactness: "see docs/exactness.md",
	}
}

// Validate checks the parameters.
func (o *Fbank) Validate() error {
	for _, p := range []struct {
		name             string
		value, low, high int
	}{{"sampling_rate", o.SamplingRate, 1, maxSide}, {"mels", o.Mels, 3, maxMels}, {"power", o.Power, 1, 2}} {
		if p.value < p.low || p.value > p.high {
			return paramErr("%s is %d, want %d to %d", p.name, p.value, p.low, p.high)
		}
	}
	for _, p := range []struct {
		name             string
		value, low, high float64
	}{
		{"preemphasis", o.Preemphasis, 0, 1}, {"energy_floor", o.EnergyFloor, 0, math.MaxFloat32},
		{"mel_low", o.MelLow, 0, maxSide}, {"mel_high", o.MelHigh, -maxSide, maxSide},
	} {
		if !(p.value >= p.low && p.value <= p.high) {
			return paramErr("%s is %v, want %v to %v", p.name, p.value, p.low, p.high)
		}
	}
	if err := checkDivisors("scale", []float64{o.Scale}); err != nil {
		return err
	}
	if err := checkEnum("window", o.Window, spectrogramWindowNames); err != nil {
		return err
	}
	if err := checkEnum("energy", o.Energy, fbankEnergyNames); err != nil {
		return err
	}
	if err := checkEnum("rule", o.Rule, kaldiRuleNames); err != nil {
		return err
	}
	for _, p := range []struct {
		name        string
		value       float64
		most, shown int
	}{{"frame_length", o.FrameLength, dsp.MaxFFT, dsp.MaxFFT}, {"frame_shift", o.FrameShift, maxSide, maxSide}} {
		if n := o.samples(p.value); !(n >= 1 && n <= float64(p.most)) {
			return paramErr("%s is %v ms, %v samples at %d Hz, want 1 to %d samples", p.name, p.value, n, o.SamplingRate, p.most)
		}
	}
	half := float64(float64(o.SamplingRate) / 2)
	switch high := o.high(); {
	case o.MelLow >= high:
		return paramErr("mel_low is %v, want less than mel_high, %v Hz", o.MelLow, high)
	case high > half:
		return paramErr("mel_high is %v, want at most half of sampling_rate, %v Hz", high, half)
	}
	if c := o.config(); c.Length%2 != 0 || !dsp.CanTransform(c.Length) {
		return paramErr("frame_length is %d samples, want an even number without prime factors above 5, or power_of_two", c.Frame)
	}
	return nil
}

// samples returns a time in whole samples, as Kaldi computes it.
func (o *Fbank) samples(ms float64) float64 {
	return math.Floor(float64(float64(o.SamplingRate)*0.001) * ms)
}

// high returns the frequency where the last filter ends.
func (o *Fbank) high() float64 {
	if o.MelHigh > 0 {
		return o.MelHigh
	}
	return float64(float64(o.SamplingRate)/2) + o.MelHigh
}

func (o *Fbank) config() dsp.Config {
	c := dsp.Config{
		Frame: int(o.samples(o.FrameLength)), Hop: int(o.samples(o.FrameShift)), Mirror: !o.SnipEdges, Scale: o.Scale, RemoveDC: o.RemoveDC,
		Preemphasis: o.Preemphasis, Window: dsp.Window(o.Window), Power: o.Power, Rate: o.SamplingRate,
		Mels: dsp.Mels{Filters: o.Mels, Scale: dsp.Kaldi, Low: o.MelLow, High: o.high(), InMel: true}, FramesFirst: true,
	}
	switch o.Rule {
	case RuleKaldi:
		c.Frames32, c.Mels.Table = true, dsp.KaldiTable
	case RuleTorchaudio:
		c.Frames32, c.Mels.Table = true, dsp.TorchaudioTable
	}
	c.Length = c.Frame
	if o.PowerOfTwo {
		for c.Length = 1; c.Length < c.Frame; {
			c.Length *= 2
		}
	}
	if o.Log {
		c.Floor, c.Log = 0x1p-23, dsp.Natural
	}
	if o.Energy != EnergyNone {
		c.Energy, c.EnergyFloor, c.EnergyLast = dsp.WindowEnergy, o.EnergyFloor, o.Energy == EnergyLast
		if o.RawEnergy {
			c.Energy = dsp.RawEnergy
		}
	}
	return c
}

// Infer describes frames and filters.
func (o *Fbank) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() != 1 {
		return inputErr("%v, want float32 (samples), one channel", d)
	}
	config := o.config()
	frames := tensor.Unknown
	if n := d.Shape.At(0); n != tensor.Unknown {
		if n > maxSequence {
			return inputErr("%v, want at most %d samples", d, maxSequence)
		}
		if o.Rule == RuleTorchaudio && n < config.Frame {
			return inputErr("%v, want at least the %d samples of a frame for rule torchaudio", d, config.Frame)
		}
		frames, _ = config.Frames(n)
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(frames, config.Rows())}
	return inferred(dst[0])
}

// Apply computes the features.
func (o *Fbank) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	config := o.config()
	st, ok := c.State.(*dsp.Spectrogram)
	if !ok || st.Config != config {
		st = dsp.NewSpectrogram(config, nil, nil)
		c.State = st
	}
	samples := tensor.View[float32](s)
	doubles, singles := st.Floats(len(samples))
	st.Compute(tensor.View[float32](dst[0]), samples,
		tensor.Cast[float64](c.Scratch(8*doubles)), tensor.Cast[float32](c.Scratch(4*singles)))
	return nil
}
