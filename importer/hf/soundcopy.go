//go:build !small

package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes copy and pad samples.
func init() {
	sounds["EncodecFeatureExtractor"] = sound{build: encodec}
	sounds["KyutaiSpeechToTextFeatureExtractor"] = sound{build: kyutai}
	sounds["DacFeatureExtractor"] = sound{build: func(b *soundBuilder) {
		b.mono()
		toMultiple(b, 16000, "hop_length", 512, transforms.FitFill)
	}}
	sounds["DiaFeatureExtractor"] = sound{build: func(b *soundBuilder) {
		b.Int("feature_size", 1, 1, 2) // one channel is one for both
		toMultiple(b, 16000, "hop_length", 512, transforms.FitFill)
	}}
	sounds["PeAudioFeatureExtractor"] = sound{build: func(b *soundBuilder) {
		b.mono()
		toMultiple(b, 48000, "hop_length", 1920, transforms.FitReflect)
	}}
	sounds["MuseSparkFeatureExtractor"] = sound{build: museSpark}
	sounds["Gemma4UnifiedAudioFeatureExtractor"] = sound{build: gemma4Unified}
}

// inert keys of SequenceFeatureExtractor that the classes here do not read.
func (b *soundBuilder) maskGiven() { b.Inert("return_attention_mask") }

// chunks reads the keys of Encodec and returns its padding.
func chunks(b *soundBuilder) *transforms.FitSequence {
	b.mono()
	b.readRate(24000)
	b.maskGiven()
	op := &transforms.FitSequence{Multiple: 1, Fill: b.fill()}
	seconds, chunked := b.optional("chunk_length_s", 0, importer.MaxSide)
	overlap, overlaps := b.optional("overlap", 0, 1)
	if chunked && overlaps {
		op.Chunk = b.seconds("chunk_length_s", seconds)
		op.Stride = max(1, int(float64((1-overlap)*float64(op.Chunk))))
		if op.Chunk == 0 {
			b.Bad("chunk_length_s", "null, or one sample or more")
		}
	}
	return op
}

// channel adds the axis of one channel.
func (b *soundBuilder) channel() {
	b.step(transforms.NewReshape(1, -1), samples, "input_values")
	b.Outputs = []string{"input_values", "padding_mask"}
}

func encodec(b *soundBuilder) {
	op := chunks(b)
	op.AtStart = b.String("padding_side") == "left"
	if v := b.String("padding_side"); v != "" && v != "right" && v != "left" {
		b.Bad("padding_side", `"left" or "right"`)
	}
	b.fit(op, samples, samples, "padding_mask")
	b.channel()
	if !op.AtStart {
		b.padsTo(op.Fill, "input_values", "padding_mask")
	}
}

func kyutai(b *soundBuilder) {
	op := chunks(b)
	op.Left = b.seconds("audio_silence_prefix_seconds", b.Number("audio_silence_prefix_seconds", 0, 0, importer.MaxSide))
	op.Right = b.seconds("audio_delay_seconds", b.Number("audio_delay_seconds", 0, 0, importer.MaxSide)+1)
	if op.Fill != 0 {
		b.Bad("padding_value", "0: what is added around the sound is 0")
	}
	b.fit(op, samples, samples, "padding_mask")
	b.channel()
}

// toMultiple adds the steps of classes that pad to a multiple of a key.
func toMultiple(b *soundBuilder, rate int, key string, def int, mode transforms.FitMode) {
	b.readRate(rate)
	b.maskGiven()
	op := &transforms.FitSequence{Multiple: b.whole(key, def, importer.MaxSide), Mode: mode, Fill: b.fill()}
	b.fit(op, samples, samples, "padding_mask")
	b.channel()
	b.padsTo(op.Fill, "input_values", "padding_mask")
}

func museSpark(b *soundBuilder) {
	b.readRate(24000)
	b.mono()
	op := &transforms.FitSequence{Multiple: b.whole("samples_per_token", 1920, importer.MaxSide), Fill: b.fill()}
	b.fit(op, samples, "input_values", "input_values_mask")
	b.Outputs = []string{"input_values"}
	b.padsTo(op.Fill, "input_values")
	if b.Bool("return_attention_mask", true) {
		b.Outputs = append(b.Outputs, "input_values_mask")
		b.padsTo(op.Fill, "input_values", "input_values_mask")
	}
}

func gemma4Unified(b *soundBuilder) {
	b.readRate(16000)
	b.maskGiven()
	b.Int("feature_size", 640, 2, importer.MaxSide)
	n, fill := b.whole("audio_samples_per_token", 640, importer.MaxSide), b.fill()
	b.fit(&transforms.FitSequence{Multiple: n}, samples, samples, "mask")
	b.step(transforms.NewReshape(-1, n), samples, "tokens")
	b.fit(&transforms.FitSequence{Multiple: 1}, "tokens", "input_features", "tokens_mask")
	b.step(transforms.NewToType(tensor.Bool), "tokens_mask", "input_features_mask")
	b.Outputs = []string{"input_features", "input_features_mask"}
	b.padsTo(fill, "input_features", "input_features_mask")
}
