// Package msgpack reads and writes msgp values (MessagePack) of known kinds,
// and tuples. Its bytes are those of github.com/tinylib/msgp, which adds 0.3 MB
// to every program that imports it: its init functions use encoding/json.
package msgpack

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// Reader reads values from the beginning of B and keeps the first error. It
// reads no value of a kind that it does not expect, so nothing nests deeper
// than its user reads.
type Reader struct {
	B   []byte
	Err error
}

// Read reads a value with a function of this package or of msgp. After an error
// it returns the zero value.
func Read[T any](r *Reader, f func([]byte) (T, []byte, error)) (v T) {
	if r.Err != nil {
		return v
	}
	if size, _ := head(r.B); size > uint64(len(r.B)) {
		r.Err = ErrShort
		return v
	}
	v, r.B, r.Err = f(r.B)
	return v
}

// Fail records an error, unless there is one already.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = errfmt.Errorf(format, args...)
	}
}

// Int reads an integer.
func (r *Reader) Int() int { return Read(r, ReadInt) }

// Uint8 reads an integer of 0 to 255.
func (r *Reader) Uint8() uint8 { return Read(r, ReadUint8) }

// Text reads a string of at most limit bytes.
func (r *Reader) Text(limit int) string {
	s := Read(r, ReadString)
	if len(s) > limit {
		r.Fail("text of %d bytes, want at most %d", len(s), limit)
		return ""
	}
	return string(s)
}

// Count reads an array's length, 0 after an error. The length is at most limit
// and at most the number of remaining bytes.
func (r *Reader) Count(limit int) int {
	n := Read(r, ReadArray)
	if n > int64(min(limit, len(r.B))) {
		r.Fail("array of %d in %d bytes, want at most %d", n, len(r.B), limit)
	}
	if r.Err != nil {
		return 0
	}
	return int(n)
}

// Tuple reads the length of an array, which must be want.
func (r *Reader) Tuple(want int) {
	if n := r.Count(want); r.Err == nil && n != want {
		r.Fail("tuple of %d, want %d", n, want)
	}
}
