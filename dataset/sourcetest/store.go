package sourcetest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// memoryRoot is the folder of Store's files in memory. A source that opened it
// with package os would fail.
const memoryRoot = "mem://data"

// Store checks that a source lists and opens its files through the store alone.
// It copies the files of dir into a store in memory. The source that newSource
// returns for that copy must have the same rows as the one for dir. It must
// close every file that it opens, also after an error, and stop when its
// context ends. Its Data must be dataset.Keyed, with equal keys in both. A
// FileCache must be able to tell when one of its files changes; see
// dataset.Stamped.
func Store(t *testing.T, dir string, newSource func(dir string) dataset.Source) {
	t.Helper()
	m := newMemory(t, dir)
	want := samples(t, newSource(dir), store.Local)
	src := newSource(memoryRoot)
	got := samples(t, src, m)
	wantKeys, gotKeys := keysOf(t, newSource(dir), store.Local), keysOf(t, src, m)
	require.Len(t, got, len(want), "samples from the store")
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	for i := range want {
		got[i].Key = strings.ReplaceAll(got[i].Key, memoryRoot, dir)
		want[i].Key = filepath.ToSlash(want[i].Key)
		equal(t, want[i], got[i], "from the store: sample %d", i)
	}
	require.NotEmpty(t, gotKeys, "keys")
	require.Len(t, gotKeys, len(wantKeys), "keys")
	for i := range wantKeys {
		require.Equal(t, path.Clean(filepath.ToSlash(wantKeys[i])), path.Clean(strings.ReplaceAll(gotKeys[i], memoryRoot, dir)), "key %d", i)
	}
	require.NotZero(t, m.opened, "files opened through the store")
	require.Zero(t, m.open, "open files after Close")

	stamped(t, src, newMemory(t, dir))
	cancelled(t, src, m)
	require.Zero(t, m.open, "open files after a cancelled context")
	for n := range m.opened {
		m.fail(n)
		if d, err := src.Open(t.Context(), m); err == nil {
			require.NoError(t, d.Close())
		} else {
			require.ErrorIs(t, err, errStore, "the error of opening file %d", n)
		}
		require.Zero(t, m.open, "open files after an error of opening file %d", n)
		if n == maxFailures {
			break
		}
	}
}

// keysOf returns the keys of a source.
func keysOf(t *testing.T, src dataset.Source, o store.Opener) (l []string) {
	t.Helper()
	d, err := src.Open(t.Context(), o)
	require.NoError(t, err)
	k, ok := d.(dataset.Keyed)
	require.True(t, ok, "%T is not dataset.Keyed", d)
	k.Keys(func(key string) bool { l = append(l, key); return true })
	require.NoError(t, d.Close())
	return l
}

// maxFailures bounds the files that Store makes fail, one after another.
const maxFailures = 20

var errStore = errors.New("file fails in the test's store")

// Cancel checks that a cancelled context stops Open and the reading of samples.
// It is for sources without files; Store checks the same.
func Cancel(t *testing.T, src dataset.Source) {
	t.Helper()
	cancelled(t, src, store.Local)
}

func cancelled(t *testing.T, src dataset.Source, o store.Opener) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := src.Open(ctx, o)
	require.ErrorIs(t, err, context.Canceled, "Open with a cancelled context")
	d, err := src.Open(t.Context(), o)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	switch d := d.(type) {
	case dataset.Rows:
		require.ErrorIs(t, d.Read(ctx, 0, dataset.NewSample(d.Columns())), context.Canceled, "Read with a cancelled context")
	case dataset.Stream:
		r, err := d.Start(t.Context(), 0)
		require.NoError(t, err)
		require.ErrorIs(t, r.Next(ctx, dataset.NewSample(d.Columns())), context.Canceled, "Next with a cancelled context")
		require.NoError(t, r.Close())
	}
}

// memory is a store of files in memory. It counts the files that are open.
type memory struct {
	files map[string][]byte

	mu      sync.Mutex
	opened  int // since the last fail
	open    int
	failing int // number of the file whose Open fails; -1 for none
}

// newMemory copies the files of a folder. It follows links.
func newMemory(t *testing.T, dir string) *memory {
	m := &memory{files: map[string][]byte{}, failing: -1}
	var add func(at, name string)
	add = func(at, name string) {
		entries, err := os.ReadDir(at)
		require.NoError(t, err)
		for _, e := range entries {
			from, to := filepath.Join(at, e.Name()), name+"/"+e.Name()
			if i, err := os.Stat(from); err == nil && i.IsDir() {
				add(from, to)
			} else if err == nil {
				m.files[to], err = os.ReadFile(from)
				require.NoError(t, err)
			}
		}
	}
	add(dir, memoryRoot)
	return m
}

// fail makes the n-th Open from now on fail.
func (m *memory) fail(n int) { m.failing, m.opened = n, 0 }

func clean(name string) string {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok {
		return name
	}
	return scheme + "://" + path.Clean(rest)
}

func (m *memory) Open(ctx context.Context, name string) (store.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, ok := m.files[clean(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened++
	if m.failing == m.opened-1 {
		return nil, errStore
	}
	m.open++
	return &memoryFile{m: m, b: b}, nil
}

func (m *memory) Stat(ctx context.Context, name string) (store.Info, error) {
	if err := ctx.Err(); err != nil {
		return store.Info{}, err
	}
	c := clean(name)
	if b, ok := m.files[c]; ok {
		return store.Info{Name: name, Size: int64(len(b))}, nil
	}
	for f := range m.files {
		if strings.HasPrefix(f, c+"/") {
			return store.Info{Name: name, Folder: true}, nil
		}
	}
	return store.Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (m *memory) List(ctx context.Context, folder string) ([]store.Info, error) {
	if i, err := m.Stat(ctx, folder); err != nil || !i.Folder {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	c := clean(folder)
	in := map[string]store.Info{}
	for f, b := range m.files {
		rest, ok := strings.CutPrefix(f, c+"/")
		if !ok {
			continue
		}
		base, _, below := strings.Cut(rest, "/")
		i := store.Info{Name: c + "/" + base, Folder: below}
		if !below {
			i.Size = int64(len(b))
		}
		in[base] = i
	}
	var l []store.Info
	for _, i := range in {
		l = append(l, i)
	}
	slices.SortFunc(l, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

func (m *memory) Create(context.Context, string) (store.NewFile, error) {
	return nil, errors.ErrUnsupported
}

type memoryFile struct {
	m      *memory
	b      []byte
	closed bool
}

func (f *memoryFile) Size() int64 { return int64(len(f.b)) }

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	switch {
	case f.closed:
		return 0, fs.ErrClosed
	case at >= int64(len(f.b)):
		return 0, io.EOF
	}
	n := copy(b, f.b[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	f.m.open--
	return nil
}
