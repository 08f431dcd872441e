package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
)

func call(t *testing.T, stdin []byte, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	status := cli.Run(t.Context(), args, bytes.NewReader(stdin), &out, &errs)
	return fmt.Sprintf("%d\n%s%s", status, out.String(), errs.String())
}

// TestMindRecord: run reads the images of a MindRecord file, and of each file
// of a set alone. It says that a pipe cannot be read.
func TestMindRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("in", 0o777))
	const n = 10
	for i := range n {
		m := image.NewNRGBA(image.Rect(0, 0, 5, 4))
		m.SetNRGBA(1, 1, color.NRGBA{uint8(i), 2, 3, 255})
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, m))
		require.NoError(t, os.WriteFile(fmt.Sprintf("in/%d.png", i), b.Bytes(), 0o666))
	}
	require.Regexp(t, "^0\n", call(t, nil, "run", "-q", "--preset", "decode", "-o", "ref", "in"))
	require.Regexp(t, "^0\n", call(t, nil, "pack", "shards", "-q", "-o", "x", "in"))
	shards, err := filepath.Glob("x/*.tar")
	require.NoError(t, err)
	require.Len(t, shards, 1)
	require.Regexp(t, "^0\n", call(t, nil, "records", "convert", "-q", shards[0], "-o", "x.mindrecord"))

	require.Regexp(t, `^0\n10 images, 0 failed, 0 skipped`, call(t, nil, "run", "--preset", "decode", "-o", "out", "x.mindrecord"))
	files, err := filepath.Glob("out/x.mindrecord/*.npy")
	require.NoError(t, err)
	require.Len(t, files, n)
	for i := range n {
		want, err := os.ReadFile(fmt.Sprintf("ref/%d.png.npy", i))
		require.NoError(t, err)
		got, err := os.ReadFile(fmt.Sprintf("out/x.mindrecord/%d.png.npy", i))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	b, err := os.ReadFile("x.mindrecord")
	require.NoError(t, err)
	const text = "infer-prep: -: the format mindrecord cannot be read from a pipe, since it needs to seek and the files beside it: want a file\n"
	require.Contains(t, call(t, b, "run", "--preset", "decode", "-o", "out", "-"), text)
	require.Contains(t, call(t, b, "records", "ls", "-"), text)
}

// TestPlugin: commands run a graph with a function of a shared library if
// --allow-plugin allows the library.
func TestPlugin(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	require.NoError(t, err)
	images := filepath.Join(examples, "classifier", "images")
	text, err := os.ReadFile(filepath.Join(examples, "plugin", "graph.json"))
	require.NoError(t, err)
	name := fmt.Sprint("contrast-", time.Now().UnixNano()) // a process allows a name once
	graph := filepath.Join(t.TempDir(), "graph.json")
	require.NoError(t, os.WriteFile(graph, bytes.Replace(text, []byte(`"contrast"`), []byte(`"`+name+`"`), 1), 0o666))
	require.Contains(t, call(t, nil, "run", "--graph", graph, "-o", t.TempDir(), images), "(plugin): plugin: ") // on all platforms
	library := clibtest.Build(t, []string{"-I", filepath.Join("..", "..", "transforms", "plugin")}, filepath.Join(examples, "plugin", "local_contrast.c"))
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"run", "--graph", graph, "-o", "none", images}, {"graph", "show", "--graph", graph}, {"bundle", "create", "--graph", graph, "-o", "none.bundle"},
	} {
		out := call(t, nil, args...)
		require.Regexp(t, "^2\n", out)
		require.Contains(t, out, `library "`+name+`": library not allowed`)
		require.Contains(t, out, "--allow-plugin "+name+"=PATH")
	}
	for value, want := range map[string]string{
		"contrast": "want NAME=PATH", "contrast=": "want NAME=PATH", "a/b=" + library: "not a path", "contrast=none.so": "none.so",
		"contrast=" + graph: "invalid plugin library",
	} {
		out := call(t, nil, "run", "--allow-plugin", value, "--graph", graph, "-o", "none", images)
		require.Regexp(t, "^2\n", out)
		require.Contains(t, out, want)
	}
	allow := "--allow-plugin=" + name + "=" + library
	require.Regexp(t, `^0\n12 images, 0 failed`, call(t, nil, "run", allow, "--graph", graph, "-o", "out", images))
	require.Regexp(t, `plugin +image +uint8 HWC \(\?, \?, 3\) +uint8 HWC \(\?, \?, 3\) +library=contrast`,
		call(t, nil, "graph", "show", allow, "--graph", graph))
	require.Regexp(t, "^0\n", call(t, nil, "bundle", "create", allow, "--graph", graph, "--golden", images, "-o", "a.bundle"))
	require.Regexp(t, "^0\n", call(t, nil, "bundle", "verify", allow, "a.bundle"))
	require.Regexp(t, `^0\n.*equal`, call(t, nil, "diff", allow, "--graph", graph, filepath.Join(images, "00.jpg"), "--against", "out/00.jpg.npy"))
	require.Regexp(t, `(?m)^library +string$`, call(t, nil, "ops", "plugin"))
}
