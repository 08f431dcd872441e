package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUpdate writes a picture over one of the same pixels in another encoding,
// and over others.
func TestUpdate(t *testing.T) {
	cp, err := exec.LookPath("cp")
	if err != nil {
		t.Skip("no cp")
	}
	dir := t.TempDir()
	write := func(name string, value uint8, level png.CompressionLevel) []byte {
		m := image.NewGray(image.Rect(0, 0, 40, 30))
		m.Pix[77] = value
		var b bytes.Buffer
		e := png.Encoder{CompressionLevel: level}
		require.NoError(t, e.Encode(&b, m))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600))
		return b.Bytes()
	}
	file, other := filepath.Join(dir, "file.png"), filepath.Join(dir, "new.png")
	old := write("file.png", 1, png.BestCompression)
	require.NotEqual(t, old, write("new.png", 1, png.NoCompression))
	for _, c := range []struct {
		value uint8
		kept  bool
	}{{1, true}, {2, false}} {
		drawn := write("new.png", c.value, png.NoCompression)
		require.NoError(t, update(file, cp, other))
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, c.kept, bytes.Equal(old, got))
		require.Equal(t, !c.kept, bytes.Equal(drawn, got))
	}
	require.NoError(t, os.Remove(file))
	require.NoError(t, update(file, cp, other))
	require.FileExists(t, file)
	require.Error(t, update(file, cp, filepath.Join(dir, "missing")))
}
