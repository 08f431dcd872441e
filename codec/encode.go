package codec

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Chroma is the resolution of the colour channels of an encoded image.
type Chroma uint8

// The resolutions.
const (
	ChromaDefault Chroma = iota // the encoder's own choice
	Chroma420                   // half the width and height
	Chroma422                   // half the width
	Chroma444                   // full size
	Chroma440                   // half the height
	Chroma411                   // a quarter of the width
)

var chromaNames = []string{"default", "420", "422", "444", "440", "411"}

// String returns the name: "default", "420", "422", "444", "440" or "411".
func (c Chroma) String() string { return enum.String("chroma", chromaNames, c) }

// MarshalText writes the name.
func (c Chroma) MarshalText() ([]byte, error) { return enum.Format("chroma", chromaNames, c) }

// UnmarshalText reads the name.
func (c *Chroma) UnmarshalText(b []byte) error { return enum.Parse(c, "chroma", chromaNames, b) }

// EncodeOptions configures a FormatEncoder.
type EncodeOptions struct {
	Quality int    // 1 to 100; 0 is the encoder's default
	Chroma  Chroma // no effect on gray images
}

// FormatEncoder encodes images of one format. It keeps its memory for the next
// image. One goroutine at a time uses it.
type FormatEncoder interface {
	// Encode appends the file of t, a uint8 HWC image of one channel (gray) or
	// three (RGB), to dst. On error it returns dst unchanged.
	Encode(dst []byte, t *tensor.Tensor, o EncodeOptions) ([]byte, error)
}

// NewEncoder returns an encoder of a linked format. The error is of kind
// ErrUnsupported if the format is not linked or has no encoder.
//
// A program that does not call NewEncoder does not link the encoders: they are
// made by a method of the format's decoder.
func NewEncoder(format string) (FormatEncoder, error) {
	f, ok := formats.Get(format)
	if !ok {
		return nil, notLinked(format, format)
	}
	d, ok := f.New().(interface{ NewEncoder() FormatEncoder })
	if !ok {
		return nil, Errorf(format, -1, ErrUnsupported, "no encoder")
	}
	return d.NewEncoder(), nil
}
