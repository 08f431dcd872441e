package codec

import (
	"errors"
	"fmt"
)

// The kinds of decoding error, for errors.Is.
var (
	ErrFormat      = errors.New("invalid format") // the bytes break the format's rules, or end too early
	ErrUnsupported = errors.New("unsupported")    // valid, but not decoded here, or refused by a policy
	ErrLimit       = errors.New("limit exceeded") // more pixels, bytes or scans than Limits allows
)

// Error is what every decoder of this package and below it returns: the
// format, where in the input, what kind, and what was wrong.
type Error struct {
	Format string // "jpeg", "png", …; empty when the format is not known
	Offset int64  // byte offset in the input, -1 if it is not known
	Kind   error  // ErrFormat, ErrUnsupported or ErrLimit
	Msg    string // what was found and what was wanted
}

func (e *Error) Error() string {
	s := "codec: "
	if e.Format != "" {
		s = e.Format + ": "
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf("offset %d: ", e.Offset)
	}
	return s + e.Kind.Error() + ": " + e.Msg
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Errorf makes an *Error.
func Errorf(format string, offset int64, kind error, msg string, args ...any) error {
	return &Error{Format: format, Offset: offset, Kind: kind, Msg: fmt.Sprintf(msg, args...)}
}
