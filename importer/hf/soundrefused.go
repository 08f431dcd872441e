//go:build !small

package hf

func init() {
	for reason, names := range map[string][]string{
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
