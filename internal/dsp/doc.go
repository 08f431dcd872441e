// Package dsp computes features of sound: windows, Fourier transforms, filter
// banks of mels and spectrograms, with the order of operations of NumPy and
// transformers. Results have the same bits on every platform.
package dsp
