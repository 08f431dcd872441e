package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/job"
	"github.com/stretchr/testify/require"
)

// old sets the modification time of files so far back that it proves that they
// have not changed.
func old(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		require.NoError(t, os.Chtimes(p, time.Time{}, time.Now().Add(-time.Hour)))
	}
}

func TestSkipExistingByName(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a.png": pngBytes(t, 5, 4, 1), "in/s/b.png": pngBytes(t, 5, 4, 2), "in/c.txt": []byte("hello")}))
	yolo := []string{"run", "--preset", "yolo", "--outputs", "all", "--skip-existing", "-o", "out", "in"}
	r := call(t, yolo...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stderr, "2 images, 0 failed, 1 skipped, ")
	require.NoError(t, os.Remove("out/s/b.png.pad.npy"))
	require.NoError(t, os.WriteFile("out/a.png.pad.npy", nil, 0o666))
	r = call(t, append(yolo, "--json")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "{\"input\":\"in/a.png\",\"existed\":true}\n", r.stdout[:strings.IndexByte(r.stdout, '\n')+1])
	require.Contains(t, r.stdout, `{"input":"in/s/b.png","outputs":[`)
	require.FileExists(t, "out/s/b.png.pad.npy")
	require.Empty(t, readText(t, "out/a.png.pad.npy"), "names alone decide")
	r = call(t, yolo...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stderr, "0 images, 0 failed, 1 skipped, 2 done before, ")

	// Lists name the images of both runs.
	list := []string{"run", "--preset", "imagenet", "--format", "tensorrt", "--skip-existing", "-o", "rt"}
	require.Equal(t, command.ExitOK, call(t, append(list, "in/a.png")...).status)
	require.Equal(t, command.ExitOK, call(t, append(list, "in/a.png", "in/s/b.png")...).status)
	require.Equal(t, 2, strings.Count(readText(t, "rt/load_inputs.txt"), "\n"))
}

func TestSkipExistingByContent(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a b.png": pngBytes(t, 5, 4, 1), "in/b.png": pngBytes(t, 5, 4, 2)}))
	old(t, "in/a b.png", "in/b.png")
	// run returns the images that were done.
	run := func(args ...string) (done []string) {
		t.Helper()
		r := call(t, append([]string{"run", "--preset", "decode", "--skip-existing=content", "--json", "-o", "out"}, args...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		for line := range strings.Lines(r.stdout) {
			var x struct {
				Input   string
				Existed bool
			}
			require.NoError(t, json.Unmarshal([]byte(line), &x))
			if !x.Existed {
				done = append(done, x.Input)
			}
		}
		return done
	}
	require.Equal(t, []string{"in/a b.png", "in/b.png"}, run("in"))
	require.Empty(t, run("in"))

	require.NoError(t, os.Chtimes("in/b.png", time.Time{}, time.Now()))
	require.Empty(t, run("in"), "the content is the same")
	require.NoError(t, os.WriteFile("in/b.png", pngBytes(t, 5, 4, 3), 0o666))
	require.Equal(t, []string{"in/b.png"}, run("in"), "another content")
	require.NoError(t, os.WriteFile("in/b.png", pngBytes(t, 5, 4, 4), 0o666))
	require.Equal(t, []string{"in/b.png"}, run("in"), "changed soon after it was read")
	old(t, "in/b.png")
	require.Empty(t, run("in"))

	// Another file of the same name, size and time.
	require.NoError(t, os.MkdirAll("other", 0o777))
	require.NoError(t, os.WriteFile("other/b.png", pngBytes(t, 5, 4, 5), 0o666))
	info, err := os.Stat("in/b.png")
	require.NoError(t, err)
	require.NoError(t, os.Chtimes("other/b.png", time.Time{}, info.ModTime()))
	require.Equal(t, []string{"other/b.png"}, run("other"))
	require.Equal(t, []string{"in/b.png"}, run("in"))

	require.NoError(t, os.Remove("out/b.png.npy"))
	require.Equal(t, []string{"in/b.png"}, run("in"), "no output")
	require.NoError(t, os.WriteFile("out/b.png.npy", []byte("short"), 0o666))
	require.Equal(t, []string{"in/b.png"}, run("in"), "an output of another size")
	require.Equal(t, []string{"in/a b.png", "in/b.png"}, run("--batch", "in"), "another graph")
	require.Equal(t, []string{"in/a b.png", "in/b.png"}, run("in"))

	// A kill in the middle of a line, and lines that are no good.
	path := filepath.Join("out", ".infer-prep-manifest")
	whole := readText(t, path)
	require.Equal(t, 3, strings.Count(whole, "\n"))
	for _, end := range []string{"x", "x\n", strings.Repeat("0", 64) + " 1 2 3 \"a", strings.Repeat("0", 64) + " 1 2 3 \"a\" \n", strings.Repeat("y", 3<<20) + "\n"} {
		require.NoError(t, os.WriteFile(path, []byte(whole+end), 0o666))
		require.Empty(t, run("in"))
		require.Len(t, readText(t, path), len(whole))
	}
	lines := strings.SplitAfter(whole, "\n")
	require.NoError(t, os.WriteFile(path, []byte(lines[0]+lines[1]+lines[2][:50]), 0o666))
	require.Len(t, run("in"), 1)
	require.NoError(t, os.WriteFile(path, []byte("nonsense\n"), 0o666))
	require.Len(t, run("in"), 2)

	// A run without the flag writes other tensors and drops the manifest.
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "decode", "-o", "out", "in").status)
	require.NoFileExists(t, path)
	require.Len(t, run("in"), 2)

	// A kill between the outputs of a new image and its line: with the old
	// image again, the outputs are not its own.
	before := readText(t, path)
	image := readText(t, "in/b.png")
	info, err = os.Stat("in/b.png")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("in/b.png", pngBytes(t, 5, 4, 9), 0o666))
	require.Len(t, run("in"), 1)
	after := readText(t, path)
	require.True(t, strings.HasPrefix(after, before+"begin \"b.png\"\n"))
	require.NoError(t, os.WriteFile(path, []byte(before+"begin \"b.png\"\n"), 0o666))
	require.NoError(t, os.WriteFile("in/b.png", []byte(image), 0o666))
	require.NoError(t, os.Chtimes("in/b.png", time.Time{}, info.ModTime()))
	require.Equal(t, []string{"in/b.png"}, run("in"))

	// Images of containers are compared too.
	require.Equal(t, command.ExitOK, call(t, "pack", "shards", "-o", "tars", "in").status)
	tars, err := filepath.Glob("tars/*.tar")
	require.NoError(t, err)
	require.Len(t, run(tars...), 2)
	require.Empty(t, run(tars...))
}

func TestSkipExistingRefused(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)}))
	for _, c := range []struct{ flags, want string }{
		{"--skip-existing=date -o out", `--skip-existing "date": want name or content`},
		{"--skip-existing=content --batch-size 2 -o out", "--skip-existing=content applies to files of one image"},
		{"--skip-existing --force --batch-size 2 -o out", "want only one of them"},
		{"--skip-existing --format webdataset -o out", "--skip-existing does not apply to --format webdataset"},
		{"--skip-existing --format onnx-test -o out", "--skip-existing does not apply to --format onnx-test"},
		{"--skip-existing -o -", "--skip-existing needs -o DIR"},
		{"-0 -o out", "--null is for the entries of --files-from"},
		{"--lines --report x", "--report does not apply to --lines"},
	} {
		r := call(t, append([]string{"run", "--preset", "decode", "a.png"}, strings.Fields(c.flags)...)...)
		if strings.Contains(c.flags, "--lines") {
			r = call(t, append([]string{"run", "--preset", "decode"}, strings.Fields(c.flags)...)...)
		}
		require.Equal(t, command.ExitUsage, r.status, c.flags)
		require.Contains(t, r.stderr, c.want)
	}
}

// reportLine is a line of a report.
type reportLine struct {
	Input, Name, In string
	Status          job.Status
	Kind            job.Kind
	Why             string
	Outputs         []job.Output
}

func readReport(t *testing.T, path string) (l []reportLine) {
	t.Helper()
	for line := range strings.Lines(readText(t, path)) {
		var x reportLine
		require.NoError(t, json.Unmarshal([]byte(line), &x), line)
		l = append(l, x)
	}
	return l
}

// TestReport reads what a report says of each kind of input, and runs the
// images that failed again.
func TestReport(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	dir := tree(t, map[string][]byte{
		"in/a/x.png": img, "in/b/x.png": img[:40], "in/c.txt": []byte("hello"), "in/d.jpg": []byte("hello"), "in/e.png": nil, "in/f.svg": []byte("<svg/>"),
	})
	t.Chdir(dir)
	r := call(t, "run", "--preset", "decode", "--report", "report.jsonl", "-o", "out", "in", "missing.png")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: in/d.jpg: left out: not an image\ninfer-prep: in/e.png: left out: the file is empty\ninfer-prep: in/f.svg: left out: unsupported: SVG\n")
	l := readReport(t, "report.jsonl")
	require.Len(t, l, 8)
	require.Equal(t, []job.Output{{Name: "image", File: filepath.Join("out", "a", "x.png.npy"), DType: l[0].Outputs[0].DType, Shape: l[0].Outputs[0].Shape}}, l[0].Outputs)
	l[0].Outputs = nil
	require.Regexp(t, "truncated|ends", l[1].Why)
	l[1].Why = ""
	require.Equal(t, []reportLine{
		{Input: "in/a/x.png", Name: "a/x.png", Status: "done"},
		{Input: "in/b/x.png", Name: "b/x.png", Status: "failed", Kind: "image"},
		{Input: "in/c.txt", Name: "c.txt", Status: "skipped", Why: "not an image"},
		{Input: "in/d.jpg", Name: "d.jpg", Status: "skipped", Why: "not an image"},
		{Input: "in/e.png", Name: "e.png", Status: "skipped", Why: "the file is empty"},
		{Input: "in/f.svg", Name: "f.svg", Status: "skipped", Why: "unsupported: SVG"},
		{Input: "missing.png", Status: "failed", Kind: "missing", Why: "missing.png: no such file or folder"},
		{Status: "end"},
	}, l)

	require.NoError(t, os.WriteFile("in/b/x.png", img, 0o666))
	r = call(t, "run", "--preset", "decode", "--files-from", "report.jsonl", "--report", "report.jsonl", "-o", "out")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--report report.jsonl would replace the list of --files-from")
	r = call(t, "run", "--preset", "decode", "--files-from", "report.jsonl", "--report", "again.jsonl", "-o", "out")
	require.Equal(t, command.ExitFailed, r.status, "one is still missing")
	done := call(t, "run", "--preset", "decode", "--report", "done.jsonl", "-o", "out", "in/a")
	require.Equal(t, command.ExitOK, done.status)
	done = call(t, "run", "--preset", "decode", "--files-from", "done.jsonl", "-o", "out")
	require.Equal(t, called{0, "", "done.jsonl: nothing to do: the report has no image that failed or was not begun\n"}, done)
	l = readReport(t, "again.jsonl")
	require.Len(t, l, 3)
	require.Equal(t, job.Done, l[0].Status)
	require.FileExists(t, "out/b/x.png.npy")

	// A killed run leaves no end, and perhaps a part of a line.
	whole := readText(t, "report.jsonl")
	whole = strings.TrimSuffix(whole, "{\"status\":\"end\"}\n")
	for _, text := range []string{whole, whole + `{"input":"in/`, `{"input":"in/`} {
		require.NoError(t, os.WriteFile("torn.jsonl", []byte(text), 0o666))
		r = call(t, "run", "--preset", "decode", "--files-from", "torn.jsonl", "-o", "out")
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, "--files-from torn.jsonl: the report has no end, because its run was killed: ")
	}
	require.NoError(t, os.WriteFile("torn.jsonl", []byte(`{"input":"x","status":"failed"}`+"\nhello\n{}\n"), 0o666))
	r = call(t, "run", "--preset", "decode", "--files-from", "torn.jsonl", "-o", "out")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--files-from torn.jsonl: line 2: not a line of a report")
}

// TestReportOfInterruptedRun: images that were not begun are pending, and
// --files-from takes them.
func TestReportOfInterruptedRun(t *testing.T) {
	files := map[string][]byte{}
	for i := range 100 {
		files[fmt.Sprintf("in/%03d.png", i)] = pngBytes(t, 5, 4, uint8(i))
	}
	t.Chdir(tree(t, files))
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int32
	var stdout, stderr bytes.Buffer
	a := &command.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, OnItem: func() {
		if n.Add(1) == 20 {
			cancel()
		}
	}}
	require.Equal(t, command.ExitInterrupted, execute(ctx, a, []string{"run", "--preset", "decode", "--report", "r.jsonl", "-o", "out", "in"}))
	l := readReport(t, "r.jsonl")
	require.Len(t, l, 101)
	done := wholeFiles(t, "out")
	for i, x := range l[:100] {
		require.Equal(t, fmt.Sprintf("in/%03d.png", i), x.Input)
		require.Equal(t, i < done, x.Status == "done")
		require.Equal(t, i >= done, x.Status == "pending")
	}
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "decode", "--files-from", "r.jsonl", "-o", "out").status)
	require.Equal(t, 100, wholeFiles(t, "out"))
}

func TestFilesFrom(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	t.Chdir(tree(t, map[string][]byte{"a.png": img, "b c.png": img, "f/d.png": img, "new\nline.png": img}))
	run := func(stdin string, args ...string) []string {
		t.Helper()
		out := t.TempDir()
		r := callIn(t, stdin, append([]string{"run", "--preset", "decode", "-o", out}, args...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		return listFiles(t, out)
	}
	require.Equal(t, []string{"a.png.npy", "b c.png.npy", "d.png.npy"}, run("a.png\n\nb c.png\r\nf", "--files-from", "-"))
	require.Equal(t, []string{"a.png.npy", "new\nline.png.npy"}, run("new\nline.png\x00", "a.png", "--files-from", "-", "-0"))
	require.Equal(t, []string{"b c.png.npy", "f/d.png.npy"}, run("b c.png\nf/d.png\n", "--files-from", "-", "--keep-path"))
	r := callIn(t, strings.Repeat("x", 2<<20), "run", "--preset", "decode", "-o", "out", "--files-from", "-")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--files-from -: an entry has more than 1048576 bytes")
	r = callIn(t, "", "run", "--preset", "decode", "-o", "out", "--files-from", "-", "-")
	require.Contains(t, r.stderr, "both read standard input")
	r = call(t, "run", "--preset", "decode", "-o", "out", "--files-from", "none")
	require.Contains(t, r.stderr, "--files-from none: no such file")
	r = callIn(t, "", "run", "--preset", "decode", "-o", "out", "--files-from", "-")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "no images found")
}

func TestKeepPath(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	t.Chdir(tree(t, map[string][]byte{"a/x.png": img, "b/x.png": img}))
	r := call(t, "run", "--preset", "decode", "-o", "out", "a", "b")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "is already the output of a/x.png; --keep-path keeps them apart by their folders\n")
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "decode", "--keep-path", "-o", "kept", "a", "b/x.png").status)
	require.Equal(t, []string{"a/x.png.npy", "b/x.png.npy"}, listFiles(t, "kept"))
}

func TestStrict(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	files := map[string][]byte{"in/a.png": img, "in/notes.txt": []byte("hello"), "in/b.npy": []byte("\x93NUMPY"), "in/c.dat": []byte("\x28\xb5\x2f\xfd")}
	t.Chdir(tree(t, files))
	r := call(t, "run", "--preset", "decode", "--strict", "-o", "out", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.NotContains(t, r.stderr, "left out")
	for i := range 25 {
		require.NoError(t, os.WriteFile(fmt.Sprintf("in/%02d.heic", i), []byte("\x00\x00\x00\x18ftypheic"), 0o666))
	}
	r = call(t, "run", "--preset", "decode", "-o", "out", "in")
	require.Equal(t, command.ExitOK, r.status)
	require.Equal(t, 20, strings.Count(r.stderr, "left out: unsupported: HEIF"))
	require.Contains(t, r.stderr, "infer-prep: 5 files more were left out: --report lists them\n")
	require.Equal(t, command.ExitFailed, call(t, "run", "--preset", "decode", "--strict", "-o", "out", "in").status)
	require.NoError(t, os.Symlink("in", "link"))
	require.NoError(t, os.Mkdir("walk", 0o777))
	require.NoError(t, os.Symlink("../in", "walk/in"))
	r = call(t, "run", "--preset", "decode", "--strict", "-o", "out2", "walk")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "walk/in: left out: a link to a folder, which is not followed")
}

// TestNumberedFoldersOfAnEarlierRun: fewer sets than before would leave old
// ones.
func TestNumberedFoldersOfAnEarlierRun(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1), "b.png": pngBytes(t, 5, 4, 2)}))
	run := []string{"run", "--preset", "decode", "--format", "onnx-test", "-o", "out"}
	require.Equal(t, command.ExitOK, call(t, append(run, "a.png", "b.png")...).status)
	before := listFiles(t, "out")
	r := call(t, append(run, "a.png")...)
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "out/test_data_set_0 is from an earlier run: want another folder, or --force to remove it and all others like it\n")
	require.Equal(t, before, listFiles(t, "out"))
	require.Equal(t, command.ExitOK, call(t, append(run, "--force", "a.png")...).status)
	require.Equal(t, []string{"test_data_set_0/input_0.pb", "test_data_sets.txt"}, listFiles(t, "out"))
}
