package job

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/infer-prep/infer-prep/codec"
)

// Kind is the kind of an error of an image.
type Kind string

// The kinds.
const (
	KindMissing     Kind = "missing"     // the file does not exist
	KindRead        Kind = "read"        // the file cannot be read
	KindImage       Kind = "image"       // the image is damaged, or no image
	KindUnsupported Kind = "unsupported" // the image is valid and not supported
	KindLimit       Kind = "limit"       // the image needs more than the limits allow
	KindGraph       Kind = "graph"       // the graph does not apply to the image
	KindWrite       Kind = "write"       // the output cannot be written
	KindInternal    Kind = "internal"    // a bug
)

// kindOf returns the kind of an error that occurred at a place, "" if that is
// unknown.
func kindOf(err error, at Kind) Kind {
	switch {
	case at == KindWrite:
		return at
	case errors.Is(err, codec.ErrInternal):
		return KindInternal
	case errors.Is(err, codec.ErrLimit):
		return KindLimit
	case errors.Is(err, codec.ErrUnsupported):
		return KindUnsupported
	case errors.Is(err, codec.ErrFormat):
		return KindImage
	case errors.Is(err, fs.ErrNotExist):
		return KindMissing
	case at != "":
		return at
	}
	return KindGraph
}

// Field is a field of a Job or a Sink, such as "Sink.Dir", or with its value
// "Sink.Dir=tensors", or a parameter of ReadList, in the text of a FieldError.
type Field string

// FieldError is an error whose text names fields.
type FieldError struct {
	kind   error // ErrOption, or nil for what another value of a field avoids
	format string
	args   []any
}

// option returns the error of an invalid field.
//
//go:noinline
func option(format string, args ...any) error {
	return &FieldError{kind: ErrOption, format: format, args: args}
}

// advice returns an error that another value of a field avoids.
func advice(format string, args ...any) error { return &FieldError{format: format, args: args} }

func (e *FieldError) Error() string { return e.Text(func(f Field) string { return string(f) }) }

// Text returns the error's text with other names for the fields, such as those
// of a command's flags.
func (e *FieldError) Text(name func(Field) string) string {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		if f, ok := a.(Field); ok {
			a = name(f)
		}
		args[i] = a
	}
	return fmt.Errorf(e.format, args...).Error()
}

// Unwrap returns ErrOption, unless the error is of the run.
func (e *FieldError) Unwrap() []error {
	var l []error
	if e.kind != nil {
		l = append(l, e.kind)
	}
	for _, a := range e.args {
		if err, ok := a.(error); ok {
			l = append(l, err)
		}
	}
	return l
}

// plural returns a number with its noun: "1 image", "2 images".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
