package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// TestPackLeft: files that a pack leaves out are counted and named.
func TestPackLeft(t *testing.T) {
	img := pngBytes(t, 40, 30, 1)
	t.Chdir(tree(t, map[string][]byte{
		"in/a/1.png": img, "in/a/cut.png": img[:len(img)/2], "in/a/text.jpg": []byte("no image"), "in/a/x.webp": img, "in/b/2.PNG": img, "in/b/y.WEBP": img, "in/b/README": nil, "in/top.png": img,
	}))
	r := call(t, "pack", "recordio", "--list", "all", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "infer-prep: 2 folders on no list: --recursive lists their files\n", r.stderr)
	r = call(t, "pack", "recordio", "--list", "--recursive", "deep", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "infer-prep: 3 files on no list (2 .webp, 1 without extension): --exts lists more extensions\n", r.stderr)
	require.Equal(t, called{command.ExitOK, "", ""}, call(t, "pack", "recordio", "--list", "-q", "quiet", "in"))

	for _, c := range []struct {
		args []string
		bad  []string
		good string
	}{
		{[]string{"recordio", "--recursive", "--pass-through", "--exts", ".png,.jpg", "p1", "in"}, []string{"a/text.jpg"}, "4 images in p1.rec"},
		{[]string{"recordio", "--recursive", "--pass-through", "--check", "--exts", ".png,.jpg", "p2", "in"}, []string{"a/text.jpg", "a/cut.png"}, "3 images in p2.rec"},
		{[]string{"shards", "--classes", "-o", "s1", "in"}, []string{"a/text.jpg"}, "1 shard with 5 samples; in no sample: 2, such as " + filepath.Join("in", "top.png") + "; 1 could not be packed"},
		{[]string{"shards", "--classes", "--check", "-o", "s2", "in"}, []string{"a/text.jpg", "a/cut.png"}, "1 shard with 4 samples"},
	} {
		r := call(t, append([]string{"pack"}, c.args...)...)
		require.Equal(t, command.ExitFailed, r.status, r.stderr)
		require.Contains(t, r.stderr, c.good)
		for _, name := range c.bad {
			require.Contains(t, filepath.ToSlash(r.stderr), name+": ")
		}
	}
	require.FileExists(t, "p1.rec")
	for _, c := range []struct{ args, want string }{
		{"recordio", "--check applies to images that are packed unchanged, but without --pass-through all are decoded"},
		{"shards", "--check applies to labeled images: want --classes or a list"},
	} {
		r := call(t, "pack", c.args, "--check", "x", "in")
		if c.args == "shards" {
			r = call(t, "pack", "shards", "--check", "-o", "x", "in")
		}
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, c.want)
	}
	_, err := os.Stat("x.rec")
	require.ErrorIs(t, err, os.ErrNotExist)
}
