// Package kaldi imports Kaldi's files of options for features, such as
// conf/fbank.conf and conf/mfcc.conf: lines of the form --name=value, and
// comments behind #.
//
//	--use-energy=false  # the only option that differs
//	--num-mel-bins=80
//	--dither=0
//
// The backend fbank is compute-fbank-feats, and the backend mfcc is
// compute-mfcc-feats. By default an option that only one of them has, such as
// --num-ceps or --use-log-fbank, chooses it. A file without such an option is
// an ErrMissing.
//
// Missing options have Kaldi's defaults, for example --sample-frequency=16000,
// --num-mel-bins=23 and --dither=1.0. An option that Kaldi does not have, and
// one with an effect that this package does not have, is an error that names
// it: resampling, warped filters, other windows than Kaldi's own, and options
// of the program for tables of files.
//
// The graph reads a sound file of one channel, or the first channel of several,
// at --sample-frequency. It returns the column feats, float32 (frames, values).
// With --dither above 0 it starts with the random op random_dither. The values
// are close to Kaldi's, not equal: docs/exactness.md has the distances.
//
// The reference is Kaldi 5.5, as torchaudio 2.11.0 (compliance.kaldi) and
// kaldi-native-fbank 1.23.0 compute its features.
package kaldi
