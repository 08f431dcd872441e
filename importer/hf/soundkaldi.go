//go:build !small

package hf

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	sounds["SeamlessM4TFeatureExtractor"] = sound{build: seamless}
	sounds["Speech2TextFeatureExtractor"] = sound{build: speech2Text}
	sounds["ASTFeatureExtractor"] = sound{build: ast}
}

// kaldi returns the spectrogram of transformers' form of Kaldi's features. The
// lengths do not depend on the sampling rate.
func (b *soundBuilder) kaldi(mels int) *transforms.Spectrogram {
	s := transforms.NewSpectrogram(400, 160)
	s.FFTLength, s.Pad, s.RemoveDC, s.Preemphasis = 512, 0, true, 0.97
	s.Window, s.Periodic, s.Scale = transforms.WindowPovey, false, 1<<15
	s.Mels, s.MelScale, s.MelLow, s.MelHigh = mels, transforms.MelKaldi, 20, float64(b.rate/2)
	s.MelTriangles, s.MelNorm, s.Floor, s.Log, s.FramesFirst = true, false, 0x1p-23, transforms.LogNatural, true
	if s.MelHigh <= s.MelLow {
		b.Bad("sampling_rate", "more than 41 Hz")
	}
	return s
}

func seamless(b *soundBuilder) {
	b.readRate(16000)
	b.Int("feature_size", 80, 2, 1024)
	mels, fill := b.whole("num_mel_bins", 80, 1024), b.fill()
	if b.whole("stride", 2, 1024) != 2 {
		b.Bad("stride", "2")
	}
	mask := b.Bool("return_attention_mask", true)
	b.features(b.kaldi(mels), samples, "features")
	b.step(&transforms.NormalizeSequence{Rule: transforms.SequenceBins, Mean: true, Var: true}, "features", "features")
	b.fit(&transforms.FitSequence{Multiple: 2, Fill: fill}, "features", "features", "mask")
	b.step(transforms.NewReshape(-1, 2*mels), "features", "input_features")
	b.step(transforms.NewSlice("1::2"), "mask", "attention_mask")
	b.Outputs = []string{"input_features"}
	b.padsTo(fill, "input_features")
	if mask {
		b.Outputs = append(b.Outputs, "attention_mask")
		b.padsTo(fill, "input_features", "attention_mask")
	}
}

func speech2Text(b *soundBuilder) {
	b.readRate(16000)
	b.Int("feature_size", 80, 2, 1024)
	mels, fill := b.whole("num_mel_bins", 80, 1024), b.fill()
	b.noDither()
	b.Inert("return_attention_mask") // set to true
	norm := &transforms.NormalizeSequence{Rule: transforms.SequenceCMVN, Mean: b.Bool("normalize_means", true), Var: b.Bool("normalize_vars", true)}
	b.features(b.kaldi(mels), samples, "features")
	b.fit(&transforms.FitSequence{Multiple: 1}, "features", "input_features", "attention_mask")
	if b.Bool("do_ceptral_normalize", true) {
		b.step(norm, "input_features", "input_features")
	}
	b.Outputs = []string{"input_features", "attention_mask"}
	b.padsTo(fill, "input_features", "attention_mask")
}

func ast(b *soundBuilder) {
	b.readRate(16000)
	b.Inert("feature_size", "padding_value", "return_attention_mask")
	s := b.kaldi(b.whole("num_mel_bins", 128, 1024))
	s.Window, s.Scale = transforms.WindowHann, 1
	n := b.whole("max_length", 1024, 1<<24)
	mean, std := b.Number("mean", -4.2677393, -largest, largest), b.Number("std", 4.5689974, 1e-30, largest)
	b.features(s, samples, "features")
	b.fit(transforms.NewFitSequence(n), "features", "input_values", "mask")
	if b.Bool("do_normalize", true) {
		b.step(transforms.NewScaleFeatures(mean, float64(std*2)), "input_values", "input_values")
	}
	b.Outputs = []string{"input_values"}
}
