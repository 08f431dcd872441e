package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/transforms"
)

// called is the result of a call of the program.
type called struct {
	status         int
	stdout, stderr string
}

func call(t *testing.T, args ...string) called {
	t.Helper()
	return callIn(t, "", args...)
}

func callIn(t *testing.T, stdin string, args ...string) called {
	t.Helper()
	var out, errs bytes.Buffer
	status := Run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return called{status, out.String(), errs.String()}
}

// pngBytes returns an image whose pixels are (x, y, seed).
func pngBytes(t *testing.T, w, h int, seed uint8) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), seed, 255})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// tree creates files below a new folder and returns the folder. Names that end
// in a slash are folders.
func tree(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o777))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, b, 0o666))
	}
	return dir
}

// listFiles lists the files below dir with slashes, sorted; nil if dir does not
// exist.
func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	var l []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			rel, err := filepath.Rel(dir, path)
			l = append(l, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	slices.Sort(l)
	return l
}

func TestUsageErrors(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"a.png":        pngBytes(t, 5, 4, 1),
		"empty.json":   nil,
		"not.json":     []byte("{"),
		"field.json":   []byte(`{"infer_prep_graph":1,"inputs":[{"name":"image","dtype":"bytes","layout":"none","shape":[]}],"steps":[{"op":"horizontal_flip","version":1,"in":["image"],"out":["image"],"params":{"tims":2}}],"outputs":["image"]}`),
		"op.json":      []byte(`{"infer_prep_graph":1,"inputs":[{"name":"image","dtype":"bytes","layout":"none","shape":[]}],"steps":[{"op":"no_such_op","version":1,"in":["image"],"out":["image"],"params":{}}],"outputs":["image"]}`),
		"inputs.json":  []byte(`{"infer_prep_graph":1,"inputs":[{"name":"x","dtype":"uint8","layout":"HWC","shape":[4,4,3]}],"steps":[],"outputs":["x"]}`),
		"shape.json":   []byte(`{"infer_prep_graph":1,"inputs":[{"name":"image","dtype":"bytes","layout":"none","shape":[]}],"steps":[{"op":"horizontal_flip","version":1,"in":["image"],"out":["image"],"params":{}}],"outputs":["image"]}`),
		"garbage.msgp": {0x96, 1, 2},
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	out := at("out")
	for _, c := range []struct {
		name string
		args []string
		want []string // in stderr
	}{
		{"no output", []string{"run", "--preset", "decode", at("a.png")}, []string{"-o DIR"}},
		{"report in a store", []string{"run", "--preset", "decode", "-o", out, "--report", "mem://report", at("a.png")}, []string{"--report mem://report: the report grows line by line: want a file of this machine"}},
		{"unknown scheme of the output", []string{"run", "--preset", "decode", "-o", "none://bucket/x", at("a.png")}, []string{"-o store: none://bucket/x: no store for none:// in this program: want a path, or a URI of file"}},
		{"no image", []string{"run", "--preset", "decode", "-o", out}, []string{"no images or sounds: want files, folders or globs"}},
		{"no graph", []string{"run", "-o", out, at("a.png")}, []string{"no graph", "--preset", "--graph", "--hf", "--timm", "--torchvision", "--ultralytics"}},
		{"two graphs", []string{"run", "--preset", "decode", "--hf", at("a.png"), "-o", out, at("a.png")}, []string{"--preset and --hf", "want only one graph"}},
		{"unknown preset", []string{"run", "--preset", "resnet", "-o", out, at("a.png")}, []string{`"resnet"`, "want clip, decode, imagenet or yolo"}},
		{"empty preset", []string{"run", "--preset", "", "-o", out, at("a.png")}, []string{"want clip, decode, imagenet or yolo"}},
		{"unknown flag", []string{"run", "--no-such-flag"}, []string{"--no-such-flag"}},
		{"unknown command", []string{"ruin"}, []string{`unknown command "ruin"`}},
		{"misspelled command", []string{"rn"}, []string{`unknown command "rn"; did you mean "run"?`}},
		{"misspelled subcommand", []string{"graph", "shw"}, []string{`unknown command "shw": want export-mindir, export-onnx, import, infer, make, plan or show; did you mean "show"?`}},
		{"misspelled flag", []string{"run", "--presett", "decode"}, []string{`unknown flag: --presett; did you mean "--preset"?`}},
		{"misspelled preset", []string{"run", "--preset", "imagnet", "-o", out, at("a.png")}, []string{`--preset "imagnet": want clip, decode, imagenet or yolo; did you mean "imagenet"?`}},
		{"misspelled format", []string{"run", "--preset", "decode", "--format", "nyp", "-o", out, at("a.png")}, []string{`; did you mean "npy"?`}},
		{"help of a misspelled command", []string{"help", "bnech"}, []string{`unknown command "bnech"; did you mean "bench"?`}},
		{"part of an op's name", []string{"ops", "flip"}, []string{`unknown op "flip"; did you mean "flip_coords", "horizontal_flip", "random_horizontal_flip"`}},
		{"unlike any op", []string{"ops", "zzz"}, []string{`unknown op "zzz"; "infer-prep ops" lists the ops`}},
		{"unknown subcommand", []string{"graph", "ruin"}, []string{`"ruin"`, "want export-mindir, export-onnx, import, infer, make, plan or show"}},
		{"format", []string{"run", "--preset", "decode", "--format", "mat", "-o", out, at("a.png")}, []string{`"mat"`, "want npy, npz, raw, pb, safetensors"}},
		{"outputs", []string{"run", "--preset", "decode", "--outputs", "some", "-o", out, at("a.png")}, []string{`"some"`, "main or all"}},
		{"jobs", []string{"run", "--preset", "decode", "--jobs", "0", "-o", out, at("a.png")}, []string{"--jobs 0"}},
		{"jobs not a number", []string{"run", "--preset", "decode", "--jobs", "x", "-o", out, at("a.png")}, []string{"--jobs"}},
		{"limit", []string{"run", "--preset", "decode", "--limit-pixels", "-1", "-o", out, at("a.png")}, []string{"limit-pixels", "400M"}},
		{"dtype", []string{"run", "--preset", "decode", "--dtype", "float8", "-o", out, at("a.png")}, []string{`"float8"`, "float16"}},
		{"layout", []string{"run", "--preset", "decode", "--layout", "NCHW", "-o", out, at("a.png")}, []string{`"NCHW"`, "HWC or CHW"}},
		{"bfloat16 in npy", []string{"run", "--preset", "imagenet", "--dtype", "bfloat16", "-o", out, at("a.png")}, []string{"bfloat16", "want raw, pb, safetensors"}},
		{"missing graph", []string{"run", "--graph", at("none.json"), "-o", out, at("a.png")}, []string{"none.json: no such file"}},
		{"empty graph", []string{"run", "--graph", at("empty.json"), "-o", out, at("a.png")}, []string{"the file is empty, want a graph"}},
		{"not json", []string{"run", "--graph", at("not.json"), "-o", out, at("a.png")}, []string{"not.json: "}},
		{"not msgp", []string{"run", "--graph", at("garbage.msgp"), "-o", out, at("a.png")}, []string{"garbage.msgp: "}},
		{"unknown field", []string{"run", "--graph", at("field.json"), "-o", out, at("a.png")}, []string{"field.json", "step 0 (horizontal_flip)", `"tims"`}},
		{"unknown op", []string{"run", "--graph", at("op.json"), "-o", out, at("a.png")}, []string{"op.json", "step 0 (no_such_op)"}},
		{"a graph of tensors", []string{"run", "--graph", at("inputs.json"), "-o", out, at("a.png")}, []string{"x (uint8 HWC (4, 4, 3))", "one encoded image"}},
		{"exif without decode", []string{"run", "--graph", at("inputs.json"), "--exif", "-o", out, at("a.png")}, []string{"--exif: the graph has no decode step"}},
		{"shapes", []string{"run", "--graph", at("shape.json"), "-o", out, at("a.png")}, []string{"shape.json: ", "step 0 (horizontal_flip)"}},
		{"folder as graph", []string{"run", "--graph", dir, "-o", out, at("a.png")}, []string{"format graph takes a file, not a folder"}},
		{"import with an argument", []string{"graph", "import", "--preset", "clip", "x"}, []string{`"x"`}},
		{"steps without image", []string{"graph", "show", "--preset", "clip", "--steps", out}, []string{"IMAGE"}},
		{"two images to infer", []string{"graph", "infer", "--preset", "clip", "a", "b"}, []string{"one image"}},
		{"unknown op name", []string{"ops", "center-crop"}, []string{`did you mean "center_crop"?`}},
		{"two ops", []string{"ops", "a", "b"}, []string{"one name"}},
		{"coverage of an op", []string{"ops", "--coverage", "resize"}, []string{"no name"}},
		{"version with an argument", []string{"version", "x"}, []string{`"x"`}},
		{"help of nothing", []string{"help", "nope"}, []string{`"nope"`}},
		{"man without a folder", []string{"man"}, []string{"1 arg"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call(t, c.args...)
			require.Equal(t, command.ExitUsage, r.status, r.stderr)
			require.Empty(t, r.stdout)
			lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
			require.Len(t, lines, 3, "the error, the usage line and where to see more: %q", r.stderr)
			require.True(t, strings.HasPrefix(lines[0], "infer-prep: "), lines[0])
			require.True(t, strings.HasPrefix(lines[1], "usage: infer-prep"), lines[1])
			require.Equal(t, 1, strings.Count(r.stderr, command.Program+": "), "the error is printed once: %q", r.stderr)
			for _, w := range c.want {
				require.Contains(t, lines[0], w)
			}
			require.NoDirExists(t, out)
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"run", "--help"}, {"graph"}, {"graph", "show", "-h"}, {"ops", "--help"}} {
		r := call(t, args...)
		require.Equal(t, command.ExitOK, r.status)
		require.Contains(t, r.stdout, "Usage:")
		require.Empty(t, r.stderr)
		require.NotContains(t, r.stdout, "man DIR")
	}
}

func TestVersion(t *testing.T) {
	r := call(t, "version")
	require.Equal(t, command.ExitOK, r.status)
	for _, w := range []string{"infer-prep", "Go ", "Pillow", "13.0.0", "5.23.0"} {
		require.Contains(t, r.stdout, w)
	}
	require.Regexp(t, `^infer-prep version .+\n$`, call(t, "--version").stdout)
	r = call(t, "version", "--json")
	require.Contains(t, r.stdout, `"version": "13.0.0"`)
}

func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	require.Equal(t, command.ExitOK, call(t, "man", dir).status)
	files := listFiles(t, dir)
	for _, w := range []string{"infer-prep.1", "infer-prep-run.1", "infer-prep-graph-show.1", "infer-prep-ops.1"} {
		require.Contains(t, files, w)
	}
	first, err := os.ReadFile(filepath.Join(dir, "infer-prep-run.1"))
	require.NoError(t, err)
	require.Contains(t, string(first), "DIR/cat.jpg.OUTPUT.npy")
	require.Contains(t, string(first), "\\fB\\-o\\fP, \\fB\\-\\-output\\fP \\fIDIR\\fP\n")
	require.Equal(t, command.ExitOK, call(t, "man", dir).status)
	again, err := os.ReadFile(filepath.Join(dir, "infer-prep-run.1"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(again), "the pages do not depend on the time")
}

func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"run", "--preset", ""}, []string{"clip", "decode", "imagenet", "yolo"}},
		{[]string{"run", "--format", ""}, []string{"npy", "npz", "raw", "pb", "safetensors"}},
		{[]string{"graph", "show", "--layout", ""}, []string{"HWC", "CHW"}},
		{[]string{"run", "--dtype", "float"}, []string{"float16", "float32", "float64"}},
		{[]string{"ops", "horizontal"}, []string{"horizontal_flip"}},
	} {
		r := call(t, append([]string{"__complete"}, c.args...)...)
		for _, w := range c.want {
			require.Contains(t, strings.Split(r.stdout, "\n"), w, "%q", c.args)
		}
	}
	require.Contains(t, call(t, "__complete", "graph", "import", "--graph", "").stdout, "json\nmsgp\n:8") // files with these extensions
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := call(t, "completion", shell)
		require.Equal(t, command.ExitOK, r.status)
		require.NotEmpty(t, r.stdout)
	}
}

func TestOps(t *testing.T) {
	r := call(t, "ops")
	require.Equal(t, command.ExitOK, r.status)
	require.Regexp(t, `(?m)^letterbox +image -> image, scale, pad `, r.stdout)
	r = call(t, "ops", "resize")
	require.Equal(t, command.ExitOK, r.status)
	require.Regexp(t, `(?m)^interpolation +bilinear +name: nearest, `, r.stdout)
	require.Contains(t, r.stdout, "Pillow 13.0.0")
	require.Contains(t, r.stdout, "Resize scales an image to another size.")
	require.Regexp(t, `(?m)^edge +0 +integer\n +for shortest, longest, longest_min$`, r.stdout)
	require.Contains(t, call(t, "ops", "hwc2chw").stdout, "No parameters.")
	r = call(t, "ops", "--coverage")
	require.Regexp(t, `(?m)^HWC2CHW +hwc2chw +0 +NumPy`, r.stdout)
	require.Regexp(t, `(?m)^DecodeVideo +- +not here +video$`, r.stdout)
	var c graph.ClassesJSON
	require.NoError(t, json.Unmarshal([]byte(call(t, "ops", "--coverage", "--json").stdout), &c))
	require.Equal(t, len(c.Classes), c.Covered+c.NotHere)
	require.Equal(t, "mindspore.dataset.vision.AdjustBrightness", c.Classes[0].Class)
	for _, i := range transforms.Ops() {
		d := graph.DescribeOp(i)
		require.NotEmpty(t, d.Summary, i.Name)
		require.Equal(t, command.ExitOK, call(t, "ops", i.Name).status)
	}
	r = call(t, "ops", "decode", "--json")
	require.Contains(t, r.stdout, `"name": "orientation"`)
	r = call(t, "ops", "--json")
	require.Contains(t, r.stdout, `"name": "horizontal_flip"`)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestFullDisk: writing to standard output fails.
func TestFullDisk(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)}), "a.png")
	for _, args := range [][]string{
		{"ops"}, {"ops", "resize", "--json"}, {"version"}, {"graph", "import", "--preset", "clip"}, {"graph", "show", "--preset", "clip"},
		{"graph", "plan", "--preset", "clip"}, {"graph", "infer", "--preset", "clip", "--json"},
		{"run", "--preset", "decode", "--json", "-o", t.TempDir(), img}, {"run", "--preset", "decode", "--json", "-o", t.TempDir(), img + "x"},
	} {
		var errs bytes.Buffer
		status := Run(t.Context(), args, strings.NewReader(""), fullDisk{}, &errs)
		require.Equal(t, command.ExitFailed, status, args)
		require.Contains(t, errs.String(), "infer-prep: no space left\n", args)
	}
}

// TestBrokenPipe: the run ends quietly if the reader of --json goes away.
func TestBrokenPipe(t *testing.T) {
	in := map[string][]byte{}
	for i := range 50 {
		in[string(rune('a'+i%26))+string(rune('a'+i/26))+".png"] = pngBytes(t, 5, 4, uint8(i))
	}
	dir := tree(t, in)
	out := filepath.Join(t.TempDir(), "out")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	var errs bytes.Buffer
	status := Run(context.Background(), []string{"run", "--preset", "decode", "--json", "-o", out, dir}, strings.NewReader(""), w, &errs)
	require.Equal(t, command.ExitFailed, status)
	require.Empty(t, errs.String())
	for _, f := range listFiles(t, out) {
		require.True(t, strings.HasSuffix(f, ".npy"), f)
	}
}
