package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListNames(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a-b"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	for name, to := range map[string]string{"up": "..", "gone": "nothing", "self": "self", "link": "a-b"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	got, err := ListNames(t.Context(), Local, "file://"+filepath.ToSlash(dir))
	require.NoError(t, err)
	want := []Entry{
		{Base: "a", Folder: true}, {Base: "a-b"}, {Base: "gone", Link: true, Irregular: true}, {Base: "link", Link: true},
		{Base: "self", Link: true, Irregular: true}, {Base: "up", Folder: true, Link: true},
	}
	for i := range want {
		want[i].Name = filepath.Join(dir, want[i].Base)
	}
	require.Equal(t, want, got)
	same, err := SameFile(t.Context(), Local, got[5].Name, filepath.Dir(dir))
	require.NoError(t, err)
	require.True(t, same)
	same, err = SameFile(t.Context(), Local, got[0].Name, dir)
	require.NoError(t, err)
	require.False(t, same)
	_, err = SameFile(t.Context(), Local, got[2].Name, dir)
	require.ErrorIs(t, err, os.ErrNotExist)

	// List omits dangling links.
	plain := listOnly{Local}
	got, err = ListNames(t.Context(), plain, got[0].Name)
	require.NoError(t, err)
	require.Empty(t, got)
	same, err = SameFile(t.Context(), plain, "a", "a")
	require.NoError(t, err)
	require.True(t, same)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ListNames(ctx, Local, dir)
	require.ErrorIs(t, err, context.Canceled)
}

// listOnly hides the methods of NameLister.
type listOnly struct{ Opener }

func TestNames(t *testing.T) {
	for _, c := range []struct{ folder, name, joined, dir, base string }{
		{"a", "b/c.png", "a/b/c.png", "a/b", "c.png"},
		{"", "c.png", "c.png", ".", "c.png"},
		{"/a/", "b", "/a/b", "/a", "b"},
		{"s3://bucket", "b/c", "s3://bucket/b/c", "s3://bucket/b", "c"},
		{"s3://bucket/a/", "c", "s3://bucket/a/c", "s3://bucket/a", "c"},
		{"s3://bucket", "", "s3://bucket", "s3://", "bucket"},
	} {
		joined := Join(c.folder, c.name)
		require.Equal(t, c.joined, filepath.ToSlash(joined))
		require.Equal(t, c.dir, filepath.ToSlash(Dir(joined)))
		require.Equal(t, c.base, Base(joined))
	}
	require.True(t, IsAbs("s3://bucket/a"))
	require.False(t, IsAbs("a/b"))
}
