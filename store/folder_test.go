package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// folderTree creates a folder in, a file beside it, and changes to the folder
// that holds both.
func folderTree(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"in/a.txt": "a", "in/sub/b.txt": "b", "out.txt": "secret", "in2/c.txt": "secret"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func content(t *testing.T, o Opener, name string) (string, error) {
	t.Helper()
	b, err := ReadFile(t.Context(), o, name, nil, 100)
	return string(b), err
}

// TestFolderNames: a Folder takes the names that Join makes of it, and absolute
// ones in it.
func TestFolderNames(t *testing.T) {
	folderTree(t)
	here, err := os.Getwd()
	require.NoError(t, err)
	for _, dir := range []string{"in", "./in/", filepath.Join(here, "in"), "in/sub/.."} {
		f, err := OpenFolder(t.Context(), Local, dir)
		require.NoError(t, err)
		for name, want := range map[string]string{
			Join(dir, "a.txt"):                 "a",
			Join(dir, "sub/b.txt"):             "b",
			Join(dir, "sub/../a.txt"):          "a",
			filepath.Join(here, "in", "a.txt"): "a",
			filepath.Join("in", "a.txt"):       "a",
		} {
			got, err := content(t, f, name)
			require.NoError(t, err, "%s in %s", name, dir)
			require.Equal(t, want, got)
			i, err := f.Stat(t.Context(), name)
			require.NoError(t, err)
			require.Equal(t, Info{Name: name, Size: 1, Modified: i.Modified}, i)
		}
		for _, name := range []string{
			Join(dir, "../out.txt"), Join(dir, "../in2/c.txt"), "in2/c.txt", "out.txt", "",
			filepath.Join(here, "out.txt"), filepath.Join(here, "in2", "c.txt"), "..", "/",
		} {
			for op, do := range map[string]func() error{
				"open": func() error { _, err := f.Open(t.Context(), name); return err },
				"stat": func() error { _, err := f.Stat(t.Context(), name); return err },
				"list": func() error { _, err := f.List(t.Context(), name); return err },
				"same": func() error { _, err := f.SameFile(t.Context(), Join(dir, "a.txt"), name); return err },
			} {
				err := do()
				require.ErrorIs(t, err, ErrOutside, "%s %q in %s", op, name, dir)
				var pe *fs.PathError
				require.ErrorAs(t, err, &pe)
				require.Equal(t, name, pe.Path)
			}
		}
		_, err = f.Open(t.Context(), Join(dir, "none"))
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, "open "+Join(dir, "none")+": no such file or directory", filepath.ToSlash(err.Error()))
		_, err = f.Create(t.Context(), Join(dir, "new"))
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.NoError(t, f.Close())
	}
	f, err := OpenFolder(t.Context(), Local, "")
	require.NoError(t, err)
	got, err := content(t, f, Join("", "in/a.txt"))
	require.NoError(t, err)
	require.Equal(t, "a", got)
	require.NoError(t, f.Close())

	_, err = OpenFolder(t.Context(), Local, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = OpenFolder(t.Context(), Local, "in/a.txt")
	require.Error(t, err)
	_, err = OpenFolder(t.Context(), Local, "s3://in")
	require.ErrorContains(t, err, "no store for s3://")
}

// TestFolderLinks: links are followed to any file in the folder, and nowhere
// else, also if they are made after it was opened.
func TestFolderLinks(t *testing.T) {
	folderTree(t)
	f, err := OpenFolder(t.Context(), Local, "in")
	require.NoError(t, err)
	defer f.Close()
	here, err := os.Getwd()
	require.NoError(t, err)
	symlink(t, "sub/b.txt", "in/link")
	symlink(t, filepath.Join(here, "in", "sub"), "in/absolute")
	symlink(t, "nowhere", "in/dangling")
	for _, name := range []string{"in/link", "in/absolute/b.txt"} {
		got, err := content(t, f, name)
		require.NoError(t, err)
		require.Equal(t, "b", got)
	}
	l, err := f.ListNames(t.Context(), "in")
	require.NoError(t, err)
	require.Equal(t, []Entry{
		{filepath.Join("in", "a.txt"), "a.txt", false, false, false},
		{filepath.Join("in", "absolute"), "absolute", true, true, false},
		{filepath.Join("in", "dangling"), "dangling", false, true, true},
		{filepath.Join("in", "link"), "link", false, true, false},
		{filepath.Join("in", "sub"), "sub", true, false, false},
	}, l)
	same, err := f.SameFile(t.Context(), "in/absolute", "in/sub")
	require.NoError(t, err)
	require.True(t, same)
	in, err := f.List(t.Context(), "in")
	require.NoError(t, err)
	require.Len(t, in, 4, "all but the dangling link")
	want, err := Local.List(t.Context(), "in")
	require.NoError(t, err)
	require.Equal(t, want, in)

	symlink(t, "../out.txt", "in/up")
	symlink(t, filepath.Join(here, "in2"), "in/sub/other")
	for _, name := range []string{"in/up", "in/sub/other/c.txt", "in/absolute/other/c.txt"} {
		_, err := content(t, f, name)
		require.ErrorIs(t, err, ErrOutside, name)
		require.ErrorContains(t, err, "open "+name+": outside the folder in: want a file in it that is not reached through a link to elsewhere")
	}
	for _, dir := range []string{"in", "in/sub", "in/sub/other"} {
		_, err = f.List(t.Context(), dir)
		require.ErrorIs(t, err, ErrOutside, dir)
	}
	l, err = f.ListNames(t.Context(), "in")
	require.NoError(t, err)
	require.Contains(t, l, Entry{filepath.Join("in", "up"), "up", false, true, false}, "a listing names it, opening it is an error")
	l, err = f.ListNames(t.Context(), "in/sub")
	require.NoError(t, err)
	require.Contains(t, l, Entry{filepath.Join("in", "sub", "other"), "other", true, true, false})
	_, err = f.ListNames(t.Context(), "in/sub/other")
	require.ErrorIs(t, err, ErrOutside)

	// FollowLinks follows links to files, but no others, and no names.
	symlink(t, "up", "in/up2")
	symlink(t, "loop", "in/loop")
	followed := FollowLinks(Local, f)
	for _, name := range []string{"in/up", "in/up2", filepath.Join(here, "in", "up")} {
		got, err := content(t, followed, name)
		require.NoError(t, err)
		require.Equal(t, "secret", got)
		i, err := followed.Stat(t.Context(), name)
		require.NoError(t, err)
		require.EqualValues(t, len("secret"), i.Size)
	}
	for _, name := range []string{"in/sub/other/c.txt", "in/absolute/other/c.txt", "in/../out.txt", "in/..", "out.txt", filepath.Join(here, "out.txt")} {
		_, err := content(t, followed, name)
		require.ErrorIs(t, err, ErrOutside, name)
		_, err = followed.Stat(t.Context(), name)
		require.ErrorIs(t, err, ErrOutside, name)
	}
	_, err = followed.Stat(t.Context(), "in/sub/other")
	require.ErrorIs(t, err, ErrOutside)
	_, err = content(t, followed, "in/sub/other")
	require.ErrorContains(t, err, "is a folder: want a regular file")
	_, err = followed.ListNames(t.Context(), "in/sub/other")
	require.ErrorIs(t, err, ErrOutside)
	_, err = content(t, followed, "in/loop")
	require.Error(t, err)
	require.NoError(t, os.Remove("in/up2"))
	require.NoError(t, os.Remove("in/loop"))

	free, err := OpenFolder(t.Context(), AllowOutside(Local), "in")
	require.NoError(t, err)
	for _, name := range []string{"in/up", "in/sub/other/c.txt", "out.txt", filepath.Join(here, "out.txt")} {
		got, err := content(t, free, name)
		require.NoError(t, err)
		require.Equal(t, "secret", got)
	}
	l, err = free.ListNames(t.Context(), "in")
	require.NoError(t, err)
	require.Len(t, l, 6)
	require.True(t, l[4].Link || l[5].Link, "ListNames is that of the local disk")
	require.NoError(t, free.Close())
}

// urls is a store whose names are URLs. It opens everything.
type urls struct{ opened []string }

func (u *urls) Open(_ context.Context, name string) (File, error) {
	u.opened = append(u.opened, name)
	return nil, io.EOF
}
func (u *urls) Stat(_ context.Context, name string) (Info, error) { return Info{Name: name}, nil }
func (u *urls) List(context.Context, string) ([]Info, error)      { return nil, nil }
func (u *urls) Create(context.Context, string) (NewFile, error)   { return nil, io.EOF }

// TestFolderOfStore: a Folder of any store compares names.
func TestFolderOfStore(t *testing.T) {
	u := &urls{}
	for _, dir := range []string{"s3://bucket/data", "s3://bucket/data/"} {
		f, err := OpenFolder(t.Context(), u, dir)
		require.NoError(t, err)
		for _, name := range []string{Join(dir, "a.jpg"), Join(dir, "b/../a.jpg"), "s3://bucket/data", "s3://bucket/data/..a/..b"} {
			_, err := f.Stat(t.Context(), name)
			require.NoError(t, err, name)
		}
		for _, name := range []string{
			Join(dir, "../a.jpg"), Join(dir, "b/../../a.jpg"), "s3://bucket/data2/a.jpg", "s3://other/data/a.jpg", "/etc/passwd", "", "s3://bucket/data/b/../../x",
		} {
			_, err := f.Open(t.Context(), name)
			require.ErrorIs(t, err, ErrOutside, name)
			_, err = f.Stat(t.Context(), name)
			require.ErrorIs(t, err, ErrOutside, name)
			_, err = f.List(t.Context(), name)
			require.ErrorIs(t, err, ErrOutside, name)
			_, err = f.SameFile(t.Context(), dir, name)
			require.ErrorIs(t, err, ErrOutside, name)
		}
		require.Empty(t, u.opened)
		require.NoError(t, f.Close())
	}
}
