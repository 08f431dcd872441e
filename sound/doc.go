// Package sound decodes sound files to exactly the samples of libsndfile. MP3
// files have samples that differ by up to 2e-6; see package sound/mp3.
//
// The format packages register themselves when they are imported. Import
// sound/all for every format, or only the packages that are needed:
//
//	import _ "github.com/infer-prep/infer-prep/sound/all"
//
// Samples are float32. Integers of n bits are divided by 2^(n-1), so they are
// from -1 up to but not including 1; floating-point samples are not clipped.
// The order is channel after channel, as torchaudio.load returns them.
//
// [Decode] decodes one sound. To decode many, keep a [Decoder] for each
// goroutine: it reuses its memory. A [Reader] reads a stream in blocks, such as
// a pipe, in bounded memory.
//
// Errors about a sound are of type [*codec.Error]. codec.Limits.Bytes bounds
// the memory of one sound; the other limits are for images.
package sound
