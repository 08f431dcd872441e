//go:build !small

package hf

func init() {
	for reason, names := range map[string][]string{
		"its features are torchaudio's, in float32, which differ from processor to processor":             {"FunAsrNanoFeatureExtractor", "NeuCodecFeatureExtractor", "Xcodec2FeatureExtractor"},
		"it adds numbers of torch's generator to the samples, which needs an op with that generator":      {"CohereAsrFeatureExtractor"},
		"its deltas of features need an op with torchaudio's compute_deltas":                              {"GraniteSpeech5FeatureExtractor"},
		"its chroma features need an op with the filters of librosa's chroma and the largest of each row": {"MusicgenMelodyFeatureExtractor"},
		"it finds beats with essentia and resamples with librosa, neither of which has an op":             {"Pop2PianoFeatureExtractor"},
		"its loudness needs an op with torch's mean of squares":                                           {"VibeVoiceAcousticTokenizerFeatureExtractor"},
		"its fade needs an op with torch's ramp":                                                          {"PocketTTSFeatureExtractor"},
	} {
		for _, n := range names {
			sounds[n] = sound{refused: reason}
		}
	}
}
