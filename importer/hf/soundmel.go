//go:build !small

package hf

import (
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	sounds["ClapFeatureExtractor"] = sound{build: clap}
	sounds["ClvpFeatureExtractor"] = sound{build: clvp}
	sounds["UnivNetFeatureExtractor"] = sound{build: univNet}
	sounds["Gemma3nAudioFeatureExtractor"] = sound{build: gemma3n}
	sounds["Gemma4AudioFeatureExtractor"] = sound{build: gemma4Audio}
	sounds["LasrFeatureExtractor"] = sound{build: lasr}
}

// clap adds the steps for sounds of at most max_length_s. transformers crops
// longer ones at random.
func clap(b *soundBuilder) {
	b.readRate(48000)
	b.Inert("top_db", "return_attention_mask", "padding_value", "nb_frequency_bins", "nb_max_samples", "nb_max_frames")
	mels, hop, size := b.whole("feature_size", 64, 1024), b.whole("hop_length", 480, importer.MaxSide), b.whole("fft_window_size", 1024, 1<<16)
	n := b.duration("max_length_s", 10)
	fit := &transforms.FitSequence{Max: n, Length: n, Multiple: 1, Mode: transforms.FitRepeatPad}
	if b.Has("padding") {
		switch b.String("padding") {
		case "repeatpad":
		case "repeat":
			fit.Mode = transforms.FitRepeat
		case "pad":
			fit.Mode = transforms.FitFill
		default:
			b.Bad("padding", `"repeatpad", "repeat" or "pad"`)
		}
	}
	fusion := true
	if b.Has("truncation") {
		switch b.String("truncation") {
		case "fusion":
		case "rand_trunc":
			fusion = false
		default:
			b.Bad("truncation", `"fusion" or "rand_trunc"`)
		}
	}
	s := transforms.NewSpectrogram(size, hop)
	s.MelLow, s.MelHigh = b.Number("frequency_min", 0, 0, importer.MaxSide), b.Number("frequency_max", 14000, 1, importer.MaxSide)
	s.Mels, s.Log, s.FramesFirst = mels, transforms.LogDecibel, true
	if fusion {
		s.MelScale, s.MelNorm = transforms.MelHTK, false
	}
	b.fit(fit, samples, samples, "mask")
	b.features(s, samples, "mel")
	b.step(transforms.NewReshape(1, 1+n/hop, mels), "mel", "input_features")
	longer := 0.0
	if fusion { // four times the same; one sound of a batch counts as longer
		b.step(transforms.NewSlice("0,0,0,0"), "input_features", "input_features")
		longer = 1
	}
	b.step(&transforms.Constant{Value: longer, DType: tensor.Bool}, samples, "longer")
	b.step(transforms.NewReshape(1), "longer", "is_longer")
	b.Outputs = []string{"input_features", "is_longer"}
}

func clvp(b *soundBuilder) {
	b.readRate(22050)
	b.Inert("chunk_length", "n_samples", "nb_max_frames", "return_attention_mask", "mel_filters")
	mels, hop, size := b.Int("feature_size", 80, 2, 1024), b.whole("hop_length", 256, importer.MaxSide), b.whole("n_fft", 1024, 1<<16)
	fit := transforms.NewFitSequence(b.duration("default_audio_length", 6))
	fit.Fill = b.fill()
	s := transforms.NewSpectrogram(size, hop)
	s.Mels, s.MelScale, s.Floor, s.Log, s.Std = mels, transforms.MelHTK, 1e-5, transforms.LogNatural, b.list("mel_norms", mels)
	b.fit(fit, samples, samples, "attention_mask")
	b.features(s, samples, "input_features")
	b.Outputs = []string{"input_features", "attention_mask"}
}

func univNet(b *soundBuilder) {
	b.readRate(24000)
	b.mono()
	b.Inert("model_in_channels", "pad_end_length", "num_max_samples")
	mels, hop, win := b.whole("num_mel_bins", 100, 1024), b.whole("hop_length", 256, 1<<16), b.whole("win_length", 1024, 1<<16)
	size := 1024
	if b.Null("filter_length") {
		b.Inert("filter_length")
		size = powerOf2(win)
	} else {
		size = b.whole("filter_length", size, 1<<16)
	}
	if win != size {
		b.Bad("win_length", "filter_length, "+strconv.Itoa(size))
	}
	if hop > size {
		b.Bad("hop_length", "at most filter_length, "+strconv.Itoa(size))
		hop = size
	}
	if b.Bool("center", false) {
		b.Bad("center", "false")
	}
	if b.Number("compression_factor", 1, -largest, largest) != 1 {
		b.Bad("compression_factor", "1")
	}
	s := transforms.NewSpectrogram(size, hop)
	s.Pad, s.Rule, s.Power, s.Root = (size-hop)/2, transforms.SpectrogramRoot32, 1, b.Number("mel_floor", 1e-9, 0, largest)
	s.Mels, s.MelLow, s.MelHigh = mels, b.Number("fmin", 0, 0, importer.MaxSide), float64(float64(b.rate)/2)
	if f, ok := b.optional("fmax", 1, importer.MaxSide); ok {
		s.MelHigh = f
	}
	s.Floor, s.Log, s.FramesFirst = b.Number("compression_clip_val", 1e-5, 0, largest), transforms.LogNatural, true
	if b.Has("win_function") {
		switch b.String("win_function") {
		case "hann_window", "hann":
		case "hamming_window", "hamming":
			s.Window = transforms.WindowHamming
		case "povey":
			s.Window = transforms.WindowPovey
		case "boxcar":
			s.Window = transforms.WindowBoxcar
		default:
			b.Bad("win_function", `"hann_window", "hamming_window", "povey" or "boxcar"`)
		}
	}
	low, high := b.Number("normalize_min", -11.512925148010254, -largest, largest), b.Number("normalize_max", 2.3143386840820312, -largest, largest)
	mask := b.Bool("return_attention_mask", true)
	b.fill() // what is shorter than a batch's longest sound
	b.fit(&transforms.FitSequence{Max: b.duration("max_length_s", 10), Cut: true, Multiple: 1}, samples, samples, "padding_mask")
	b.features(s, samples, "input_features")
	if b.Bool("do_normalize", false) {
		if float32(high-low) == 0 {
			b.Bad("normalize_max", "another number than normalize_min")
			return
		}
		b.step(&transforms.ScaleFeatures{Sub: low, Div: high - low, Mul: 2, Add: -1}, "input_features", "input_features")
	}
	b.Outputs = []string{"input_features"}
	if mask {
		b.Outputs = append(b.Outputs, "padding_mask")
	}
}

// gemmaKeys are the defaults of Gemma's classes.
type gemmaKeys struct {
	frame, low, high, preemphasis, floor float64
	overdrive                            bool
}

// gemma reads the keys that Gemma 3n and 4 share.
func gemma(b *soundBuilder, def gemmaKeys) *transforms.Spectrogram {
	b.readRate(16000)
	b.Inert("return_attention_mask") // an argument's default is true
	mels := b.Int("feature_size", 128, 2, 1024)
	length := func(key string, def float64) int {
		n := math.RoundToEven(float64(float64(b.rate)*b.Number(key, def, 0, 1e6)) / 1000)
		if !(n >= 1 && n <= 1<<15) {
			b.Bad(key, "a time of 1 to 32768 samples")
			return 1
		}
		return int(n)
	}
	s := transforms.NewSpectrogram(length("frame_length_ms", def.frame), length("hop_length_ms", 10))
	s.FFTLength = powerOf2(s.FrameLength)
	if b.Bool("fft_overdrive", def.overdrive) {
		s.FFTLength *= 2
	}
	s.Preemphasis = b.Number("preemphasis", def.preemphasis, 0, 1)
	if !b.Bool("preemphasis_htk_flavor", true) && s.Preemphasis != 0 {
		b.Bad("preemphasis_htk_flavor", "true")
	}
	b.noDither()
	s.Pad, s.Rule, s.Power, s.Scale = 0, transforms.SpectrogramSingle, 1, b.Number("input_scale_factor", 1, 1e-30, largest)
	s.Mels, s.MelScale, s.MelNorm = mels, transforms.MelHTK, false
	s.MelLow, s.MelHigh = b.Number("min_frequency", def.low, 0, importer.MaxSide), b.Number("max_frequency", def.high, 1, importer.MaxSide)
	s.Floor, s.Log, s.FramesFirst = b.Number("mel_floor", def.floor, 0, largest), transforms.LogNatural, true
	s.Mean, s.Std = b.list("per_bin_mean", mels), b.list("per_bin_stddev", mels)
	b.fit(&transforms.FitSequence{Max: 480000, Cut: true, Multiple: 128, Fill: b.fill()}, samples, samples, "mask")
	return s
}

func gemma3n(b *soundBuilder) {
	s := gemma(b, gemmaKeys{frame: 32, low: 125, high: 7600, preemphasis: 0.97, floor: 1e-5, overdrive: true})
	b.features(s, samples, "input_features")
	// A frame counts if its first sample does.
	b.step(transforms.NewSlice(":-"+strconv.Itoa(s.FrameLength)+":"+strconv.Itoa(s.HopLength)), "mask", "mask")
	b.step(transforms.NewToType(tensor.Bool), "mask", "input_features_mask")
	b.Outputs = []string{"input_features", "input_features_mask"}
}

func gemma4Audio(b *soundBuilder) {
	s := gemma(b, gemmaKeys{frame: 20, high: 8000, floor: 1e-3})
	s.Rule, s.AddFloor = transforms.SpectrogramRounded, true
	before := &transforms.FitSequence{Multiple: 1, Left: s.FrameLength / 2}
	b.fit(before, samples, "later", "later_mask")
	b.fit(before, "mask", "mask", "mask_rows")
	b.features(s, "later", "features")
	// A frame counts if the sample after its last one does.
	b.step(transforms.NewSlice(strconv.Itoa(s.FrameLength)+"::"+strconv.Itoa(s.HopLength)), "mask", "frames")
	b.Then(transforms.NewMaskSequence(), []string{"features", "frames"}, []string{"input_features"})
	b.step(transforms.NewToType(tensor.Bool), "frames", "input_features_mask")
	b.Outputs = []string{"input_features", "input_features_mask"}
}

func lasr(b *soundBuilder) {
	b.readRate(16000)
	b.Inert("return_attention_mask", "padding_value") // without an argument, there is no mask
	mels, hop := b.Int("feature_size", 128, 1, 1024), b.whole("hop_length", 160, importer.MaxSide)
	s := transforms.NewSpectrogram(b.whole("win_length", 400, 1<<16), hop)
	s.FFTLength, s.Pad, s.Periodic, s.Rule = b.whole("n_fft", 512, 1<<16), 0, false, transforms.SpectrogramDouble
	s.Mels, s.MelScale, s.MelLow, s.MelHigh, s.MelTriangles, s.MelNorm = mels, transforms.MelKaldi, 125, 7500, true, false
	s.Floor, s.Log, s.FramesFirst = 1e-5, transforms.LogNatural, true
	b.features(s, samples, "input_features")
	b.Outputs = []string{"input_features"}
}
