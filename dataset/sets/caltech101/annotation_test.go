package caltech101

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/store"
)

// TestBadAnnotations gives an image a MATLAB file of something else, and none.
func TestBadAnnotations(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]string{
		"101_ObjectCategories/bass/image_0001.jpg": "caltech101/101_ObjectCategories/Faces/image_0001.jpg",
		"101_ObjectCategories/bass/image_0002.jpg": "caltech101/101_ObjectCategories/Faces/image_0001.jpg",
		"Annotations/bass/annotation_0001.mat":     "flowers102/setid.mat",
	} {
		b, err := os.ReadFile(settest.Dir + from)
		require.NoError(t, err)
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, b, 0o600))
	}
	d, err := (&Caltech101{dir, "all"}).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	s := dataset.NewSample(d.Columns())
	err = d.(dataset.Rows).Read(t.Context(), 0, s)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, `annotation_0001.mat: no array "obj_contour"`)
	require.ErrorIs(t, d.(dataset.Rows).Read(t.Context(), 1, s), os.ErrNotExist)
}
