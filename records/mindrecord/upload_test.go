package mindrecord

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// memory is a store in memory. Its folders are those of its files.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	// put, if not nil, is called before a file appears. An error is that of
	// Close.
	put  func(name string) error
	puts []string
}

func (m *memory) Open(_ context.Context, name string) (store.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return memoryFile{bytes.NewReader(b)}, nil
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (m *memory) Stat(_ context.Context, name string) (store.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[name]
	if !ok {
		return store.Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return store.Info{Name: name, Size: int64(len(b))}, nil
}

func (m *memory) List(context.Context, string) ([]store.Info, error) {
	return nil, errors.ErrUnsupported
}

func (m *memory) Create(ctx context.Context, name string) (store.NewFile, error) {
	if strings.Contains(name, "readonly") {
		return nil, &fs.PathError{Op: "create", Path: name, Err: errors.ErrUnsupported}
	}
	return &memoryNew{ctx: ctx, m: m, name: name}, ctx.Err()
}

type memoryNew struct {
	bytes.Buffer
	ctx  context.Context
	m    *memory
	name string
}

func (f *memoryNew) Abort() error { return nil }

func (f *memoryNew) Close() error {
	if f.m.put != nil {
		if err := f.m.put(f.name); err != nil {
			return err
		}
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.files[f.name] = f.Bytes()
	f.m.puts = append(f.m.puts, f.name)
	return nil
}

// temporary sets the folder of temporary files and returns a function that
// lists it.
func temporary(t *testing.T) func() []string {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	return func() (l []string) {
		in, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range in {
			l = append(l, e.Name())
		}
		return l
	}
}

// TestCreateStore writes a set to a store: its files are those of the local
// disk, it cannot be opened before its last file appears, and no temporary file
// is left.
func TestCreateStore(t *testing.T) {
	m := &memory{files: map[string][]byte{}}
	s, rows := example(t)
	left := temporary(t)
	options := WriterOptions{HeaderSize: minHeader, PageSize: minPage, Rows: 3}
	write := func(t *testing.T, o store.Opener, name string, options WriterOptions) error {
		w, err := CreateStore(t.Context(), o, name, s, options)
		require.NoError(t, err)
		for _, r := range rows {
			require.NoError(t, w.Write(r))
		}
		return w.Close()
	}
	dir := t.TempDir()
	want := map[string][]byte{}
	require.NoError(t, write(t, store.Local, filepath.Join(dir, "x"), options))
	require.NoError(t, write(t, store.Local, filepath.Join(dir, "one"), WriterOptions{HeaderSize: minHeader, PageSize: minPage}))
	in, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range in {
		if want["mem://a/"+e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	require.Len(t, want, 6)

	opens := func(name string) error {
		set, err := OpenStore(t.Context(), m, []string{name})
		if err == nil {
			require.EqualValues(t, len(rows), set.Len())
			err = set.Close()
		}
		return err
	}
	never := func(name string) func(string) error {
		return func(string) error {
			require.Error(t, opens(name))
			return nil
		}
	}
	m.put = never("mem://a/x")
	require.NoError(t, write(t, m, "mem://a/x", options))
	require.Equal(t, []string{"mem://a/x0", "mem://a/x1", "mem://a/x0.db", "mem://a/x1.db"}, m.puts)
	require.NoError(t, opens("mem://a/x"))
	m.put = never("mem://a/one")
	require.NoError(t, write(t, m, "mem://a/one", WriterOptions{HeaderSize: minHeader, PageSize: minPage}))
	require.NoError(t, opens("mem://a/one"))
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(m.files)))
	for name, b := range want {
		require.True(t, bytes.Equal(b, m.files[name]), name)
	}
	require.Empty(t, left())

	// A set that is replaced cannot be opened either until it is whole, though
	// the old indexes fit the new data files.
	m.puts = nil
	m.put = func(name string) error {
		if len(m.puts) > 0 {
			require.Error(t, opens("mem://a/x"), name)
		}
		return nil
	}
	require.NoError(t, write(t, m, "mem://a/x", options))
	require.Equal(t, []string{"mem://a/x0.db", "mem://a/x1.db", "mem://a/x0", "mem://a/x1", "mem://a/x0.db", "mem://a/x1.db"}, m.puts)
	require.NoError(t, opens("mem://a/x"))

	// A failure leaves an error for readers, and no temporary file.
	broken := errors.New("broken")
	m.put = func(name string) error {
		if name == "mem://b/x1.db" {
			return broken
		}
		return nil
	}
	require.ErrorIs(t, write(t, m, "mem://b/x", options), broken)
	require.Error(t, opens("mem://b/x"))
	m.put = nil
	require.NoError(t, write(t, m, "mem://b/x", options))
	require.NoError(t, opens("mem://b/x"))
	require.Empty(t, left())

	m.puts = nil
	w, err := CreateStore(t.Context(), m, "mem://c/x", s, options)
	require.NoError(t, err)
	require.NoError(t, w.Write(rows[0]))
	require.NotEmpty(t, left())
	require.NoError(t, w.Abort())
	require.NoError(t, w.Close())
	require.Empty(t, left())
	require.Empty(t, m.puts)

	ctx, cancel := context.WithCancel(t.Context())
	w, err = CreateStore(ctx, m, "mem://c/x", s, options)
	require.NoError(t, err)
	require.NoError(t, w.Write(rows[0]))
	cancel()
	require.ErrorIs(t, w.Close(), context.Canceled)
	require.Empty(t, left())
	require.Empty(t, m.puts)

	// As records.
	f, err := records.Lookup("mindrecord")
	require.NoError(t, err)
	for _, count := range []int{0, 2} {
		m.puts = nil
		out, err := f.Create(t.Context(), m, "mem://d/x", records.WriteOptions{Count: count})
		require.NoError(t, err)
		for i := range 4 {
			r := &records.Record{Key: strconv.Itoa(i)}
			r.AddInt("n", int64(i))
			require.NoError(t, out.Write(r))
		}
		require.NoError(t, out.Close())
		require.Len(t, m.puts, 2+count)
		in, err := f.Open(t.Context(), m, m.puts[:1], records.ReadOptions{})
		require.NoError(t, err)
		var r records.Record
		for range 4 {
			require.NoError(t, in.Next(&r))
		}
		require.Equal(t, io.EOF, in.Next(&r))
		require.NoError(t, in.Close())
	}
	_, err = f.Create(t.Context(), m, "mem://readonly/x", records.WriteOptions{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.Empty(t, left())

	_, err = CreateStore(t.Context(), m, "mem://readonly/x", s, options)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "mem://readonly/x")
	_, err = CreateStore(t.Context(), m, "mem://a/x", Schema{}, options)
	require.ErrorIs(t, err, records.ErrField)
	require.Empty(t, left())
}
