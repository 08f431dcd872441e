//go:build unix

package cli

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
)

// TestWriteFIFO: an output that is not a regular file is written to, not
// replaced: -o /dev/null must keep the device.
func TestWriteFIFO(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, syscall.Mkfifo("fifo", 0o666))
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile("fifo")
		got <- string(b)
	}()
	require.NoError(t, writeFile("fifo", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }))
	require.Equal(t, "new", <-got)
	info, err := os.Lstat("fifo")
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "a device is not replaced by a file")
}

// TestNoFileReplaced: record files, which are renamed once complete, replace
// only regular files, even with --force.
func TestNoFileReplaced(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a.png": pngBytes(t, 5, 4, 1)}))
	require.Equal(t, exitOK, call(t, "pack", "recordio", "-q", "x", "in").status)
	require.NoError(t, os.Mkdir("y.rec", 0o777))
	require.NoError(t, syscall.Mkfifo("z.rec", 0o666))
	for name, what := range map[string]string{"y": "is a folder", "z": "is a named pipe"} {
		for _, to := range []string{"imagerecord", "webdataset"} {
			r := call(t, "records", "convert", "--force", "--to", to, "x.rec", "-o", name+".rec")
			require.Equal(t, exitFailed, r.status)
			require.Contains(t, r.stderr, name+".rec: "+what+": want a regular file\n")
		}
		r := call(t, "pack", "recordio", "--force", name, "in")
		require.Equal(t, called{exitFailed, "", "infer-prep: pack: " + name + ".rec: not a regular file: want the name of a file\n"}, r)
		info, err := os.Lstat(name + ".rec")
		require.NoError(t, err)
		require.False(t, info.Mode().IsRegular())
	}
}

// TestRunFIFO: run refuses a FIFO instead of waiting for it.
func TestRunFIFO(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a.png": pngBytes(t, 5, 4, 1)}))
	require.NoError(t, syscall.Mkfifo("in/fifo.png", 0o666))
	ended := make(chan called, 1)
	go func() { ended <- call(t, "run", "--preset", "decode", "-o", "out", "in/fifo.png", "in", "/dev/zero") }()
	select {
	case r := <-ended:
		require.Equal(t, exitFailed, r.status)
		require.Contains(t, r.stderr, "infer-prep: in/fifo.png: not a regular file\n")
		require.Contains(t, r.stderr, "infer-prep: /dev/zero: not a regular file\n")
		require.Contains(t, r.stderr, "3 images, 2 failed, 1 skipped")
	case <-time.After(10 * time.Second):
		require.Fail(t, "it waits")
	}
}

// TestPackDanglingLink: a dangling link is a sample that cannot be read; it
// does not end the pack.
func TestPackDanglingLink(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/k/a.png": pngBytes(t, 5, 4, 1)}))
	require.NoError(t, os.Symlink("nowhere", "in/k/b.png"))
	for _, args := range [][]string{{"-o", "x"}, {"-o", "y", "--classes"}} {
		r := call(t, append([]string{"pack", "shards", "in"}, args...)...)
		require.Equal(t, exitFailed, r.status)
		require.Contains(t, r.stderr, "infer-prep: pack: in/k/b.png: no such file or directory\n")
		require.Contains(t, r.stderr, "1 shard with 1 sample; 1 could not be packed\n")
	}
}

// TestTrainBenchWithoutCache: a cache that cannot be used is said once, and the
// run goes on without it.
func TestTrainBenchWithoutCache(t *testing.T) {
	trainTree(t)
	b, err := json.Marshal(dataset.From(imagefolder.New("classes")).FileCache("train.json/cache", 1<<20))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("cached.json", b, 0o666))
	r := call(t, "train-bench", "--json", "cached.json")
	require.Equal(t, exitOK, r.status, r.stderr)
	require.Equal(t, "infer-prep: dataset: file_cache: cache train.json/cache: not used: open train.json/cache: not a directory\n", r.stderr)
}
