package tiff

import (
	"errors"
	"io"

	"github.com/infer-prep/infer-prep/codec"
)

// file is the content of a TIFF: bytes in memory, or a reader.
type file struct {
	data []byte
	r    io.ReaderAt // nil if the content is in memory
	size int64
}

// bytes returns the n bytes at offset. Those of a file in memory are lent;
// others are read, into buf if its capacity suffices.
func (f *file) bytes(buf []byte, offset uint64, n int) ([]byte, error) {
	if offset > uint64(f.size) || uint64(n) > uint64(f.size)-offset {
		return nil, bad(-1, "%d bytes at %d, the file ends at %d", n, offset, f.size)
	}
	if f.r == nil {
		return f.data[offset:][:n], nil
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if k, err := f.r.ReadAt(buf, int64(offset)); k < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the file was shortened
		}
		return nil, &readError{codec.Errorf(name, int64(offset), codec.ErrFormat, "reading %d bytes: %v", n, err), err}
	}
	return buf, nil
}

// readError is the failure of a reader. It unwraps to the reader's error, so
// that a caller can tell it from invalid data, and to a *codec.Error.
type readError struct{ tiff, cause error }

func (e *readError) Error() string   { return e.tiff.Error() }
func (e *readError) Unwrap() []error { return []error{e.tiff, e.cause} }
