//go:build !small

package hf

func init() {
	for reason, names := range map[string][]string{
		"its features are torchaudio's, in float32, which differ from processor to processor": {"FunAsrNanoFeatureExtractor", "NeuCodecFeatureExtractor", "Xcodec2FeatureExtractor"},
		"it adds torch's random numbers to the samples":                                       {"CohereAsrFeatureExtractor"},
		"its deltas are torchaudio's":                                                         {"GraniteSpeech5FeatureExtractor"},
		"its chroma features are torchaudio's":                                                {"MusicgenMelodyFeatureExtractor"},
		"it finds beats with essentia, and resamples with librosa":                            {"Pop2PianoFeatureExtractor"},
		"it normalizes loudness with torch":                                                   {"VibeVoiceAcousticTokenizerFeatureExtractor", "PocketTTSFeatureExtractor"},
	} {
		for _, n := range names {
			sounds[n] = sound{refused: reason}
		}
	}
}
