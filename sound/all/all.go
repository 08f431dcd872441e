// Package all links every sound format, by importing them.
package all

import (
	_ "github.com/infer-prep/infer-prep/sound/aiff" // registers AIFF
	_ "github.com/infer-prep/infer-prep/sound/au"   // registers AU
	_ "github.com/infer-prep/infer-prep/sound/flac" // registers FLAC
	_ "github.com/infer-prep/infer-prep/sound/mp3"  // registers MP3
	_ "github.com/infer-prep/infer-prep/sound/wav"  // registers WAV
)
