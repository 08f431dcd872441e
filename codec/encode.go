package codec

import (
	"slices"
	"strings"

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

// Encoder describes an encoder of JPEG files besides that of codec/jpeg. Its
// package registers it when it is imported, as codec/jpegli does.
type Encoder struct {
	Name    string   // lower case: "jpegli"
	Version string   // of the library: another one may write other bytes
	Chroma  []Chroma // the chroma resolutions that it supports
	New     func() FormatEncoder
}

// encoders is not a registry.Registry, which a program that registers no
// encoder would link. Only init functions write it.
var encoders []Encoder

// RegisterEncoder adds an encoder. Packages of encoders call it from init. It
// panics if the name is empty or taken, or if New is missing.
func RegisterEncoder(e Encoder) {
	if e.Name == "" || e.New == nil || slices.ContainsFunc(encoders, func(other Encoder) bool { return other.Name == e.Name }) {
		panic("register encoder " + e.Name + ": want New, and a name that is not taken")
	}
	encoders = append(encoders, e)
	slices.SortFunc(encoders, func(a, b Encoder) int { return strings.Compare(a.Name, b.Name) })
}

// Encoders returns the registered encoders, sorted by name.
func Encoders() []Encoder { return slices.Clone(encoders) }
