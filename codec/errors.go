package codec

import (
	"errors"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// The kinds of decoding error, for errors.Is.
var (
	ErrFormat      = errors.New("invalid format") // the data breaks the format's rules or is truncated
	ErrUnsupported = errors.New("unsupported")    // valid data that is not decoded, or that a policy refuses
	ErrLimit       = errors.New("limit exceeded") // more pixels, bytes or scans than Limits allows
	ErrInternal    = errors.New("internal error") // a decoder panicked: a bug, please report it
)

// The two limits that a caller can raise. Both match ErrLimit.
var (
	ErrPixels = errfmt.Errorf("%w", ErrLimit) // more than Limits.Pixels
	ErrBytes  = errfmt.Errorf("%w", ErrLimit) // more than Limits.Bytes
)

// Error reports an image that was not decoded.
type Error struct {
	Format string // "jpeg", "png", …; empty if the format is unknown
	Offset int64  // byte offset in the data, -1 if unknown
	Kind   error  // ErrFormat, ErrUnsupported, ErrLimit or ErrInternal
	Msg    string // what was found and what was expected
	Stack  []byte // the stack trace of an ErrInternal, else nil
}

func (e *Error) Error() string {
	s := "codec: "
	if e.Format != "" {
		s = e.Format + ": "
	}
	if e.Offset >= 0 {
		s += errfmt.Sprintf("offset %d: ", e.Offset)
	}
	return s + e.Kind.Error() + ": " + e.Msg
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Errorf returns an *Error. Decoders use it.
//
//go:noinline
func Errorf(format string, offset int64, kind error, msg string, args ...any) error {
	return &Error{Format: format, Offset: offset, Kind: kind, Msg: errfmt.Sprintf(msg, args...)}
}
