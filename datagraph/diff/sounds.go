//go:build !small

package diff

import (
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() { sounding = soundChanges }

// soundChanges returns the changes of graphs of sounds, in the order in which
// they are applied.
func soundChanges() []Change {
	return slices.Concat(sampling(), framing(), windowing(), melting(), leveling(), grouped(groupTensor, []Change{
		{Name: "transposed", Text: "the two axes are swapped", undo: func(p *pixels) bool {
			if p.image || p.h < 2 || p.w < 2 {
				return false
			}
			v := make([]float64, 0, len(p.v))
			for x := range p.w {
				for y := range p.h {
					v = append(v, p.v[y*p.w+x])
				}
			}
			p.h, p.w, p.v = p.w, p.h, v
			return true
		}},
	}))
}

// spectral returns a rewrite that changes every spectrogram. f reports whether
// it changed one.
func spectral(f func(o *transforms.Spectrogram) bool) func(*datagraph.Graph, target) bool {
	return func(g *datagraph.Graph, _ target) bool { return each(g, f) }
}

// spectralField returns a rewrite that sets a field of every spectrogram.
func spectralField[T comparable](field func(o *transforms.Spectrogram) *T, v T) func(*datagraph.Graph, target) bool {
	return func(g *datagraph.Graph, _ target) bool { return setAll(g, field, v) }
}

// removed returns a rewrite that removes the ops of one type.
func removed[T transforms.Op]() func(*datagraph.Graph, target) bool {
	return func(g *datagraph.Graph, _ target) bool {
		i := find(g, 0, isType[T])
		if i < 0 || len(g.Steps[i].In) != 1 {
			return false
		}
		for ; i >= 0; i = find(g, i, isType[T]) {
			replace(g, i)
		}
		return true
	}
}

// sampling returns changes of the samples.
func sampling() []Change {
	times := func(f float64) func(g *datagraph.Graph, _ target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			if find(g, 0, isType[*transforms.Spectrogram]) >= 0 {
				return each(g, func(o *transforms.Spectrogram) bool {
					scale := o.Scale * f
					if scale != 1 && scale != 1<<15 {
						return false
					}
					o.Scale = scale
					return true
				})
			}
			i := find(g, 0, isType[*transforms.DecodeSound])
			if i >= 0 && f > 1 {
				insert(g, i, &transforms.ScaleFeatures{Div: 1, Mul: f})
			}
			return i >= 0 && f > 1
		}
	}
	return slices.Concat(grouped(groupChannels, []Change{
		{Name: "first-channel", Text: "the samples are the first channel's, not the mean of all channels", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.MixMono])
			if i < 1 {
				return false
			}
			s := g.Steps[i]
			g.Steps = slices.Insert(g.Steps, i, datagraph.Step{Op: transforms.NewSlice("0:1"), In: s.In, Out: []string{"diff_channel"}})
			g.Steps[i+1].In = []string{"diff_channel"}
			return true
		}},
	}), grouped(groupRate, []Change{
		{Name: "not-resampled", Text: "the sound is not resampled", rewrite: func(g *datagraph.Graph, t target) bool {
			return removed[*transforms.ResampleSinc]()(g, t) || removed[*transforms.ResamplePoly]()(g, t)
		}},
		{Name: "resampled-sinc", Text: "the sound is resampled as torchaudio's Resample does", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.ResamplePoly])
			if i < 0 {
				return false
			}
			o := g.Steps[i].Op.(*transforms.ResamplePoly)
			g.Steps[i].Op = transforms.NewResampleSinc(o.FromRate, o.ToRate)
			return true
		}},
		{Name: "resampled-poly", Text: "the sound is resampled as SciPy's resample_poly does", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.ResampleSinc])
			if i < 0 {
				return false
			}
			o := g.Steps[i].Op.(*transforms.ResampleSinc)
			g.Steps[i].Op = transforms.NewResamplePoly(o.FromRate, o.ToRate)
			return true
		}},
	}), grouped(groupRange, []Change{
		{Name: "int16-samples", Text: "the samples are integers of 16 bits, -32768 to 32767, that are not divided by 32768", rewrite: times(1 << 15)},
		{Name: "unit-samples", Text: "the samples are -1 to 1, not multiplied by 32768", rewrite: times(1. / (1 << 15))},
	}))
}

// framing returns changes of the frames.
func framing() []Change {
	pad := func(o *transforms.Spectrogram) *int { return &o.Pad }
	return slices.Concat(grouped(groupCenter, []Change{
		{Name: "not-centered", Text: "the sound is not padded: the first frame begins at the first sample (center=False)", rewrite: spectralField(pad, 0)},
		{Name: "centered", Text: "half a frame of reflected samples is added at both ends (center=True)", rewrite: spectral(func(o *transforms.Spectrogram) bool {
			had := o.Pad
			o.Pad = o.FrameLength / 2
			return had != o.Pad
		})},
		{Name: "centered-zeros", Text: `half a frame of zeros is added at both ends (pad_mode="constant", as in librosa)`, rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.Spectrogram])
			if i < 0 {
				return false
			}
			s := g.Steps[i]
			o := s.Op.(*transforms.Spectrogram)
			n := o.FrameLength / 2
			o.Pad = 0
			fit := &transforms.FitSequence{Multiple: 1, Left: n, Right: n}
			g.Steps = slices.Insert(g.Steps, i, datagraph.Step{Op: fit, In: s.In[:1], Out: []string{"diff_padded", "diff_mask"}})
			g.Steps[i+1].In = []string{"diff_padded"}
			return true
		}},
	}), grouped(groupFrames, []Change{
		{Name: "last-frame-kept", Text: "the last frame is not dropped", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.Spectrogram])
			i = find(g, i, isType[*transforms.Slice])
			if i >= 0 {
				replace(g, i)
			}
			return i >= 0
		}},
	}), grouped(groupEmphasis, []Change{
		{Name: "no-preemphasis", Text: "the samples are not preemphasized", rewrite: spectralField(func(o *transforms.Spectrogram) *float64 { return &o.Preemphasis }, 0)},
		{Name: "preemphasis", Text: "the samples are preemphasized by 0.97", rewrite: spectralField(func(o *transforms.Spectrogram) *float64 { return &o.Preemphasis }, 0.97)},
	}), grouped(groupMean, []Change{
		{Name: "dc-kept", Text: "the mean of each frame is not subtracted", rewrite: spectralField(func(o *transforms.Spectrogram) *bool { return &o.RemoveDC }, false)},
		{Name: "dc-removed", Text: "the mean of each frame is subtracted", rewrite: spectralField(func(o *transforms.Spectrogram) *bool { return &o.RemoveDC }, true)},
	}))
}

// windowing returns changes of the window and the transform.
func windowing() (l []Change) {
	for _, w := range []struct {
		name, text string
		window     transforms.SpectrogramWindow
		periodic   bool
	}{
		{"window-hann", "the window is a periodic Hann window", transforms.WindowHann, true},
		{"window-hann-symmetric", "the window is a symmetric Hann window (periodic=False)", transforms.WindowHann, false},
		{"window-hamming", "the window is a periodic Hamming window", transforms.WindowHamming, true},
		{"window-hamming-symmetric", "the window is a symmetric Hamming window", transforms.WindowHamming, false},
		{"window-povey", "the window is Kaldi's, povey", transforms.WindowPovey, false},
		{"window-blackman", "the window is a periodic Blackman window", transforms.WindowBlackman, true},
		{"window-none", "there is no window", transforms.WindowBoxcar, true},
	} {
		l = append(l, Change{Name: w.name, Text: w.text, group: groupWindow, rewrite: spectral(func(o *transforms.Spectrogram) bool {
			had := *o
			o.Window, o.Periodic = w.window, w.periodic
			return had.Window != o.Window || had.Periodic != o.Periodic
		})})
	}
	power := func(o *transforms.Spectrogram) *int { return &o.Power }
	return slices.Concat(l, grouped(groupFFT, []Change{
		{Name: "fft-padded", Text: "frames are filled with zeros up to a power of 2 before the transform", rewrite: spectral(func(o *transforms.Spectrogram) bool {
			had := o.FFTLength
			n := 1
			for n < o.FrameLength {
				n *= 2
			}
			o.FFTLength = n
			return had != n
		})},
		{Name: "fft-unpadded", Text: "the transform has the length of a frame", rewrite: spectral(func(o *transforms.Spectrogram) bool {
			had := o.FFTLength
			o.FFTLength = o.FrameLength
			return had != o.FFTLength
		})},
	}), grouped(groupPower, []Change{
		{Name: "magnitude", Text: "the spectrogram has magnitudes, not powers", rewrite: spectralField(power, 1)},
		{Name: "power", Text: "the spectrogram has powers, not magnitudes", rewrite: spectralField(power, 2)},
	}))
}

// melting returns changes of the mel filters.
func melting() []Change {
	scale := func(name, text string, v transforms.MelScale) Change {
		return Change{Name: name, Text: text, group: groupMels, rewrite: spectral(func(o *transforms.Spectrogram) bool {
			had := o.MelScale
			o.MelScale = v
			return o.Mels > 0 && had != v
		})}
	}
	norm := func(v bool) func(*datagraph.Graph, target) bool {
		return spectral(func(o *transforms.Spectrogram) bool {
			had := o.MelNorm
			o.MelNorm = v
			return o.Mels > 0 && had != v
		})
	}
	l := []Change{
		scale("mel-htk", "the mel scale is HTK's, 2595 log10(1 + f/700)", transforms.MelHTK),
		scale("mel-slaney", "the mel scale is Slaney's, linear below 1000 Hz", transforms.MelSlaney),
		scale("mel-kaldi", "the mel scale is Kaldi's, 1127 ln(1 + f/700)", transforms.MelKaldi),
		{Name: "mel-norm", Text: `the mel filters are divided by their widths (norm="slaney")`, group: groupMelNorm, rewrite: norm(true)},
		{Name: "mel-no-norm", Text: "the mel filters are not divided by their widths (norm=None)", group: groupMelNorm, rewrite: norm(false)},
		{Name: "mel-hz-triangles", Text: "the sides of the mel filters are straight in Hz", group: groupMelSides, rewrite: spectralField(func(o *transforms.Spectrogram) *bool { return &o.MelTriangles }, false)},
		{Name: "mel-triangles", Text: "the sides of the mel filters are straight in mels", group: groupMelSides, rewrite: spectralField(func(o *transforms.Spectrogram) *bool { return &o.MelTriangles }, true)},
		{Name: "mel-from-0", Text: "the mel filters begin at 0 Hz", group: groupMelLow, rewrite: spectralField(func(o *transforms.Spectrogram) *float64 { return &o.MelLow }, 0)},
		{Name: "mel-from-20", Text: "the mel filters begin at 20 Hz", group: groupMelLow, rewrite: spectralField(func(o *transforms.Spectrogram) *float64 { return &o.MelLow }, 20)},
	}
	for _, rate := range []int{8000, 16000, 22050, 24000, 44100, 48000} {
		name := strconv.Itoa(rate)
		l = append(l, Change{Name: "mel-rate-" + name, Text: "the mel filters are those of a sampling rate of " + name + " Hz", group: groupMelRate, rewrite: spectral(func(o *transforms.Spectrogram) bool {
			had := o.SamplingRate
			if o.Mels == 0 || had == rate {
				return false
			}
			if o.MelHigh == float64(had)/2 {
				o.MelHigh = float64(rate) / 2
			}
			o.SamplingRate = rate
			return true
		})})
	}
	return l
}

// leveling returns changes of the values.
func leveling() []Change {
	logarithm := func(v transforms.SpectrogramLog) func(*datagraph.Graph, target) bool {
		return spectralField(func(o *transforms.Spectrogram) *transforms.SpectrogramLog { return &o.Log }, v)
	}
	return slices.Concat(grouped(groupLog, []Change{
		{Name: "log-natural", Text: "the logarithm is natural", rewrite: logarithm(transforms.LogNatural)},
		{Name: "log-decimal", Text: "the logarithm is decimal", rewrite: logarithm(transforms.LogDecimal)},
		{Name: "log-decibel", Text: "the values are decibels", rewrite: logarithm(transforms.LogDecibel)},
		{Name: "log-none", Text: "no logarithm is taken", rewrite: logarithm(transforms.LogNone)},
	}), grouped(groupNorm, []Change{
		{Name: "not-normalized", Text: "the values are not normalized", rewrite: func(g *datagraph.Graph, t target) bool {
			scaled := removed[*transforms.ScaleFeatures]()(g, t)
			return removed[*transforms.NormalizeSequence]()(g, t) || scaled
		}},
	}))
}
