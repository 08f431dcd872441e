//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/internal/newfile"
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
	require.NoError(t, newfile.Write(t.Context(), "fifo", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }))
	require.Equal(t, "new", <-got)
	info, err := os.Lstat("fifo")
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "a device is not replaced by a file")
}

// TestNoFileReplaced: record files, which are renamed once complete, replace
// only regular files, even with --force.
func TestNoFileReplaced(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a.png": pngBytes(t, 5, 4, 1)}))
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "-q", "x", "in").status)
	require.NoError(t, os.Mkdir("y.rec", 0o777))
	require.NoError(t, syscall.Mkfifo("z.rec", 0o666))
	for name, what := range map[string]string{"y": "is a folder", "z": "is a named pipe"} {
		for _, to := range []string{"imagerecord", "webdataset"} {
			r := call(t, "records", "convert", "--force", "--to", to, "x.rec", "-o", name+".rec")
			require.Equal(t, command.ExitFailed, r.status)
			require.Contains(t, r.stderr, name+".rec: "+what+": want a regular file\n")
		}
		r := call(t, "pack", "recordio", "--force", name, "in")
		require.Equal(t, called{command.ExitFailed, "", "infer-prep: pack: " + name + ".rec: not a regular file: want the name of a file\n"}, r)
		info, err := os.Lstat(name + ".rec")
		require.NoError(t, err)
		require.False(t, info.Mode().IsRegular())
	}
}

// TestRunFIFO: run skips a FIFO in a folder instead of waiting for it, and
// reads one that is named. It does not read the rest of an endless device whose
// first bytes are not an image's.
func TestRunFIFO(t *testing.T) {
	a := pngBytes(t, 5, 4, 1)
	t.Chdir(tree(t, map[string][]byte{"in/a.png": a}))
	require.NoError(t, syscall.Mkfifo("in/fifo.png", 0o666))
	require.NoError(t, syscall.Mkfifo("fifo", 0o666))
	within(t, time.Minute, func() {
		go func() { _ = os.WriteFile("fifo", a, 0) }()
		r := call(t, "run", "--preset", "decode", "-o", "out", "in", "/dev/zero", "fifo")
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "infer-prep: /dev/zero: codec: offset 0: invalid format: unknown format, first bytes \"\\x00")
		require.Contains(t, r.stderr, "3 images, 1 failed, 1 skipped")
	})
	requireDecoded(t, "out/fifo.npy", 5, 4, 1)
}

// within fails unless f ends in time.
func within(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	select {
	case <-ended:
	case <-time.After(d):
		require.Fail(t, "it waits")
	}
}

// TestPipeInterrupted: a run that waits for a pipe's writer ends when it is
// interrupted.
func TestPipeInterrupted(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)}))
	require.NoError(t, syscall.Mkfifo("fifo", 0o666))
	stdin, w := io.Pipe()
	defer w.Close()
	for _, args := range [][]string{
		{"run", "--preset", "decode", "-o", "out", "a.png", "fifo"}, {"run", "--preset", "decode", "-o", "out", "a.png", "-"},
		{"graph", "infer", "--preset", "decode", "-"}, {"diff", "--preset", "decode", "fifo", "a.npy"}, {"records", "ls", "fifo"}, {"diff", "fifo", "a.npy"}, {"records", "cat", "-"},
	} {
		within(t, time.Minute, func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer time.AfterFunc(300*time.Millisecond, cancel).Stop()
			var errs bytes.Buffer
			status := Run(ctx, args, stdin, io.Discard, &errs)
			require.Equal(t, command.ExitInterrupted, status, "%s: %s", args, errs.String())
		})
	}
	requireDecoded(t, "out/a.png.npy", 5, 4, 1)
}

// TestPackDanglingLink: a dangling link is a sample that cannot be read; it
// does not end the pack.
func TestPackDanglingLink(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/k/a.png": pngBytes(t, 5, 4, 1)}))
	require.NoError(t, os.Symlink("nowhere", "in/k/b.png"))
	for _, args := range [][]string{{"-o", "x"}, {"-o", "y", "--classes"}} {
		r := call(t, append([]string{"pack", "shards", "in"}, args...)...)
		require.Equal(t, command.ExitFailed, r.status)
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
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "infer-prep: dataset: file_cache: cache train.json/cache: not used: open train.json/cache: not a directory\n", r.stderr)
}

// TestStdoutTerminal: tensors are not written to a terminal, except as text.
func TestStdoutTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal to write to: %v", err)
	}
	defer terminal.Close()
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)}))
	for format, want := range map[string]string{"npy": "standard output is a terminal", "webdataset": "standard output is a terminal", "triton": ""} {
		var stderr bytes.Buffer
		a := &command.App{Stdin: strings.NewReader(""), Stdout: terminal, Stderr: &stderr}
		status := execute(t.Context(), a, []string{"run", "-q", "--preset", "decode", "--format", format, "-o", "-", "a.png"})
		if want == "" {
			require.Equal(t, command.ExitOK, status, stderr.String())
		} else {
			require.Equal(t, command.ExitUsage, status)
			require.Contains(t, stderr.String(), want)
		}
	}
}
