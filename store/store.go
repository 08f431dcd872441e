// Package store opens, lists and creates files, on the local disk or elsewhere.
// Every reader and writer of files in this module takes an [Opener]. [Local] is
// the Opener of the local disk. An application can implement others, for
// example for an object store.
//
// Package recordio reads RecordIO through a store, and package records reads
// all record formats.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Opener opens, lists and creates files by name. Its methods are safe for
// concurrent use. All of them return an error that wraps fs.ErrNotExist for a
// file or folder that does not exist.
type Opener interface {
	// Open opens a file for reading.
	Open(ctx context.Context, name string) (File, error)
	// Stat describes a file or a folder.
	Stat(ctx context.Context, name string) (Info, error)
	// List describes the files and folders directly in a folder, sorted by
	// name.
	List(ctx context.Context, folder string) ([]Info, error)
	// Create creates a file or replaces an existing one. The file appears under
	// its name when it is closed, and never if it is aborted.
	Create(ctx context.Context, name string) (NewFile, error)
}

// File is a file that is open for reading. ReadAt and Size are safe for
// concurrent use.
type File interface {
	io.ReaderAt
	io.Closer
	// Size returns the size in bytes when the file was opened.
	Size() int64
}

// Mapped is implemented by a File whose content can be in memory.
type Mapped interface {
	// Bytes returns the content, or nil if it cannot be in memory. The slice is
	// read-only and valid until Close. Bytes is safe for concurrent use.
	Bytes() []byte
}

// MappedBytes returns the content of a file if it is in memory, else nil. The
// slice is read-only and valid until the file is closed. A file of [Local] is
// mapped at the first call.
func MappedBytes(f File) []byte {
	if m, ok := f.(Mapped); ok {
		if b := m.Bytes(); int64(len(b)) == f.Size() {
			return b
		}
	}
	return nil
}

// Described is implemented by a File of a store that tells what it opened.
type Described interface {
	// Modified returns the modification time when the file was opened, zero if
	// unknown.
	Modified() time.Time
	// Version returns Info.Version of the content that was opened, or "".
	Version() string
}

// NewFile is a file that is being written.
type NewFile interface {
	io.Writer
	// Close makes the file appear under its name.
	Close() error
	// Abort discards the file. After Close it does nothing.
	Abort() error
}

// Info describes a file or a folder.
type Info struct {
	Name   string // the name that Open or List takes
	Size   int64  // in bytes
	Folder bool
	// Modified is the modification time, zero if unknown.
	Modified time.Time
	// Version identifies the content of a file in stores that have versions,
	// for example an ETag; "" elsewhere. A Described file has the same one.
	Version string
}

// ErrTooLarge reports a file above the size limit of ReadFile.
var ErrTooLarge = errors.New("file too large")

// ReadFile reads a file. It reads into buf if its capacity suffices, else into
// new memory. It returns the slice that holds the file, which the caller owns.
// A file of more than limit bytes is an ErrTooLarge, reported before anything
// is read or allocated. A negative limit is unlimited.
func ReadFile(ctx context.Context, o Opener, name string, buf []byte, limit int64) (b []byte, err error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			b, err = nil, cerr
		}
	}()
	size := f.Size()
	if limit >= 0 && size > limit {
		return nil, fmt.Errorf("store: read: %s: %w: %d bytes, the limit is %d", Redact(name), ErrTooLarge, size, limit)
	}
	if b, err = ReadAll(f, buf); err != nil {
		return nil, fmt.Errorf("store: read: %s: %w", Redact(name), err)
	}
	return b, nil
}

// ReadAll reads an open file, into buf if its capacity suffices, else into new
// memory, which the caller should bound by Size. It returns the slice that
// holds the file, which the caller owns; after an error the slice is empty and
// can serve as the next buf. A file that became shorter is an error that wraps
// io.ErrUnexpectedEOF.
func ReadAll(f File, buf []byte) ([]byte, error) {
	size := f.Size()
	if size != int64(int(size)) { // on a 32-bit machine
		return buf[:0], fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	n, err := f.ReadAt(buf, 0)
	if n < len(buf) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF // the file was shortened
		}
		return buf[:0], fmt.Errorf("at byte %d of %d: %w", n, size, err)
	}
	return buf, nil
}

// WriteFile creates a file with the content b. After an error the file does not
// exist, or has its old content.
func WriteFile(ctx context.Context, o Opener, name string, b []byte) error {
	f, err := o.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Close()
}
