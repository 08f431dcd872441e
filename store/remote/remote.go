package remote

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/store"
)

// Store is the store.Opener of a Backend. It is safe for concurrent use.
type Store struct {
	b        Backend
	o        Options
	err      error // what is wrong with the options
	counters counters
	memory   memory
	cache    *cache
	small    sync.Pool // of *[]byte, the memory of small objects that were closed
	// slow reports that one connection is slow, and scattered that the last
	// large file was not read in order. See Store.readsOn.
	slow, scattered atomic.Bool
	fast            float64                                           // fastEnough, but in tests
	wait            func(made int, after time.Duration) time.Duration // pause, but in tests
}

// New returns a store of the objects of a backend. Invalid options, also those
// of the environment, are errors of the store's methods.
func New(b Backend, o Options) *Store {
	s := &Store{b: b, wait: pause, fast: fastEnough}
	s.o, s.err = o.withEnv()
	size := int64(plainBlock)
	if s.o.Cache != "" {
		size = cachedBlock
	}
	s.memory.init(s.o.Memory, size)
	s.cache = newCache(s.o, b, &s.counters)
	return s
}

// Stat implements store.Opener.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	if s.err != nil {
		return store.Info{}, pathError("stat", name, s.err)
	}
	i, err := try(ctx, s, func(ctx context.Context) (store.Info, error) { return s.b.Stat(ctx, name) })
	if err != nil {
		return store.Info{}, pathError("stat", name, err)
	}
	return i, nil
}

// List implements store.Opener.
func (s *Store) List(ctx context.Context, folder string) ([]store.Info, error) {
	if s.err != nil {
		return nil, pathError("list", folder, s.err)
	}
	l, err := try(ctx, s, func(ctx context.Context) ([]store.Info, error) { return s.b.List(ctx, folder) })
	if err != nil {
		return nil, pathError("list", folder, err)
	}
	return l, nil
}

// Create implements store.Opener. Writing is not retried here: the backend can
// do so as its service prescribes.
func (s *Store) Create(ctx context.Context, name string) (store.NewFile, error) {
	if s.err != nil {
		return nil, pathError("create", name, s.err)
	}
	f, err := s.b.Create(s.withUpload(ctx), name)
	if err != nil {
		return nil, pathError("create", name, err)
	}
	return f, nil
}

// pathError returns the error of an operation, without the secrets that a name
// can hold.
//
//go:noinline
func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: store.Redact(name), Err: err}
}
