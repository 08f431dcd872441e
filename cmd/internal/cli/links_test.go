//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
)

// cacheOfLinks makes a folder as Hugging Face's cache has it: snapshots whose
// files are links to blobs. It returns the snapshot.
func cacheOfLinks(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	snapshot := filepath.Join(root, "snapshots", "0123abcd")
	for i, name := range []string{"cat/a.png", "cat/b.png", "dog/a.png"} {
		blob := fmt.Sprintf("%064x", i)
		write(t, filepath.Join(root, "blobs", blob), pngBytes(t, 5, 4, uint8(i)))
		link := filepath.Join(snapshot, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o700))
		require.NoError(t, os.Symlink("../../../blobs/"+blob, link))
	}
	return snapshot
}

// TestFolderOfLinks: commands that decode the files of a folder follow its
// links to files elsewhere. Commands that copy the bytes refuse them in one
// line that names the flag.
func TestFolderOfLinks(t *testing.T) {
	in := cacheOfLinks(t)
	t.Chdir(t.TempDir())
	done := func(args ...string) called {
		t.Helper()
		r := call(t, args...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.NotContains(t, r.stderr, "left out")
		return r
	}
	done("run", "--preset", "decode", "--strict", "-o", "out", in)
	require.Equal(t, []string{"cat/a.png.npy", "cat/b.png.npy", "dog/a.png.npy"}, listFiles(t, "out"))
	requireDecoded(t, "out/dog/a.png.npy", 5, 4, 2)
	done("bundle", "create", "--preset", "decode", "-o", "x.bundle", "--golden", in)
	done(sourceFile(t, imagefolder.New(in))...)
	done("pack", "recordio", "--recursive", "re", in)
	require.Contains(t, done("records", "ls", "re.rec").stdout, " 3 ")
	done("pack", "shards", "--classes", "--encoding", ".png", "-o", "shards", in)
	require.Contains(t, done("records", "ls", "shards/data-00000.tar").stdout, " 3 ")

	for _, args := range [][]string{
		{"recordio", "--recursive", "--pass-through", "raw", in}, {"shards", "--classes", "-o", "copied", in}, {"shards", "-o", "files", in},
	} {
		r := call(t, append([]string{"pack"}, args...)...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Equal(t, 1, strings.Count(r.stderr, "outside the folder"), r.stderr)
		require.Contains(t, r.stderr, "; --allow-outside permits it\n")
		require.NotContains(t, r.stderr, "store.AllowOutside")
		done(append([]string{"pack", args[0], "--allow-outside", "--force"}, args[1:]...)...)
	}
}

// TestLinksToOther: links to what is no image give nothing away, and harm
// nothing.
func TestLinksToOther(t *testing.T) {
	at := t.TempDir()
	in := filepath.Join(at, "in")
	write(t, filepath.Join(in, "a", "good.png"), pngBytes(t, 5, 4, 1))
	write(t, filepath.Join(at, "secret"), []byte("password"))
	require.NoError(t, syscall.Mkfifo(filepath.Join(at, "pipe"), 0o600))
	for _, to := range []string{"secret", "pipe", "/dev/zero", "loop.png", "nowhere"} {
		path := to
		if !filepath.IsAbs(to) && to != "loop.png" {
			path = filepath.Join(at, to)
		}
		name := filepath.Join(in, "a", "loop.png")
		require.NoError(t, os.Symlink(path, name))
		t.Chdir(t.TempDir())
		r := call(t, "run", "--preset", "decode", "--strict", "-o", "out", in)
		if to == "pipe" || to == "/dev/zero" { // counted, but not named
			require.Contains(t, r.stderr, "1 image, 0 failed, 1 skipped")
		} else {
			require.Equal(t, command.ExitFailed, r.status, r.stderr)
		}
		require.Equal(t, []string{"a/good.png.npy"}, listFiles(t, "out"))
		r = call(t, sourceFile(t, imagefolder.New(in))...)
		require.Equal(t, command.ExitFailed, r.status, r.stderr)
		if to == "secret" {
			require.Contains(t, r.stderr, "outside the folder")
		}
		require.NotContains(t, r.stderr, "password")
		require.NoError(t, os.Remove(name))
	}
	for i := range 30 {
		require.NoError(t, os.Symlink(at, filepath.Join(in, "a", fmt.Sprintf("d%02d", i))))
	}
	r := call(t, "run", "--preset", "decode", "--strict", "-o", "out2", in)
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "infer-prep: "+in+"/a/d00: left out: a link to a folder, which is not followed, and so are 29 links more: name the folder to walk it\n", r.stderr[:strings.Index(r.stderr, "\n")+1])
}
