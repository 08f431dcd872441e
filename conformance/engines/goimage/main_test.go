package main

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOne answers requests in both forms, and compares the npy file's bytes.
func TestOne(t *testing.T) {
	dir := t.TempDir()
	im := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	im.SetNRGBA(0, 0, color.NRGBA{1, 2, 3, 255})
	im.SetNRGBA(1, 0, color.NRGBA{4, 5, 6, 7})
	file, out := filepath.Join(dir, "a.png"), filepath.Join(dir, "out.npy")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, im))
	require.NoError(t, f.Close())

	ask := func(task map[string]any, more ...string) []byte {
		t.Helper()
		require.NoError(t, os.RemoveAll(out))
		request, err := json.Marshal(map[string]any{"task": task, "files": []string{file}, "out": out})
		require.NoError(t, err)
		require.NoError(t, one(request, more))
		b, err := os.ReadFile(out)
		if os.IsNotExist(err) {
			return nil
		}
		require.NoError(t, err)
		require.Contains(t, string(b), "{'descr': '|u1', 'fortran_order': False, 'shape': (")
		require.Zero(t, (10+int(b[8]))%64, "the elements are aligned")
		return b
	}
	b := ask(map[string]any{"do": "decode", "library": "pillow"})
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6}, b[128:], "without alpha")
	require.Contains(t, string(b), "(1, 2, 3)")
	require.Equal(t, b, ask(map[string]any{"do": "decode", "library": "pillow"}, file, "-o", out))
	b = ask(map[string]any{"do": "crop", "left": -1, "height": 1, "width": 2})
	require.Equal(t, []byte{0, 0, 0, 1, 2, 3}, b[128:])
	b = ask(map[string]any{"do": "resize", "library": "pillow", "filter": "nearest", "height": 2, "width": 1})
	require.Len(t, b, 128+6)
	require.Nil(t, ask(map[string]any{"do": "resize", "filter": "lanczos", "antialias": true, "height": 2, "width": 1}), "not supported")
	require.Nil(t, ask(map[string]any{"do": "tokens"}))
}
