package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// standardOutput is a sink that writes files of images one after another to
// standard output. In formats whose files cannot follow one another it writes a
// single one.
type standardOutput struct {
	columns
	w    io.Writer
	held []byte // the only file, until the end shows that it is the only one
	any  bool
}

func (s *standardOutput) ready(context.Context) error { return nil }

func (s *standardOutput) write(_ string, out []*tensor.Tensor) (w written, err error) {
	var named []tensor.Named
	if named, w.results, err = s.named(out); err != nil {
		return w, err
	}
	var b bytes.Buffer
	if err := s.format.write(&b, named); err != nil {
		return w, err
	}
	w.data, w.size = b.Bytes(), int64(b.Len())
	return w, nil
}

func (s *standardOutput) add(o outcome) ([]outcome, error) {
	if s.any && !s.format.stream {
		return nil, fmt.Errorf("-o -: standard output holds the file of one image with --format %s: want --format npy or raw, --batch-size, or -o DIR", s.format.name)
	}
	s.any = true
	if !s.format.stream {
		s.held = o.data
	} else if err := s.put(o.data); err != nil {
		return nil, err
	}
	o.data = nil
	return []outcome{o}, nil
}

func (s *standardOutput) put(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return toStdout(err)
	}
	return nil
}

// stdoutError is an error of writing to standard output.
type stdoutError struct{ err error }

func (e stdoutError) Error() string { return "cannot write to standard output: " + e.err.Error() }
func (e stdoutError) Unwrap() error { return e.err }

func toStdout(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return stdoutError{err}
}

func (s *standardOutput) close() ([]outcome, error) { return nil, s.put(s.held) }

func (s *standardOutput) abort() error { return nil }

// stdoutFile is a store whose only new file is standard output.
type stdoutFile struct {
	store.Opener
	w io.Writer
}

func (s stdoutFile) Create(context.Context, string) (store.NewFile, error) {
	return openStream{s.w}, nil
}

// openStream is a file that cannot be discarded.
type openStream struct{ w io.Writer }

func (s openStream) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil {
		err = toStdout(err)
	}
	return n, err
}
func (openStream) Close() error { return nil }
func (openStream) Abort() error { return nil }
