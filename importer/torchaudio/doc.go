// Package torchaudio imports transforms of torchaudio, listed as JSON with the
// arguments of their constructors:
//
//	{"transforms": [
//	  {"type": "torchaudio.transforms.Resample", "orig_freq": 44100, "new_freq": 16000},
//	  {"type": "torchaudio.transforms.MelSpectrogram", "sample_rate": 16000, "n_mels": 80},
//	  {"type": "torchaudio.transforms.AmplitudeToDB", "top_db": 80}
//	]}
//
// Python prints these transforms without their arguments, so a print cannot be
// imported. An argument that is left out has torchaudio's default. Supported
// are:
//
//   - Resample with resampling_method sinc_interp_hann.
//   - Speed and Preemphasis.
//   - Spectrogram with power 1 or 2, and MelSpectrogram. window_fn is
//     "torch.hann_window", "torch.hamming_window" or "torch.ones"; pad_mode is
//     "reflect" or "constant"; normalized is false.
//   - MelScale after a Spectrogram.
//   - AmplitudeToDB after one of these, of the same stype.
//   - MFCC, whose melkwargs are the arguments of MelSpectrogram.
//   - ComputeDeltas with mode replicate, after features.
//
// Every other transform is an ErrUnsupported.
//
// Small builds have no ops on sound, and no such importer.
//
// The reference is torchaudio 2.11.0 with torch 2.15.0. Resample, Speed
// and Preemphasis have its bits. Those of spectrograms depend on the processor;
// docs/exactness.md has the distances. The output is the column features,
// float32 (rows, frames), or samples, float32 (samples), if the last transform
// returns samples.
package torchaudio
