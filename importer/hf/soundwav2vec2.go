//go:build !small

package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	sounds["Wav2Vec2FeatureExtractor"] = sound{build: func(b *soundBuilder) { waveform(b, true, false) }}
	sounds["SpeechT5FeatureExtractor"] = sound{build: func(b *soundBuilder) {
		// These keys describe the spectrogram of a target, not of an input.
		b.Inert("num_mel_bins", "hop_length", "win_length", "win_function", "frame_signal_scale", "fmin", "fmax", "mel_floor", "reduction_factor")
		waveform(b, false, true)
	}}
}

// waveform adds the steps of Wav2Vec2FeatureExtractor. normalize and mask are
// the defaults of do_normalize and return_attention_mask.
func waveform(b *soundBuilder, normalize, mask bool) {
	b.readRate(16000)
	b.whole("feature_size", 1, importer.MaxSide) // without padding it has no effect
	fill := b.fill()
	normalize, mask = b.Bool("do_normalize", normalize), b.Bool("return_attention_mask", mask)
	b.Outputs = []string{"input_values"}
	in := samples
	if mask || !normalize {
		out := "input_values"
		if normalize {
			out = samples
		}
		b.fit(&transforms.FitSequence{Multiple: 1}, in, out, "attention_mask")
		in = out
	}
	if normalize {
		b.step(transforms.NewNormalizeSequence(), in, "input_values")
	}
	switch {
	case mask:
		b.Outputs = append(b.Outputs, "attention_mask")
		b.padsTo(fill, "input_values", "attention_mask")
	case !normalize:
		b.padsTo(fill, "input_values")
	}
	// Else transformers normalizes a padded sound with its padding.
}
