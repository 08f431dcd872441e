package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// bufferSize is the size of the buffers of Writer and NewReader. Larger buffers
// were not faster on a local disk.
const bufferSize = 256 << 10

// Writer is a NewFile with a buffer in front. It is for one goroutine at a
// time.
type Writer struct {
	*bufio.Writer
	file NewFile
}

// NewWriter creates a file, as Opener.Create does, and returns a buffered
// writer for it.
func NewWriter(ctx context.Context, o Opener, name string) (*Writer, error) {
	f, err := o.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Writer{bufio.NewWriterSize(f, bufferSize), f}, nil
}

// Close writes the buffered bytes and makes the file appear under its name. If
// a write fails it discards the file.
func (w *Writer) Close() error {
	if err := w.Flush(); err != nil {
		return errors.Join(err, w.file.Abort())
	}
	return w.file.Close()
}

// Abort discards the file. After Close it does nothing.
func (w *Writer) Abort() error { return w.file.Abort() }

// NewReader returns a reader of the file from its beginning. If the file is in
// memory, mapped is its content, as returned by MappedBytes, and the reader
// reads from mapped. Otherwise the reader has a buffer. Both are valid until
// the file is closed.
func NewReader(f File) (r io.Reader, mapped []byte) {
	if b := MappedBytes(f); b != nil {
		return bytes.NewReader(b), b
	}
	return bufio.NewReaderSize(io.NewSectionReader(f, 0, f.Size()), bufferSize), nil
}
