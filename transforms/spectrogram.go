//go:build !small

package transforms

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Spectrogram computes the spectrogram of a sound: the amplitudes or powers of
// frequencies in frames that overlap, their sums over a bank of mel filters,
// and logarithms. It takes the samples of one channel, float32 (samples), all
// finite. The output is float32 (Rows, frames), or (frames, Rows) with
// FramesFirst. Rows is Mels, or FFTLength/2 + 1 without mels. The number of
// frames is 1 + floor((samples + 2 Pad - FrameLength) / HopLength). If that is
// negative, or the reference refuses 0, the input is an ErrInput.
//
// A frame passes these steps in this order, in float64 unless the rule says
// otherwise:
//
//   - Samples times Scale in float32, with Pad reflected samples at both ends.
//   - With RemoveDC, minus the mean of the frame.
//   - With Preemphasis c, x[i] - c*x[i-1]; x[0] times 1-c.
//   - Times the window, and zeros up to FFTLength.
//   - The Fourier transform, rounded to complex64, and its amplitude
//     sqrt(re^2 + im^2), squared for Power 2.
//   - With Mels, the sum over each filter.
//   - The larger of this and Floor, or their sum; its logarithm; minus Mean,
//     divided by Std.
//   - Rounded to float32.
//
// The transform has the bits of NumPy's rfft. Other references sum the filters
// in an order that depends on the processor; the sums here, from the first bin
// on, differ from theirs before they are rounded to float32.
//
// Reference: transformers 5.23.0, audio_utils.spectrogram, mel_filter_bank and
// window_function, with NumPy 2.4.6; for the other rules see SpectrogramRule.
type Spectrogram struct {
	FrameLength  int               `json:"frame_length"`  // samples, 1 to 65536
	HopLength    int               `json:"hop_length"`    // samples from frame to frame, 1 to 2^24
	FFTLength    int               `json:"fft_length"`    // FrameLength to 65536, without prime factors above 5
	Pad          int               `json:"pad"`           // reflected samples at each end, 0 to 65536; half a frame centres the frames
	Scale        float64           `json:"scale"`         // factor of the samples, not 0; default 1; 32768 is Kaldi's
	RemoveDC     bool              `json:"remove_dc"`     // default false
	Preemphasis  float64           `json:"preemphasis"`   // 0 to 1; 0 for none
	Window       SpectrogramWindow `json:"window"`        // default hann
	Periodic     bool              `json:"periodic"`      // the window's period is FrameLength, not FrameLength - 1; default true
	Rule         SpectrogramRule   `json:"rule"`          // default complex64
	Power        int               `json:"power"`         // 1 or 2; 1 for the rules root32, single and rounded; default 2
	Root         float64           `json:"root"`          // the rule root32 adds it below the root, for torch it is the least value there; 0 or more
	SamplingRate int               `json:"sampling_rate"` // samples a second, 1 to 2^24; only the mels depend on it
	Mels         int               `json:"mels"`          // filters, 0 to 1024; 0 for none
	MelScale     MelScale          `json:"mel_scale"`     // htk, slaney, kaldi, torch_htk or torch_slaney; default slaney
	MelLow       float64           `json:"mel_low"`       // Hz where the first filter starts, 0 to MelHigh
	MelHigh      float64           `json:"mel_high"`      // Hz where the last filter ends, up to 2^24
	MelTriangles bool              `json:"mel_triangles"` // the filters' sides are straight in mels, not in Hz; default false
	MelNorm      bool              `json:"mel_norm"`      // each filter is divided by half of its width (Slaney's); default true
	Floor        float64           `json:"floor"`         // least value before the logarithm, 0 or more; default 1e-10
	AddFloor     bool              `json:"add_floor"`     // add Floor instead of taking the larger one; default false
	Log          SpectrogramLog    `json:"log"`           // default none
	Mean         NumberList        `json:"mean"`          // of each row, in float64; may be empty
	Std          NumberList        `json:"std"`           // of each row, not 0, in float64; may be empty
	FramesFirst  bool              `json:"frames_first"`  // default false
}

//msgp:tuple Spectrogram

// NewSpectrogram returns the op for power spectrograms of a periodic Hann
// window, with centred frames of length samples that are hop samples apart.
func NewSpectrogram(length, hop int) *Spectrogram {
	return &Spectrogram{
		FrameLength: length, HopLength: hop, FFTLength: length, Pad: length / 2, Scale: 1, Periodic: true, Power: 2,
		SamplingRate: 16000, MelScale: MelSlaney, MelHigh: 8000, MelNorm: true, Floor: 1e-10,
	}
}

// SpectrogramWindow is the window of a Spectrogram.
type SpectrogramWindow uint8

// The windows, as NumPy computes them.
const (
	WindowHann     = SpectrogramWindow(dsp.Hann)
	WindowHamming  = SpectrogramWindow(dsp.Hamming)
	WindowPovey    = SpectrogramWindow(dsp.Povey) // Hann to the power of 0.85
	WindowBlackman = SpectrogramWindow(dsp.Blackman)
	WindowBoxcar   = SpectrogramWindow(dsp.Boxcar) // 1
)

var spectrogramWindowNames = []string{"hann", "hamming", "povey", "blackman", "boxcar"}

func (w SpectrogramWindow) String() string { return enum.String("window", spectrogramWindowNames, w) }

// MarshalText returns the name.
func (w SpectrogramWindow) MarshalText() ([]byte, error) {
	return enum.Format("window", spectrogramWindowNames, w)
}

// UnmarshalText parses the name.
func (w *SpectrogramWindow) UnmarshalText(t []byte) error {
	return enum.Parse(w, "window", spectrogramWindowNames, t)
}

// SpectrogramRule is the arithmetic of a Spectrogram.
type SpectrogramRule uint8

// The rules.
const (
	// SpectrogramComplex64 is that of transformers.audio_utils.spectrogram.
	SpectrogramComplex64 = SpectrogramRule(dsp.Complex64)
	// SpectrogramRoot32 has the amplitude sqrt(re^2 + im^2 + Root) in float32:
	// UnivNetFeatureExtractor.
	SpectrogramRoot32 = SpectrogramRule(dsp.Root32)
	// SpectrogramDouble does not round to complex64: LasrFeatureExtractor.
	SpectrogramDouble = SpectrogramRule(dsp.Double)
	// SpectrogramSingle computes frames and the amplitude in float32, with the
	// window of NumPy's float32 cosine: Gemma3nAudioFeatureExtractor, on
	// x86-64 with AVX2. Frames need one sample more than FrameLength.
	SpectrogramSingle = SpectrogramRule(dsp.Single)
	// SpectrogramRounded is SpectrogramSingle with a window of float64, rounded
	// to float32: Gemma4AudioFeatureExtractor. It takes any window.
	SpectrogramRounded = SpectrogramRule(dsp.Rounded)
	// SpectrogramTorch is close to torch.stft in float32, whose bits depend on
	// the processor. It windows in float32, with torch's window, and computes
	// on in float64, with filters rounded to float32. The amplitude of Power 1
	// is sqrt(max(re^2 + im^2, Root)). The window is hann, hamming or boxcar.
	// With Pad it refuses sounds of at most FFTLength/2 samples, as torch does.
	SpectrogramTorch = SpectrogramRule(dsp.Torch)
	// SpectrogramMixed emphasizes frames in float32, windows and transforms
	// them in float64, and rounds to complex64, with powers and filters in
	// float32: Phi4MultimodalFeatureExtractor, whose sums depend on the
	// processor. Power is 2.
	SpectrogramMixed = SpectrogramRule(dsp.Mixed)
)

var spectrogramRuleNames = []string{"complex64", "root32", "double", "single", "rounded", "torch", "mixed"}

func (r SpectrogramRule) String() string {
	return enum.String("spectrogram rule", spectrogramRuleNames, r)
}

// MarshalText returns the name.
func (r SpectrogramRule) MarshalText() ([]byte, error) {
	return enum.Format("spectrogram rule", spectrogramRuleNames, r)
}

// UnmarshalText parses the name.
func (r *SpectrogramRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "spectrogram rule", spectrogramRuleNames, t)
}

// MelScale maps frequencies in Hz to mels.
type MelScale uint8

// The scales.
const (
	MelHTK    = MelScale(dsp.HTK)    // 2595 log10(1 + f/700)
	MelSlaney = MelScale(dsp.Slaney) // 3f/200 below 1000 Hz, 15 + 27 ln(f/1000) / ln 6.4 above
	MelKaldi  = MelScale(dsp.Kaldi)  // 1127 ln(1 + f/700)
	// MelTorchHTK and MelTorchSlaney compute the filters of htk and slaney in
	// float32, as torchaudio's melscale_fbanks.
	MelTorchHTK    = MelScale(dsp.TorchHTK)
	MelTorchSlaney = MelScale(dsp.TorchSlaney)
)

var melScaleNames = []string{"htk", "slaney", "kaldi", "torch_htk", "torch_slaney"}

func (s MelScale) String() string { return enum.String("mel scale", melScaleNames, s) }

// MarshalText returns the name.
func (s MelScale) MarshalText() ([]byte, error) { return enum.Format("mel scale", melScaleNames, s) }

// UnmarshalText parses the name.
func (s *MelScale) UnmarshalText(t []byte) error {
	return enum.Parse(s, "mel scale", melScaleNames, t)
}

// SpectrogramLog is the logarithm of a Spectrogram.
type SpectrogramLog uint8

// The logarithms.
const (
	LogNone    = SpectrogramLog(dsp.NoLog)
	LogNatural = SpectrogramLog(dsp.Natural)
	LogDecimal = SpectrogramLog(dsp.Decimal)
	LogDecibel = SpectrogramLog(dsp.Decibel) // 10 log10 of powers, 20 log10 of amplitudes
)

var spectrogramLogNames = []string{"none", "ln", "log10", "db"}

func (l SpectrogramLog) String() string { return enum.String("log", spectrogramLogNames, l) }

// MarshalText returns the name.
func (l SpectrogramLog) MarshalText() ([]byte, error) {
	return enum.Format("log", spectrogramLogNames, l)
}

// UnmarshalText parses the name.
func (l *SpectrogramLog) UnmarshalText(t []byte) error {
	return enum.Parse(l, "log", spectrogramLogNames, t)
}

// Info describes the op.
func (*Spectrogram) Info() Info {
	return Info{
		Name: "spectrogram", Version: 1, New: func() Op { return NewSpectrogram(400, 160) },
		In: soundColumn, Out: soundColumn,
		Reference: "transformers 5.23.0 audio_utils.spectrogram, NumPy 2.4.6", Exactness: "0",
	}
}

// maxMels is the largest number of filters.
const maxMels = 1024

// Validate checks the parameters.
func (o *Spectrogram) Validate() error {
	for _, p := range []struct {
		name             string
		value, low, high int
	}{
		{"frame_length", o.FrameLength, 1, dsp.MaxFFT}, {"hop_length", o.HopLength, 1, maxSide},
		{"fft_length", o.FFTLength, o.FrameLength, dsp.MaxFFT}, {"pad", o.Pad, 0, dsp.MaxFFT},
		{"power", o.Power, 1, 2}, {"sampling_rate", o.SamplingRate, 1, maxSide}, {"mels", o.Mels, 0, maxMels},
	} {
		if p.value < p.low || p.value > p.high {
			return paramErr("%s is %d, want %d to %d", p.name, p.value, p.low, p.high)
		}
	}
	if !dsp.CanTransform(o.FFTLength) {
		return paramErr("fft_length is %d, want a number without prime factors above 5", o.FFTLength)
	}
	for _, p := range []struct {
		name             string
		value, low, high float64
	}{
		{"preemphasis", o.Preemphasis, 0, 1}, {"root", o.Root, 0, math.MaxFloat32}, {"floor", o.Floor, 0, math.MaxFloat32},
		{"mel_high", o.MelHigh, 0, maxSide}, {"mel_low", o.MelLow, 0, o.MelHigh},
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
	if err := checkEnum("rule", o.Rule, spectrogramRuleNames); err != nil {
		return err
	}
	if err := checkEnum("mel_scale", o.MelScale, melScaleNames); err != nil {
		return err
	}
	if err := checkEnum("log", o.Log, spectrogramLogNames); err != nil {
		return err
	}
	switch {
	case o.Mels > 0 && o.MelLow == o.MelHigh:
		return paramErr("mel_low is mel_high, %v, want less", o.MelLow)
	case (o.Rule == SpectrogramRoot32 || o.Rule == SpectrogramSingle || o.Rule == SpectrogramRounded) && o.Power != 1:
		return paramErr("power is %d, want 1 for rule %v", o.Power, o.Rule)
	case o.Rule == SpectrogramSingle && (o.Window != WindowHann || !o.Periodic || o.RemoveDC):
		return paramErr("rule single has a periodic window hann and no remove_dc")
	case o.Rule == SpectrogramMixed && o.Power != 2:
		return paramErr("power is %d, want 2 for rule mixed", o.Power)
	case (o.Rule == SpectrogramRounded || o.Rule == SpectrogramMixed) && o.RemoveDC:
		return paramErr("rule %v has no remove_dc", o.Rule)
	case o.Rule == SpectrogramTorch && (o.RemoveDC || o.Preemphasis != 0):
		return paramErr("rule torch has no remove_dc and no preemphasis")
	case o.Rule == SpectrogramTorch && (o.Window == WindowPovey || o.Window == WindowBlackman):
		return paramErr("window is %v, want hann, hamming or boxcar for rule torch", o.Window)
	case o.MelScale >= MelTorchHTK && o.MelTriangles:
		return paramErr("mel_triangles is true, want false for mel_scale %v", o.MelScale)
	}
	config := o.config()
	for _, l := range []struct {
		name   string
		values []float64
	}{{"mean", o.Mean}, {"std", o.Std}} {
		if n := len(l.values); n != 0 && n != config.Rows() {
			return paramErr("%s has %d values, want none or %d, one for each row", l.name, n, config.Rows())
		}
		for i, v := range l.values {
			if math.IsNaN(v) || math.IsInf(v, 0) || l.name == "std" && v == 0 {
				return paramErr("%s[%d] is %v, want a finite number, for std not 0", l.name, i, v)
			}
		}
	}
	return nil
}

func (o *Spectrogram) config() dsp.Config {
	return dsp.Config{
		Frame: o.FrameLength, Hop: o.HopLength, Length: o.FFTLength, Pad: o.Pad, Scale: o.Scale, RemoveDC: o.RemoveDC,
		Preemphasis: o.Preemphasis, Window: dsp.Window(o.Window), Periodic: o.Periodic, Rule: dsp.Rule(o.Rule),
		Power: o.Power, Root: o.Root, Rate: o.SamplingRate,
		Mels:  dsp.Mels{Filters: o.Mels, Scale: dsp.Scale(o.MelScale), Low: o.MelLow, High: o.MelHigh, InMel: o.MelTriangles, Norm: o.MelNorm},
		Floor: o.Floor, AddFloor: o.AddFloor, Log: dsp.Logarithm(o.Log), FramesFirst: o.FramesFirst,
	}
}

// Infer describes rows and frames.
func (o *Spectrogram) Infer(dst, in []tensor.Desc) error {
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
		var ok bool
		if frames, ok = config.Frames(n); !ok {
			return inputErr("%v, want at least the samples of one frame: frame_length is %d", d, o.FrameLength)
		}
	}
	shape := tensor.Dims(config.Rows(), frames)
	if o.FramesFirst {
		shape = tensor.Dims(frames, config.Rows())
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: shape}
	return inferred(dst[0])
}

// spectrogramState is the spectrogram of the parameters that it was made for.
type spectrogramState struct {
	config    dsp.Config
	mean, std []float64
	s         *dsp.Spectrogram
}

// Apply computes the spectrogram.
func (o *Spectrogram) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	config := o.config()
	st, ok := c.State.(*spectrogramState)
	if !ok || st.config != config || !slices.Equal(st.mean, o.Mean) || !slices.Equal(st.std, o.Std) {
		st = &spectrogramState{config: config, mean: slices.Clone(o.Mean), std: slices.Clone(o.Std)}
		st.s = dsp.NewSpectrogram(config, st.mean, st.std)
		c.State = st
	}
	samples := tensor.View[float32](s)
	doubles, singles := st.s.Floats(len(samples))
	st.s.Compute(tensor.View[float32](dst[0]), samples,
		tensor.Cast[float64](c.Scratch(8*doubles)), tensor.Cast[float32](c.Scratch(4*singles)))
	return nil
}
