// Package librosa imports the arguments of librosa's calls as JSON:
//
//	{"librosa.feature.melspectrogram": {"sr": 16000, "n_fft": 400, "hop_length": 160, "n_mels": 80},
//	 "librosa.power_to_db": {"ref": 1.0, "top_db": 80}}
//
//	{"librosa.feature.mfcc": {"sr": 16000, "n_mfcc": 13}}
//
// An argument that is left out has librosa's default. The window is "hann" or
// "hamming", pad_mode "constant" or "reflect", and power 1 or 2; the ref of
// power_to_db is a number. np.max and everything else is refused.
//
// Small builds have no ops on sound, and no such importer.
//
// The reference is librosa 0.11.0 with NumPy 2.4.6 and SciPy 1.16.3. Its bits
// depend on the processor, because it sums filters by BLAS; docs/exactness.md
// has the distances. The output is the column features, float32 (rows, frames).
package librosa
