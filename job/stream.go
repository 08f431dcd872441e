package job

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// streamed is a sink that writes files of images one after another to a writer.
// In formats whose files cannot follow one another it writes a
// single one.
type streamed struct {
	columns
	w    io.Writer
	held []byte // the only file, until the end shows that it is the only one
	any  bool
}

func (s *streamed) ready(context.Context) error { return nil }

func (s *streamed) write(_ string, out []*tensor.Tensor) (w written, err error) {
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

func (s *streamed) add(o outcome) ([]outcome, error) {
	if s.any && !s.format.stream {
		return nil, advice("%s: %s holds the file of one image with %s: want %s, %s, or %s", fieldWriter, fieldStream, fieldFormat.of(s.format.Name), fieldFormat.of("npy or raw"), fieldBatchSize, fieldDir)
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

func (s *streamed) put(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return toStream(err)
	}
	return nil
}

// toStream returns an error of writing to the stream.
func toStream(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return advice("cannot write to %s: %w", fieldStream, err)
}

func (s *streamed) close() ([]outcome, error) { return nil, s.put(s.held) }

func (s *streamed) abort() error { return nil }

// streamFile is a store whose only new file is the stream.
type streamFile struct {
	store.Opener
	w io.Writer
}

func (s streamFile) Create(context.Context, string) (store.NewFile, error) {
	return openStream{s.w}, nil
}

// openStream is a file that cannot be discarded.
type openStream struct{ w io.Writer }

func (s openStream) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil {
		err = toStream(err)
	}
	return n, err
}
func (openStream) Close() error { return nil }
func (openStream) Abort() error { return nil }
