//go:build !small

package hf

import (
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes compute Kaldi's features or deltas with torchaudio in float32.
func init() {
	for name, build := range map[string]func(*soundBuilder){
		"FunAsrNanoFeatureExtractor":     funASR,
		"NeuCodecFeatureExtractor":       func(b *soundBuilder) { codecFeatures(b, false) },
		"Xcodec2FeatureExtractor":        func(b *soundBuilder) { codecFeatures(b, true) },
		"GraniteSpeech5FeatureExtractor": graniteSpeech5,
	} {
		sounds[name] = sound{bounded: true, build: build}
	}
}

// fbank returns torchaudio's features for frames of so many milliseconds.
func (b *soundBuilder) fbank(mels int, frame, shift float64) *transforms.Fbank {
	s := transforms.NewFbank(mels)
	s.SamplingRate, s.Rule = b.rate, transforms.RuleTorchaudio
	s.FrameLength, s.FrameShift = b.milliseconds("frame_length", frame, 2), b.milliseconds("frame_shift", shift, 1)
	if b.rate <= 41 {
		b.Bad("sampling_rate", "more than 41 Hz")
	}
	return s
}

// milliseconds returns a time for which Fbank has as many samples as
// torchaudio, which multiplies in another order.
func (b *soundBuilder) milliseconds(key string, ms float64, least int) float64 {
	rate := float64(b.rate)
	n := math.Floor(float64(float64(rate*ms) * 0.001))
	switch {
	case n < float64(least):
		b.Bad(key, "a time of "+strconv.Itoa(least)+" samples or more")
		return 1e3
	case math.Floor(float64(float64(rate*0.001)*ms)) == n:
		return ms
	}
	return float64(float64((n+0.5)/rate) * 1000)
}

func funASR(b *soundBuilder) {
	b.readRate(16000)
	mels := b.Int("feature_size", 80, 4, 1024)
	s := b.fbank(mels, b.Number("frame_length", 25, 0, 1e6), b.Number("frame_shift", 10, 0, 1e6))
	s.Scale, s.Window = 1, transforms.WindowHamming
	if b.Has("window") {
		switch b.String("window") {
		case "hamming":
		case "hanning":
			s.Window = transforms.WindowHann
		case "povey":
			s.Window = transforms.WindowPovey
		case "blackman":
			s.Window = transforms.WindowBlackman
		case "rectangular":
			s.Window = transforms.WindowBoxcar
		default:
			b.Bad("window", `"hamming", "hanning", "povey", "blackman" or "rectangular"`)
		}
	}
	n, stride, fill := b.whole("num_frames_lfr", 7, 64), b.whole("stride_lfr", 6, 64), b.fill()
	mask := b.Bool("return_attention_mask", true)
	b.step(s, samples, "features")
	b.stack("features", "stacked", mels, n, stride)
	b.fit(&transforms.FitSequence{Multiple: 1}, "stacked", "input_features", "input_features_mask")
	b.Outputs = []string{"input_features"}
	b.padsTo(fill, "input_features")
	if mask {
		b.Outputs = append(b.Outputs, "input_features_mask")
		b.padsTo(fill, "input_features", "input_features_mask")
	}
}

// stack joins n rows around every stride-th one, beyond the ends the first and
// the last row: the low frame rate of FunASR.
func (b *soundBuilder) stack(in, out string, columns, n, stride int) {
	padded, left := in, (n-1)/2
	for i, count := range []int{left, n - 1 - left} {
		if count == 0 {
			continue
		}
		row, order := "0", func(edge string) []string { return []string{edge, padded} }
		if i == 1 {
			row, order = "-1", func(edge string) []string { return []string{padded, edge} }
		}
		edge, next := "edge_"+strconv.Itoa(i), "padded_"+strconv.Itoa(i)
		b.step(transforms.NewSlice(strings.TrimSuffix(strings.Repeat(row+",", count), ",")), in, edge)
		b.Then(transforms.NewConcatRows(), order(edge), []string{next})
		padded = next
	}
	// Blocks of stride rows side by side, each later than the one before.
	b.step(every(stride), in, "centers")
	joined := ""
	for first := 0; first < n; first += stride {
		name := strconv.Itoa(first)
		later := padded
		if first > 0 {
			later = "from_" + name
			b.step(transforms.NewSlice(name+":"), padded, later)
		}
		b.fit(&transforms.FitSequence{Multiple: stride}, later, "whole_"+name, "whole_mask_"+name)
		b.step(transforms.NewReshape(-1, stride*columns), "whole_"+name, "rows_"+name)
		b.match("rows_"+name, "centers", "block_"+name)
		b.step(transforms.NewTranspose(1, 0), "block_"+name, "columns_"+name)
		if joined == "" {
			joined = "columns_" + name
			continue
		}
		b.Then(transforms.NewConcatRows(), []string{joined, "columns_" + name}, []string{"joined_" + name})
		joined = "joined_" + name
	}
	b.step(transforms.NewSlice(":"+strconv.Itoa(n*columns)), joined, "kept")
	b.step(transforms.NewTranspose(1, 0), "kept", out)
}

// codecFeatures adds the padded samples and the features of two codecs. The
// features of X-Codec 2 are those of the samples with half a hop around them.
func codecFeatures(b *soundBuilder, around bool) {
	b.readRate(16000)
	b.Int("feature_size", 80, 2, importer.MaxSide)
	// The class sets these itself, and writes them into its file.
	b.Inert("stride", "num_mel_bins", "frame_length", "frame_shift", "return_attention_mask")
	fill, hop := b.Number("padding_value", 1, -largest, largest), b.whole("hop_length", 320, importer.MaxSide)
	const mels = 80
	rate := float64(b.rate)
	s := b.fbank(mels, float64(float64(400/rate)*1000), float64(float64(160/rate)*1000))
	s.MelHigh = float64(b.rate / 2)

	b.fit(&transforms.FitSequence{Multiple: 1, Right: 1}, samples, "longer", "longer_mask")
	b.fit(&transforms.FitSequence{Multiple: hop}, "longer", "padded", "padding_mask")
	b.step(transforms.NewReshape(1, -1), "padded", "input_values")
	in := "padded"
	if around && hop > 1 {
		b.fit(&transforms.FitSequence{Multiple: 1, Left: hop / 2, Right: hop / 2}, in, "around", "around_mask")
		in = "around"
	}
	b.step(s, in, "frames")
	b.step(&transforms.NormalizeSequence{Rule: transforms.SequenceBins, Mean: true, Var: true}, "frames", "frames")
	b.fit(&transforms.FitSequence{Multiple: 2, Fill: fill}, "frames", "even", "even_mask")
	b.step(transforms.NewReshape(-1, 2*mels), "even", "input_features")
	b.step(transforms.NewSlice("1::2"), "even_mask", "input_features_mask")
	b.Outputs = []string{"input_values", "padding_mask", "input_features", "input_features_mask"}
	b.padsTo(0, "input_values", "padding_mask")
	b.padsTo(fill, "input_features", "input_features_mask")
}

func graniteSpeech5(b *soundBuilder) {
	b.readRate(16000)
	size, win, hop := b.sizes(512, 400)
	mels := b.whole("num_mel_bins", 80, 1024)
	b.fill()
	b.Inert("feature_size", "return_attention_mask") // arguments' defaults
	window := (b.Int("delta_win_length", 3, 3, 201) - 1) / 2
	if hop > size/2 {
		b.Bad("hop_length", "at most half of n_fft, "+strconv.Itoa(size/2))
		return
	}
	floor := b.Number("logmel_floor_db", 8, 0, largest)
	if floor == 0 {
		b.Bad("logmel_floor_db", "more than 0")
	}

	// Frames are joined in pairs. For an odd number of hops the last pair lacks
	// a frame, and the reference adds a sample of 0: the mask then has a 1
	// behind the samples.
	b.fit(&transforms.FitSequence{Multiple: 1, Right: 1}, samples, "longer", "ones")
	b.step(transforms.NewSlice(":-1"), "ones", "ones")
	b.fit(&transforms.FitSequence{Multiple: 1, Left: hop}, "ones", "shifted", "shifted_mask")
	b.fit(&transforms.FitSequence{Multiple: 2 * hop}, "shifted", "hops", "hops_mask")
	b.fit(&transforms.FitSequence{Multiple: 1, Right: 1, Fill: 1}, "hops", "ended", "ended_mask")
	b.step(transforms.NewSlice(strconv.Itoa(hop)+":"), "ended", "all_kept")
	b.match("all_kept", "longer", "kept")
	b.step(transforms.NewToType(tensor.Bool), "kept", "kept")
	b.Then(transforms.NewSelectRows(), []string{"longer", "kept"}, []string{"padded"})

	b.features(b.torchHTK(size, win, hop, mels), "padded", "frames")
	b.paired("frames", "paired", mels)
	b.step(transforms.NewReshape(-1, mels), "paired", "frames")
	b.step(&transforms.ScaleFeatures{Range: floor, Div: 4, Mul: 1, Add: 1}, "frames", "scaled")
	b.step(&transforms.Deltas{Window: window, Order: 1, Append: true, FramesFirst: true}, "scaled", "deltas")
	b.step(transforms.NewReshape(-1, 4*mels), "deltas", "input_features")
	b.fit(&transforms.FitSequence{Multiple: 1}, "input_features", "rows", "row_mask")
	b.step(transforms.NewToType(tensor.Int64), "row_mask", "attention_mask")
	b.Outputs = []string{"input_features", "attention_mask"}
}
