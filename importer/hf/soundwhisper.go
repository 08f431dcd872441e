//go:build !small

package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() { sounds["WhisperFeatureExtractor"] = sound{build: whisper} }

// whisper adds the steps of _np_extract_fbank_features, which transformers
// uses without torch.
func whisper(b *soundBuilder) {
	b.readRate(16000)
	mels, hop, size := b.Int("feature_size", 80, 2, 1024), b.whole("hop_length", 160, importer.MaxSide), b.whole("n_fft", 400, 1<<16)
	n := b.duration("chunk_length", 30)
	fill, mask := b.fill(), b.Bool("return_attention_mask", false)
	b.noDither()
	b.Inert("n_samples", "nb_max_frames", "mel_filters") // computed anew
	fit := transforms.NewFitSequence(n)
	fit.Fill = fill
	s := transforms.NewSpectrogram(size, hop)
	s.Mels, s.Log = mels, transforms.LogDecimal
	scale := transforms.NewScaleFeatures(-4, 4)
	scale.Range = 8
	b.fit(fit, samples, samples, "attention_mask")
	b.features(s, samples, "input_features")
	b.step(transforms.NewSlice(":", ":-1"), "input_features", "input_features")
	b.step(scale, "input_features", "input_features")
	b.Outputs = []string{"input_features"}
	if mask { // of samples, as no argument asks for that of frames
		b.Outputs = append(b.Outputs, "attention_mask")
	}
}
