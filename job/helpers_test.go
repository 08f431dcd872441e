package job

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/preset"
)

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

// enterTree creates files below a new folder and makes it the working folder.
func enterTree(t *testing.T, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, b, 0o666))
	}
	t.Chdir(dir)
}

// enterImages makes a folder with n images in its folder "in" the working
// folder.
func enterImages(t *testing.T, n int) {
	t.Helper()
	files := map[string][]byte{}
	for i := range n {
		files[fmt.Sprintf("in/%03d.png", i)] = pngBytes(t, 5, 4, uint8(i))
	}
	enterTree(t, files)
}

// listFiles lists the files below dir with slashes, sorted; nil if dir does not
// exist.
func listFiles(t *testing.T, dir string) (l []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, err := filepath.Rel(dir, path)
			l = append(l, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	slices.Sort(l)
	return l
}

// decoder returns a Preprocessor that only decodes.
func decoder(t *testing.T, jobs int, limits codec.Limits) *inferprep.Preprocessor {
	t.Helper()
	g, err := preset.Graph("decode")
	require.NoError(t, err)
	p, err := inferprep.New(g, inferprep.Options{Jobs: jobs, Limits: limits})
	require.NoError(t, err)
	return p
}
