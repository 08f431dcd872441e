// Package mp3 decodes MP3 files: MPEG-1, 2 and 2.5 audio of layer III.
//
// The reference is libsndfile, which decodes with mpg123. The number of samples
// is equal: the frame of a Xing or LAME tag is not decoded, and the encoder's
// delay and padding are removed if the tag states them. The samples differ by
// the rounding of mpg123, which computes in 32 bits; docs/exactness.md has the
// measured difference. This package computes in 64 bits, with the same result
// on every platform.
//
// A frame that needs data of a frame that is missing is silent, as in mpg123.
// Up to 1023 bytes that are no frame are skipped between frames. A last frame
// that is not complete is left out. Data after the samples that the tag counts
// is not decoded. Files whose sampling rate or number of channels changes,
// layers I and II, and streams of free bit rate are errors.
//
// A file of variable bit rate without a tag is decoded to its end. libsndfile
// estimates the length of such a file by its first frame and returns no more
// samples than that.
package mp3
