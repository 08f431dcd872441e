package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a Backend in memory.
type service struct {
	mu      sync.Mutex
	objects map[string][]byte
	version map[string]int
	// get, if not nil, changes the object that Get returns, or fails. n counts
	// the calls, from 1.
	get func(n int, r request, o *Object) error
	// other, if not nil, is called by Stat, List and Create.
	other    func(n int) error
	requests []request
	others   int
	plain    bool // objects have no version
}

// request is one call of Get.
type request struct {
	ctx    context.Context
	name   string
	off, n int64
}

func newService() *service {
	return &service{objects: map[string][]byte{}, version: map[string]int{}}
}

func (s *service) put(name string, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = b
	s.version[name]++
}

func (s *service) Get(ctx context.Context, name string, off, n int64, version string) (*Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := request{ctx, name, off, n}
	s.requests = append(s.requests, r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, ok := s.objects[name]
	o := &Object{Size: int64(len(b)), Version: fmt.Sprint("v", s.version[name]), Modified: time.Unix(int64(s.version[name]), 0)}
	if s.plain {
		o.Version = ""
	}
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case version != "" && version != o.Version:
		return nil, ErrChanged
	}
	off = min(off, o.Size)
	part := b[off : off+min(n, o.Size-off)]
	o.Length, o.Body = int64(len(part)), io.NopCloser(bytes.NewReader(part))
	if s.get != nil {
		if err := s.get(len(s.requests), r, o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// count returns the number of calls of Get.
func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *service) another() error {
	s.others++
	if s.other != nil {
		return s.other(s.others)
	}
	return nil
}

func (s *service) Stat(_ context.Context, name string) (store.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.another(); err != nil {
		return store.Info{}, err
	}
	if b, ok := s.objects[name]; ok {
		return store.Info{Name: name, Size: int64(len(b)), Modified: time.Unix(int64(s.version[name]), 0)}, nil
	}
	for o := range s.objects {
		if strings.HasPrefix(o, strings.TrimSuffix(name, "/")+"/") {
			return store.Info{Name: name, Folder: true}, nil
		}
	}
	return store.Info{}, fs.ErrNotExist
}

func (s *service) List(_ context.Context, folder string) ([]store.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.another(); err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(folder, "/") + "/"
	in := map[string]store.Info{}
	for name, b := range s.objects {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if base, _, deeper := strings.Cut(rest, "/"); deeper {
				in[base] = store.Info{Name: prefix + base, Folder: true}
			} else {
				in[base] = store.Info{Name: name, Size: int64(len(b))}
			}
		}
	}
	if len(in) == 0 {
		return nil, fs.ErrNotExist
	}
	return slices.SortedFunc(maps.Values(in), func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) }), nil
}

func (s *service) Create(_ context.Context, name string) (store.NewFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &newObject{s: s, name: name}, s.another()
}

type newObject struct {
	bytes.Buffer
	s    *service
	name string
	done bool
}

func (o *newObject) Close() error {
	if !o.done {
		o.done = true
		o.s.put(o.name, bytes.Clone(o.Bytes()))
	}
	return nil
}

func (o *newObject) Abort() error {
	o.done = true
	return nil
}

// cutBody is a Body that ends with err after the bytes of r.
type cutBody struct {
	io.Reader
	err error
}

func (b *cutBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}

func (b *cutBody) Close() error { return nil }

// cut cuts the body of an object to n bytes.
func cut(o *Object, n int64, err error) {
	o.Body = &cutBody{io.LimitReader(o.Body, n), err}
}

// silent is a Body that sends nothing after the bytes of a Reader, until the
// attempt ends.
type silent struct {
	io.Reader
	ctx context.Context
}

func (b *silent) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		<-b.ctx.Done()
		return n, b.ctx.Err()
	}
	return n, err
}

func (b *silent) Close() error { return nil }

var errBusy = &TemporaryError{Err: errors.New("503 service unavailable")}

// open returns a store of s that does not wait between attempts, with blocks of
// size bytes.
func open(t testing.TB, s *service, size int64, o Options) *Store {
	t.Helper()
	r := New(s, o)
	require.NoError(t, r.err)
	r.wait = func(int, time.Duration) time.Duration { return 0 }
	r.fast = 0 // whatever the platform
	if size > 0 {
		r.memory.init(r.o.Memory, size)
	}
	return r
}
