//go:build !small

package hf

func init() {
	const (
		stft  = "torch.stft returns other bits on other processors, so no rule of this package has its bits"
		fbank = "its features are torchaudio's, in float32, which differ from processor to processor"
	)
	for reason, names := range map[string][]string{
		stft: {
			"ParakeetFeatureExtractor", "NemotronAsrStreamingFeatureExtractor", "CohereAsrFeatureExtractor", "VoxtralRealtimeFeatureExtractor",
			"Qwen3ASRFeatureExtractor", "Dots3NoteFeatureExtractor", "MossTranscribeDiarizeFeatureExtractor", "InklingFeatureExtractor",
		},
		fbank: {"FunAsrNanoFeatureExtractor", "NeuCodecFeatureExtractor", "Xcodec2FeatureExtractor", "GraniteSpeechFeatureExtractor", "GraniteSpeech5FeatureExtractor"},
		"its products of float32 matrices are torch's, which differ from processor to processor": {"Phi4MultimodalFeatureExtractor"},
		"its chroma features are torchaudio's":                                                   {"MusicgenMelodyFeatureExtractor"},
		"it finds beats with essentia, and resamples with librosa":                               {"Pop2PianoFeatureExtractor"},
		"it normalizes loudness with torch":                                                      {"VibeVoiceAcousticTokenizerFeatureExtractor", "PocketTTSFeatureExtractor"},
		"its window and floor are others than Gemma 3n's, and not implemented":                   {"Gemma4AudioFeatureExtractor"},
	} {
		for _, n := range names {
			sounds[n] = sound{refused: reason}
		}
	}
}
