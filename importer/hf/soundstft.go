//go:build !small

package hf

import (
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes compute their features with torch in float32, whose bits depend
// on the processor. Their graphs are close, not equal: docs/exactness.md has
// the distances.
func init() {
	for name, build := range map[string]func(*soundBuilder){
		"ParakeetFeatureExtractor":              parakeet,
		"CohereAsrFeatureExtractor":             cohereASR,
		"NemotronAsrStreamingFeatureExtractor":  nemotronAsr,
		"VoxtralRealtimeFeatureExtractor":       voxtralRealtime,
		"Qwen3ASRFeatureExtractor":              qwen3ASR,
		"Dots3NoteFeatureExtractor":             dots3Note,
		"MossTranscribeDiarizeFeatureExtractor": moss,
		"InklingFeatureExtractor":               inklingAudio,
		"GraniteSpeechFeatureExtractor":         graniteSpeech,
		"Phi4MultimodalFeatureExtractor":        phi4Multimodal,
	} {
		sounds[name] = sound{bounded: true, build: build}
	}
}

// stft returns the spectrogram of torch.stft with centred frames: n_fft of
// size, and windows of win samples in their middle. Without reflect, the
// samples around the sound are not part of it.
func (b *soundBuilder) stft(size, win, hop int, reflect bool) *transforms.Spectrogram {
	s := transforms.NewSpectrogram(win, hop)
	s.FFTLength, s.Rule, s.Pad = size, transforms.SpectrogramTorch, 0
	if reflect {
		s.Pad = win / 2
	}
	return s
}

// sizes reads n_fft, win_length and hop_length.
func (b *soundBuilder) sizes(defSize, defWin int) (size, win, hop int) {
	size, win, hop = b.whole("n_fft", defSize, 1<<16), b.whole("win_length", defWin, 1<<16), b.whole("hop_length", 160, importer.MaxSide)
	if size%2 != 0 || win%2 != 0 {
		b.Bad("n_fft", "even, as win_length")
	}
	if win > size {
		b.Bad("win_length", "at most n_fft, "+strconv.Itoa(size))
		win = size
	}
	return size, win, hop
}

// nemo adds the features of NVIDIA's NeMo up to its logarithm, without the last
// frame, which counts as padding.
func nemo(b *soundBuilder, mels int) {
	size, win, hop := b.sizes(512, 400)
	emphasis, emphasizes := 0.97, true
	if b.Has("preemphasis") {
		emphasis, emphasizes = b.optional("preemphasis", -largest, largest)
	}
	b.fill()
	b.Inert("return_attention_mask")
	in := samples
	if emphasizes {
		b.step(transforms.NewPreemphasis(emphasis), samples, "emphasized")
		in = "emphasized"
	}
	b.fit(&transforms.FitSequence{Multiple: 1, Left: win / 2, Right: win / 2}, in, "padded", "padded_mask")
	s := b.stft(size, win, hop, false)
	s.Periodic, s.Mels, s.MelHigh = false, mels, float64(float64(b.rate)/2)
	s.Floor, s.AddFloor, s.Log, s.FramesFirst = 0x1p-24, true, transforms.LogNatural, true
	b.features(s, "padded", "features")
	b.step(transforms.NewSlice(":-1"), "features", "features")
}

// nemoMask adds the last frame again, and the mask.
func nemoMask(b *soundBuilder) {
	b.fit(&transforms.FitSequence{Multiple: 1, Right: 1}, "features", "input_features", "frames")
	b.step(transforms.NewToType(tensor.Bool), "frames", "attention_mask")
	b.Outputs = []string{"input_features", "attention_mask"}
	b.padsTo(0, "input_features", "attention_mask")
}

func parakeet(b *soundBuilder) {
	b.readRate(16000)
	nemo(b, b.whole("feature_size", 80, 1024))
	b.step(&transforms.NormalizeSequence{Rule: transforms.SequenceFeatures, Mean: true, Var: true}, "features", "features")
	nemoMask(b)
}

// cohereASR has the steps of parakeet. Its dither has the seed of the number of
// samples.
func cohereASR(b *soundBuilder) {
	b.readRate(16000)
	if b.Number("dither", 1e-5, -largest, largest) > 0 {
		b.Fail(importer.ErrUnsupported, "dither", "above 0, its default, adds numbers of torch's generator, which has no op; want 0")
	}
	b.Inert("min_energy_window_samples")
	rate := float64(b.rate)
	chunk := int(math.RoundToEven(float64(b.Number("max_audio_clip_s", 35, 0, importer.MaxSide/rate) * rate)))
	b.Number("overlap_chunk_second", 5, 0, largest) // where longer sounds are cut
	mels := b.whole("feature_size", 128, 1024)
	// transformers cuts longer sounds into several rows.
	b.fit(&transforms.FitSequence{Max: max(1, chunk), Multiple: 1}, samples, samples, "clip")
	nemo(b, mels)
	b.step(&transforms.NormalizeSequence{Rule: transforms.SequenceFeatures, Mean: true, Var: true}, "features", "features")
	nemoMask(b)
}

func nemotronAsr(b *soundBuilder) {
	b.readRate(16000)
	nemo(b, b.whole("feature_size", 80, 1024))
	if v := b.String("mel_filters_dtype"); v != "" && v != "float32" {
		b.Bad("mel_filters_dtype", `"float32"`)
	}
	nemoMask(b)
}

// log10Mels adds Whisper's features, frames first and without the last frame.
func (b *soundBuilder) log10Mels(size, hop, mels int, floor float64, in, out string) {
	s := b.stft(size, size, hop, true)
	s.Mels, s.Log, s.Floor, s.FramesFirst = mels, transforms.LogDecimal, floor, true
	b.features(s, in, out)
	b.step(transforms.NewSlice(":-1"), out, out)
}

// scaleWhisper adds Whisper's scaling.
func (b *soundBuilder) scaleWhisper(column string) {
	scale := transforms.NewScaleFeatures(-4, 4)
	scale.Range = 8
	b.step(scale, column, column)
}

// melsFirst exchanges the axes of features.
func (b *soundBuilder) melsFirst(in, out string) { b.step(transforms.NewTranspose(1, 0), in, out) }

// every returns the slice of each n-th row.
func every(n int) *transforms.Slice { return transforms.NewSlice("::" + strconv.Itoa(n)) }

// count adds the number of rows of a column.
func (b *soundBuilder) count(in, out string) { b.step(transforms.NewRowCount(), in, out) }

// match cuts the rows of a column to those of another one.
func (b *soundBuilder) match(in, other, out string) {
	b.Then(transforms.NewMatchRows(), []string{in, other}, []string{out})
}

// marks adds a mask of true for each row of a column.
func (b *soundBuilder) marks(in, out string) {
	b.fit(&transforms.FitSequence{Multiple: 1}, in, in+"_rows", out+"_numbers")
	b.step(transforms.NewToType(tensor.Bool), out+"_numbers", out)
}

func voxtralRealtime(b *soundBuilder) {
	b.readRate(16000)
	mels := b.Int("feature_size", 128, 2, 1024)
	size, hop := b.evenFFT(400)
	b.fill()
	b.Inert("win_length", "return_attention_mask") // an argument's default is no mask
	peak, fixed := 1.5, true
	if b.Has("global_log_mel_max") {
		peak, fixed = b.optional("global_log_mel_max", -30, 30)
	}
	floor := 1e-10
	if fixed {
		floor = max(floor, exactmath.Pow(10, peak-8))
	}
	b.log10Mels(size, hop, mels, floor, samples, "features")
	if fixed {
		b.step(transforms.NewScaleFeatures(-4, 4), "features", "features")
	} else {
		b.scaleWhisper("features")
	}
	b.melsFirst("features", "input_features")
	b.Outputs = []string{"input_features"}
}

// evenFFT reads n_fft and hop_length.
func (b *soundBuilder) evenFFT(def int) (size, hop int) {
	size, hop = b.whole("n_fft", def, 1<<16), b.whole("hop_length", 160, importer.MaxSide)
	if size%2 != 0 {
		b.Bad("n_fft", "even")
	}
	return size, hop
}

// likeWhisper reads the keys that classes share that were made from Whisper's.
func (b *soundBuilder) likeWhisper(defMels int) (size, hop, mels int) {
	b.readRate(16000)
	mels = b.Int("feature_size", defMels, 2, 1024)
	size, hop = b.evenFFT(400)
	b.noDither()
	b.Inert("n_samples", "nb_max_frames", "mel_filters")
	return size, hop, mels
}

func qwen3ASR(b *soundBuilder) {
	size, hop, mels := b.likeWhisper(128)
	n, fill := b.duration("chunk_length", 30), b.fill()
	if !b.Bool("return_attention_mask", true) { // transformers 5.23.0 raises a KeyError
		b.Bad("return_attention_mask", "true; the mask is returned only if an argument asks for it")
	}
	least := b.Int("min_length", 8000, 0, importer.MaxSide)
	group := max(1, 2*b.Int("n_window", 50, 0, importer.MaxSide/2))
	b.fit(&transforms.FitSequence{Length: least, Multiple: 1}, samples, "least", "least_mask") // counts as sound
	b.fit(&transforms.FitSequence{Length: n, Multiple: 1, Fill: fill}, "least", "padded", "padded_mask")
	b.log10Mels(size, hop, mels, 1e-10, "padded", "features")
	b.scaleWhisper("features")
	b.fit(&transforms.FitSequence{Multiple: group}, "features", "grouped", "grouped_mask")
	b.melsFirst("grouped", "input_features")
	b.Outputs = []string{"input_features"}
}

// oneChunk pads to the length of a chunk. transformers cuts longer sounds into
// several chunks, whose number of rows no graph has.
func (b *soundBuilder) oneChunk(n int) {
	b.fit(&transforms.FitSequence{Max: n, Length: n, Multiple: 1, Fill: b.fill()}, samples, "padded", "padded_mask")
}

func dots3Note(b *soundBuilder) {
	size, hop, mels := b.likeWhisper(128)
	n := b.duration("chunk_length", 60)
	if b.Has("chunk_seconds") && !b.Null("chunk_seconds") {
		n = b.duration("chunk_seconds", 60)
	}
	b.Inert("chunk_seconds", "return_attention_mask")
	token := 8 * hop
	if n%token != 0 {
		b.Bad("chunk_length", "a multiple of 8 hop_length, "+strconv.Itoa(token)+" samples")
	}
	b.oneChunk(n)
	b.log10Mels(size, hop, mels, 1e-10, "padded", "features")
	b.scaleWhisper("features")
	b.fit(&transforms.FitSequence{Multiple: token}, samples, "tokens", "tokens_mask")
	b.step(every(hop), "tokens", "hops")
	b.match("features", "hops", "kept")
	b.melsFirst("kept", "input_features")
	b.count(samples, "chunk_sample_lengths")
	b.step(every(token), "tokens", "every_token")
	b.count("every_token", "num_audio_tokens")
	b.Outputs = []string{"input_features", "chunk_sample_lengths", "num_audio_tokens"}
}

func moss(b *soundBuilder) {
	size, hop, mels := b.likeWhisper(80)
	b.Inert("return_attention_mask")
	b.oneChunk(b.duration("chunk_length", 30))
	b.log10Mels(size, hop, mels, 1e-10, "padded", "features")
	b.scaleWhisper("features")
	b.melsFirst("features", "input_features")
	b.step(every(hop), "padded_mask", "hops")
	b.match("hops", "features", "input_features_mask")
	b.fit(&transforms.FitSequence{Multiple: 1}, samples, "sound", "ones")
	b.step(transforms.NewToType(tensor.Int64), "ones", "padding_mask")
	b.Outputs = []string{"input_features", "input_features_mask", "padding_mask"}
}

func inklingAudio(b *soundBuilder) {
	b.readRate(16000)
	b.Inert("return_attention_mask") // an argument's default is true
	b.fill()
	mels := b.whole("feature_size", 80, 1024)
	token, times := b.Number("audio_token_duration_s", 0.05, 0, 1e3), b.Number("window_size_multiplier", 2, 0, 1e3)
	length := func(key string, v float64, most int) int {
		n := math.RoundToEven(v)
		if !(n >= 1 && n <= float64(most)) || math.Abs(v-n) > 1e-6 {
			b.Bad(key, "a whole number of samples")
			return 1
		}
		return int(n)
	}
	hop := length("audio_token_duration_s", float64(token*float64(b.rate)), importer.MaxSide)
	win := length("window_size_multiplier", float64(float64(token*times)*float64(b.rate)), 1<<16)
	size := win
	if v, ok := b.Get("n_fft"); ok && v != nil {
		size = b.whole("n_fft", win, 1<<16)
	}
	if win > size || (size-win)%2 != 0 {
		b.Bad("n_fft", "at least the window's "+strconv.Itoa(win)+" samples, and both even or odd")
		return
	}
	b.fit(&transforms.FitSequence{Multiple: hop, Left: max(size-hop, 0)}, samples, "padded", "padded_mask")
	in := "padded"
	if edge := (size - win) / 2; edge > 0 {
		in = "inner"
		b.step(transforms.NewSlice(strconv.Itoa(edge)+":-"+strconv.Itoa(edge)), "padded", in)
	}
	s := b.stft(size, win, hop, false)
	s.Power, s.Root, s.Mels, s.MelHigh, s.Log, s.FramesFirst = 1, 1e-10, mels, float64(float64(b.rate)/2), transforms.LogDecimal, true
	b.features(s, in, "input_features")
	b.marks("input_features", "input_features_mask")
	b.Outputs = []string{"input_features", "input_features_mask"}
	b.padsTo(0, "input_features", "input_features_mask")
}

// torchHTK returns torchaudio's MelSpectrogram with its logarithm.
func (b *soundBuilder) torchHTK(size, win, hop, mels int) *transforms.Spectrogram {
	s := b.stft(size, win, hop, true)
	s.Mels, s.MelScale, s.MelNorm, s.MelHigh = mels, transforms.MelTorchHTK, false, float64(b.rate/2)
	s.Log, s.FramesFirst = transforms.LogDecimal, true
	return s
}

// paired joins pairs of rows, without an odd last one.
func (b *soundBuilder) paired(in, out string, columns int) {
	b.fit(&transforms.FitSequence{Multiple: 2}, in, "even", "even_mask")
	b.step(transforms.NewReshape(-1, 2*columns), "even", "pairs")
	b.step(transforms.NewSlice("1::2"), in, "seconds")
	b.match("pairs", "seconds", out)
}

func graniteSpeech(b *soundBuilder) {
	b.readRate(16000)
	size, win, hop := b.sizes(512, 400)
	mels := b.whole("n_mels", 80, 1024)
	b.fill()
	b.Inert("feature_size", "return_attention_mask")
	projector, rate := b.whole("projector_window_size", 15, 1<<16), b.whole("projector_downsample_rate", 5, 1<<16)
	each := projector / rate
	if each < 1 || each > 2*mels {
		b.Bad("projector_window_size", "1 to "+strconv.Itoa(2*mels)+" times projector_downsample_rate")
		return
	}
	b.features(b.torchHTK(size, win, hop, mels), samples, "frames")
	b.step(&transforms.ScaleFeatures{Range: 8, Div: 4, Mul: 1, Add: 1}, "frames", "frames")
	b.paired("frames", "input_features", mels)
	// Blocks of pairs, each of which the model makes into a few embeddings.
	b.step(every(projector), "input_features", "blocks")
	b.step(transforms.NewSlice(":", ":"+strconv.Itoa(each)), "blocks", "block_embeddings")
	b.step(transforms.NewReshape(-1), "block_embeddings", "embeddings")
	b.count("embeddings", "audio_embed_sizes")
	b.marks("embeddings", "input_features_mask")
	b.Outputs = []string{"input_features", "audio_embed_sizes", "input_features_mask"}
}

func phi4Multimodal(b *soundBuilder) {
	b.readRate(16000)
	size, win, hop := b.sizes(512, 400)
	s := transforms.NewSpectrogram(win, hop)
	s.FFTLength, s.Pad, s.Scale, s.Rule = size, 0, 1<<15, transforms.SpectrogramMixed
	s.Window, s.Periodic, s.Preemphasis = transforms.WindowHamming, false, b.Number("preemphasis", 0.97, 0, 1)
	s.Mels, s.MelScale, s.MelTriangles, s.MelNorm = b.whole("feature_size", 80, 1024), transforms.MelKaldi, true, false
	s.MelLow, s.MelHigh = b.Number("mel_min_frequency", 0, 0, importer.MaxSide), b.Number("mel_max_frequency", 7690, 1, importer.MaxSide)
	s.Floor, s.Log, s.FramesFirst = 1, transforms.LogNatural, true
	b.fill()
	b.Inert("return_attention_mask")
	if b.whole("audio_feat_stride", 1, 1<<16) != 1 {
		b.Bad("audio_feat_stride", "1")
	}
	compress, down := b.whole("audio_compression_rate", 8, 1<<16), b.whole("audio_downsample_rate", 1, 1<<16)
	b.features(s, samples, "audio_input_features")
	b.step(every(compress), "audio_input_features", "compressed")
	b.step(every(down), "compressed", "embeddings")
	b.count("embeddings", "audio_embed_sizes")
	b.Outputs = []string{"audio_input_features", "audio_embed_sizes"}
}
