package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/mapfile"
)

func put(t testing.TB, dir, name string, data []byte) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"b", "a", "sub/c", "sub/deep/d", "x-1.rec", "x-2.rec", "x-10.rec", "y;z"} {
		put(t, dir, n, []byte("data"))
	}
	put(t, dir, "none", nil)
	path := func(name string) string { return filepath.Join(dir, name) }
	names := func(recursive bool, names ...string) string {
		l, err := Files(t.Context(), Local, names, recursive)
		require.NoError(t, err)
		var s []string
		for _, i := range l {
			rel, err := filepath.Rel(dir, strings.TrimPrefix(i.Name, "file://"))
			require.NoError(t, err)
			s = append(s, filepath.ToSlash(rel))
		}
		return strings.Join(s, " ")
	}
	require.Equal(t, "a b x-1.rec x-10.rec x-2.rec y;z", names(false, dir))
	require.Equal(t, "a b sub/c sub/deep/d x-1.rec x-10.rec x-2.rec y;z", names(true, dir))
	require.Equal(t, "x-1.rec x-10.rec x-2.rec b", names(false, path("x-.*"), path("b")))
	require.Equal(t, "b a", names(false, path("b"), "", path("a"), path("none")))
	require.Equal(t, "y;z", names(false, path("y;z")))
	require.Equal(t, "a", names(false, "file://"+path("a")))

	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "store: list: : file does not exist: all files are empty or missing"},
		{[]string{path("none")}, "all files are empty or missing"},
		{[]string{path("a"), path("c")}, "store: list: " + path("c") + ": file does not exist"},
		{[]string{path("a(")}, "store: list: " + path("a(") + ": file does not exist"},
		{[]string{path("gone/a.*")}, "store: list: " + path("gone/a.*")},
	} {
		_, err := Files(t.Context(), Local, c.names, false)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, c.want)
	}
	_, err := Files(t.Context(), Local, []string{"s3://a/b"}, false)
	require.EqualError(t, err, "store: s3://a/b: no store for s3:// here: want a path or file://")
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.rec")
	f, err := Local.Create(t.Context(), name)
	require.NoError(t, err)
	_, err = f.Write([]byte("data"))
	require.NoError(t, err)
	require.NoFileExists(t, name)
	require.NoError(t, f.Close())
	require.NoError(t, f.Abort())
	require.FileExists(t, name)
	f, err = Local.Create(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, f.Abort())
	require.NoError(t, f.Close())
	l, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, l, 1)

	_, err = Local.Create(t.Context(), dir)
	require.EqualError(t, err, "create "+dir+": is a folder: want a regular file")
	_, err = Local.Create(t.Context(), filepath.Join(dir, "none", "b"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotContains(t, err.Error(), ".tmp")
	_, err = Local.Open(t.Context(), dir)
	require.EqualError(t, err, "open "+dir+": is a folder: want a regular file")
}

// TestMapped tests that a file is mapped at the first call of MappedBytes,
// once, and never after Close.
func TestMapped(t *testing.T) {
	name := put(t, t.TempDir(), "a", []byte("data"))
	f, err := Local.Open(t.Context(), name)
	require.NoError(t, err)
	local := f.(*localFile)
	require.Nil(t, local.mapped)
	mapped := mapfile.Map(local.File, 4)
	require.NoError(t, mapfile.Unmap(mapped))
	var work sync.WaitGroup
	views := make([][]byte, 8)
	for i := range views {
		work.Go(func() { views[i] = MappedBytes(f) })
	}
	work.Wait()
	for _, b := range views {
		require.Equal(t, mapped != nil, b != nil)
		if b != nil {
			require.Equal(t, "data", string(b))
			require.Same(t, &views[0][0], &b[0])
		}
	}
	r, b := NewReader(f)
	require.Equal(t, views[0], b)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "data", string(all))
	require.NoError(t, f.Close())
	require.Nil(t, MappedBytes(f))

	f, err = Local.Open(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Nil(t, MappedBytes(f))

	f, err = Local.Open(t.Context(), name)
	require.NoError(t, err)
	r, b = NewReader(struct{ File }{f}) // not Mapped
	require.Nil(t, b)
	all, err = io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "data", string(all))
	require.NoError(t, f.Close())
}

// shortened is a store whose files have fewer bytes than their size.
type shortened struct{ Opener }

type shortFile struct{ File }

func (shortFile) Size() int64 { return 10 }

func (o shortened) Open(ctx context.Context, name string) (File, error) {
	f, err := o.Opener.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return shortFile{f}, nil
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name, empty := put(t, dir, "a", []byte("some data")), put(t, dir, "b", nil)
	buf := make([]byte, 3, 9)
	b, err := ReadFile(t.Context(), Local, name, buf, 9)
	require.NoError(t, err)
	require.Equal(t, "some data", string(b))
	require.Same(t, &buf[0], &b[0], "the memory is reused")
	b, err = ReadFile(t.Context(), Local, name, buf[:0:8], -1)
	require.NoError(t, err)
	require.Equal(t, "some data", string(b))
	require.NotSame(t, &buf[0], &b[0])
	b, err = ReadFile(t.Context(), Local, empty, nil, 0)
	require.NoError(t, err)
	require.Empty(t, b)

	_, err = ReadFile(t.Context(), Local, name, nil, 8)
	require.ErrorIs(t, err, ErrTooLarge)
	require.EqualError(t, err, "store: read: "+name+": file too large: 9 bytes, the limit is 8")
	_, err = ReadFile(t.Context(), Local, filepath.Join(dir, "none"), nil, -1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = ReadFile(t.Context(), shortened{Local}, name, nil, -1)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.EqualError(t, err, "store: read: "+name+": at byte 9 of 10: unexpected EOF")
}

// full is a store without space for new files.
type full struct{ Opener }

type fullFile struct{ NewFile }

func (fullFile) Write([]byte) (int, error) { return 0, errors.New("no space") }

func (o full) Create(ctx context.Context, name string) (NewFile, error) {
	f, err := o.Opener.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return fullFile{f}, nil
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	require.NoError(t, WriteFile(t.Context(), Local, name, []byte("old")))
	w, err := NewWriter(t.Context(), Local, name)
	require.NoError(t, err)
	_, err = w.WriteString("new")
	require.NoError(t, err)
	content := func() string {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, "old", content())
	require.NoError(t, w.Close())
	require.NoError(t, w.Abort())
	require.Equal(t, "new", content())

	require.EqualError(t, WriteFile(t.Context(), full{Local}, name, []byte("x")), "no space")
	w, err = NewWriter(t.Context(), full{Local}, name)
	require.NoError(t, err)
	_, err = w.WriteString("x")
	require.NoError(t, err)
	require.EqualError(t, w.Close(), "no space")
	require.Equal(t, "new", content())
	l, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, l, 1, "nothing temporary is left")
}
