package records

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/store"
)

var formats = registry.New[Format]("record format")

// The kinds of error of all formats, for errors.Is.
var (
	// ErrUnknown reports an unknown format, or a file of no known format.
	ErrUnknown = formats.ErrUnknown()
	// ErrCorrupt reports damage in a file. Every CorruptionError matches it.
	ErrCorrupt = errors.New("corrupt record file")
	// ErrTooLarge reports a record above the size limit of a reader or a
	// format.
	ErrTooLarge = errors.New("record too large")
	// ErrUnsupported reports content that a format allows and this module does
	// not read, such as a sparse file in a shard.
	ErrUnsupported = errors.New("not supported")
	// ErrField reports a field that a format cannot hold, or a missing one.
	// Every FieldError matches it.
	ErrField = errors.New("field does not fit the format")
	// ErrOption reports an option that a format does not have.
	ErrOption = errors.New("unsupported option")
)

// CorruptionError is damage in a record file, its index or its checksums, or
// content that no writer of the format writes. It matches ErrCorrupt.
type CorruptionError struct {
	Format string // "recordio"
	File   string // the name with which it was opened; may be empty
	Offset int64  // of the damaged part, -1 if unknown
	Detail string // what was found and what was expected
}

// Corruptf returns a CorruptionError with a formatted Detail.
//
//go:noinline
func Corruptf(format, file string, offset int64, detail string, args ...any) *CorruptionError {
	return &CorruptionError{format, file, offset, fmt.Sprintf(detail, args...)}
}

func (e *CorruptionError) Error() string {
	return e.Format + ": " + place(e.File, e.Offset) + e.Detail
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptionError) Is(target error) bool { return target == ErrCorrupt }

// place returns the start of a message that names a place in a file.
func place(file string, offset int64) (s string) {
	if file != "" {
		s = store.Redact(file) + ": "
	}
	if offset >= 0 {
		s += fmt.Sprintf("at byte %d: ", offset)
	}
	return s
}

// FieldError is a record that a format cannot hold, or that lacks a field. It
// matches ErrField.
type FieldError struct {
	Format string // the format that is written or read
	Key    string // of the record
	File   string // where the record was read; may be empty
	Offset int64  // of the record in File, -1 if unknown
	Field  string // empty for the record as a whole
	Detail string // what was found and what was expected
}

// FieldErrorf returns a FieldError of a record and one of its fields, with a
// formatted Detail. An empty field means the record as a whole.
//
//go:noinline
func (r *Record) FieldErrorf(format, field, detail string, args ...any) error {
	return &FieldError{format, r.Key, r.File, r.Offset, field, fmt.Sprintf(detail, args...)}
}

func (e *FieldError) Error() string {
	s := e.Format + ": "
	if e.File != "" {
		s += place(e.File, e.Offset)
	}
	s += fmt.Sprintf("record %q: ", e.Key)
	if e.Field != "" {
		s += fmt.Sprintf("field %q: ", e.Field)
	}
	return s + e.Detail
}

// Is reports whether target is ErrField.
func (e *FieldError) Is(target error) bool { return target == ErrField }
