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

// TestURLs: the query of an http name is no part of the file's name, and no
// part of what errors show.
func TestURLs(t *testing.T) {
	for name, want := range map[string]string{
		"a?b": "a?b", "/x/a@b": "/x/a@b", "s3://bucket/a?b#c": "s3://bucket/a?b#c", "hdfs://me@host:9000/a": "hdfs://xxxxx@host:9000/a",
		"https://h/a.tar": "https://h/a.tar", "https://h/a.tar?sig=S": "https://h/a.tar?xxxxx", "HTTPS://h/a#S": "HTTPS://h/a?xxxxx",
		"http://u:S@h/a@b?S@x/y": "http://xxxxx@h/a@b?xxxxx", "http://u:S@h": "http://xxxxx@h", "http://h?S/../@": "http://h?xxxxx",
		"http://h/a?pw=S": "http://h/a?xxxxx", "http://h/a?code=S&x=S": "http://h/a?xxxxx", "http://h/a?%73ig=S": "http://h/a?xxxxx", "http://h/a?S": "http://h/a?xxxxx", "http://h/a#S?x": "http://h/a?xxxxx",
		"http://u:S/S@h/a": "http://xxxxx@h/a", "http://u:S?S@h/a": "http://xxxxx", "http://u:S#S@h/a": "http://xxxxx", "http://h:80/a@b": "http://h:80/a@b", "http://[::1]:80/a@b": "http://[::1]:80/a@b",
		"s3://key:S@bucket/a": "s3://xxxxx@bucket/a", "s3://bucket/a@b": "s3://bucket/a@b",
	} {
		require.Equal(t, want, Redact(name))
	}
	require.Equal(t, "a, http://h/?xxxxx", RedactAll([]string{"a", "http://h/?S"}))
	const name = "https://h/d/a.tar?sig=x/y.z"
	require.Equal(t, "a.tar", Base(name))
	require.Equal(t, "https://h/d?sig=x/y.z", Dir(name))
	require.Equal(t, "https://h/d/a.tar", Path(name))
	require.Equal(t, "https://h/d/a.idx?sig=x/y.z", Beside(name, ".tar", ".idx"))
	require.Equal(t, "https://h/d/a.tar.idx?sig=x/y.z", Beside(name, ".rec", ".idx"))
	require.Equal(t, "a.tar?x.idx", Beside("a.tar?x", "", ".idx"))
	require.Equal(t, "https://h/d/e%20f/100%25%23%3F.jpg?sig=x/y.z", Join(Dir(name), "e f/./100%#?.jpg"))
	require.Equal(t, "s3://b/e f/100%#?.jpg", Join("s3://b", "e f/100%#?.jpg"))

	f, err := OpenFolder(t.Context(), &urls{}, "https://h/d/?sig=S")
	require.NoError(t, err)
	for _, in := range []string{"https://h/d/a?sig=S", "https://h/d/a", "https://h/d/b/%2e%2e/a", Join("https://h/d?sig=S", "..a"), "https://h/%64/a"} {
		_, err := f.Stat(t.Context(), in)
		require.NoError(t, err, in)
	}
	for _, out := range []string{"https://h/e?sig=S", "https://h/d/%2e%2e/a?S", "https://h/d/b%2f..%2f../../a", "http://h/d/a", "https://h/d2/a", "https://h/?/d/a"} {
		_, err := f.Stat(t.Context(), out)
		require.ErrorIs(t, err, ErrOutside, out)
		require.NotContains(t, err.Error(), "S:")
		require.NotContains(t, err.Error(), "sig=S")
	}
}
