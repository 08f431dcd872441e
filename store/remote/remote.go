package remote

import (
	"context"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/store"
)

// Options are the options of a Store. Zero fields mean the defaults.
type Options struct{}

// Store is the store.Opener of a Backend. It is safe for concurrent use.
type Store struct{ b Backend }

// New returns a store of the objects of a backend.
func New(b Backend, o Options) *Store { return &Store{b} }

// Open implements store.Opener.
func (s *Store) Open(ctx context.Context, name string) (store.File, error) {
	o, err := s.b.Get(ctx, name, 0, 1, "")
	if err != nil {
		return nil, err
	}
	return &file{ctx, s, name, o.Size, o.Version}, o.Body.Close()
}

// Stat implements store.Opener.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	return s.b.Stat(ctx, name)
}

// List implements store.Opener.
func (s *Store) List(ctx context.Context, folder string) ([]store.Info, error) {
	return s.b.List(ctx, folder)
}

// Create implements store.Opener.
func (s *Store) Create(ctx context.Context, name string) (store.NewFile, error) {
	return s.b.Create(ctx, name)
}

type file struct {
	ctx     context.Context
	s       *Store
	name    string
	size    int64
	version string
}

func (f *file) Size() int64  { return f.size }
func (f *file) Close() error { return nil }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	o, err := f.s.b.Get(f.ctx, f.name, off, int64(len(p)), f.version)
	if err != nil {
		return 0, fmt.Errorf("remote: %s: %w", f.name, err)
	}
	defer o.Body.Close()
	n, err := io.ReadFull(o.Body, p)
	if err == io.ErrUnexpectedEOF && off+int64(n) == f.size {
		err = io.EOF
	}
	return n, err
}
