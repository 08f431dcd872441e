// Package sounds has what the importers of torchaudio and of librosa share:
// parts of graphs of spectrograms, and their arguments.
package sounds
