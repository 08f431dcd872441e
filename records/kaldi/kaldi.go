// Package kaldi reads and writes Kaldi's archives (ark) and scripts (scp): matrices
// and vectors of float32 and float64, compressed matrices, vectors of int32, all of
// them binary or as text, and PCM waves.
//
// An archive is entries one after another, each a key, a blank and an object. There
// is no magic, no length and no checksum, so an archive can be walked only by
// understanding each object, and what of its damage is found is little:
// docs/format/kaldi.md says what. [Reader] walks an archive; it can tell an object's
// type and shape without reading its data. [Script] reads objects at the places that
// a script names, in any order.
//
// Reading is strict: a file that ends within an entry, keys that are no UTF-8 text
// and text objects without the line's end behind them are a [records.CorruptionError].
// Nothing is ever run: lines of a script that are commands (a pipe) are a
// [PipeError] unless the caller gives a function that runs them, and kaldiio's
// pickled entries are refused.
//
// Reference: Kaldi's reading and writing as in kaldi_native_io 1.23.0, bit for bit
// also where compressed matrices are made or read; and kaldiio 2.18.1, whose
// compressed matrices differ in the last bits when it reads them.
package kaldi

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// Type is what an object is. A binary vector of int32 and text cannot be told from
// other objects that Kaldi has, so the reader may be told what to expect.
type Type uint8

// The types.
const (
	// Any is what the object looks like: what begins with a marker is that;
	// a binary object of int32 is an IntVector (as kaldiio has it); text in brackets
	// is a Matrix if it has a line's end or a semicolon, else a Vector; other text is an IntVector.
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

// Form is how an object is stored.
type Form uint8

// The forms.
const (
	Binary Form = iota
	Text
	CM  // one byte an element, and four points of each column
	CM2 // two bytes an element
	CM3 // one byte an element
	RIFF
)

var formNames = [...]string{"binary", "text", "CM", "CM2", "CM3", "RIFF"}

func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("form(%d)", uint8(f))
}

// Header tells of an object without its data.
type Header struct {
	Key    string // empty if it was read through a script's place
	Offset int64  // of the object, behind the key's blank: what a script names
	Type   Type   // never Any
	Form   Form
	// DType and Shape are those of the tensor that is read. Compressed matrices and
	// text are Float32 unless Options.DType says otherwise.
	DType tensor.DType
	Shape tensor.Shape
	// Rate is a wave's samples per second and channel.
	Rate int
}

// ErrUnsupported is the error of objects that are known and not read: pickled
// entries of kaldiio, which run code, its NPY and AUDIO entries, waves that are not
// PCM of 8 or 16 bits.
var ErrUnsupported = errors.New("not supported")

// ErrPipe is what every PipeError is.
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
		s = file + ": "
	}
	s += fmt.Sprintf("at byte %d: ", offset)
	if key != "" {
		s += fmt.Sprintf("%q: ", key)
	}
	return s
}

// PipeError is a line of a script that names a command.
type PipeError struct {
	File    string // the script
	Line    int    // from 1
	Key     string
	Command string
}

func (e *PipeError) Error() string {
	return fmt.Sprintf("kaldi: %s: line %d: %q: %v: %q; Options.Run allows it", e.File, e.Line, e.Key, ErrPipe, e.Command)
}

// Is reports that it is ErrPipe.
func (e *PipeError) Is(target error) bool { return target == ErrPipe }
