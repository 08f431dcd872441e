// Package kaldi reads and writes Kaldi's archives (ark) and scripts (scp). They
// hold matrices and vectors of float32 and float64, compressed matrices and
// vectors of int32, binary or as text, and PCM waves. Package records reads the
// same files as records.
//
// An archive is a sequence of entries: a key, a blank and an object. It has no
// magic, no lengths and no checksums. A reader must therefore parse each object
// to find the next one, and can detect only part of the damage, as
// docs/format/kaldi.md describes. [Reader] reads an archive in order and can
// report an object's type and shape without reading its data. [Script] reads
// objects in any order, at the places that a script names.
//
// Reading is strict: a file that ends within an entry, a key that is not UTF-8
// text, and a text object without a line end are a [records.CorruptionError].
// The package runs no commands: a script line with a command (a pipe) is a
// [PipeError] unless Options.Run is set. Kaldi's other objects, such as
// posteriors, and kaldiio's entries with a pickle, an array or a sound file are
// a [records.ErrUnsupported] that names them.
//
// Reference: kaldi_native_io 1.23.0, bit for bit, for compressed matrices too.
// kaldiio 2.18.1 decompresses matrices with differences in the last bits.
package kaldi

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Type is the type of an object. Some binary vectors of int32 and some texts
// look like other objects of Kaldi, so the caller can state the type in
// Options.
type Type uint8

// The types.
const (
	// Any detects the type. A marker decides if there is one. A binary object
	// of int32 is an IntVector, as in kaldiio. Text in brackets is a Matrix if
	// it has a line end or a semicolon, else a Vector; other text is an
	// IntVector.
	Any       Type = iota
	Matrix         // (rows, columns) of float32 or float64
	Vector         // (n) of float32 or float64
	IntVector      // (n) of int32
	Wave           // (samples, channels) of int16, or uint8
)

var typeNames = [...]string{"any", "matrix", "vector", "vector of int32", "wave"}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// Form is the way an object is stored.
type Form uint8

// The forms.
const (
	Binary Form = iota
	Text
	CM  // one byte per element, and four points per column
	CM2 // two bytes per element
	CM3 // one byte per element
	RIFF
)

var formNames = [...]string{"binary", "text", "CM", "CM2", "CM3", "RIFF"}

func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("form(%d)", uint8(f))
}

// Header describes an object without its data.
type Header struct {
	Key    string // empty for an object read at a place that a script names
	Offset int64  // of the object, after the key's blank, as in a script
	Type   Type   // never Any
	Form   Form
	// DType and Shape describe the tensor that Read returns. Compressed
	// matrices and text are Float32 unless Options.DType is set.
	DType tensor.DType
	Shape tensor.Shape
	// Rate is the sample rate of a wave, per channel.
	Rate int
}

// ErrPipe reports a command in a script. Every PipeError matches it.
var ErrPipe = errors.New("a command, which is not run")

// corrupt returns the error of damage in a file. key is that of the damaged
// entry, or empty.
func corrupt(file string, offset int64, key, detail string, args ...any) error {
	if key != "" {
		detail, args = "%q: "+detail, append([]any{key}, args...)
	}
	return records.Corruptf(formatName, file, offset, detail, args...)
}

// where returns the start of a message that names a place in a file.
func where(file, key string, offset int64) (s string) {
	if file != "" {
		s = store.Redact(file) + ": "
	}
	s += fmt.Sprintf("at byte %d: ", offset)
	if key != "" {
		s += fmt.Sprintf("%q: ", key)
	}
	return s
}

// PipeError is a script line with a command in place of a file. It matches
// ErrPipe.
type PipeError struct {
	File    string // the script
	Line    int    // from 1
	Key     string
	Command string
}

func (e *PipeError) Error() string {
	return fmt.Sprintf("kaldi: %s: line %d: %q: %v: %q; run it first and name its output in the script", store.Redact(e.File), e.Line, e.Key, ErrPipe, e.Command)
}

// Is reports whether target is ErrPipe.
func (e *PipeError) Is(target error) bool { return target == ErrPipe }
