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

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli"
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
