package imagenette

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

func TestBadFolders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "val", "n00000001"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "val", "n00000001", "a.JPEG"), nil, 0o600))
	_, err := (&Imagenette{dir, "val"}).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, `has a folder "n00000001", want the WordNet ids of Imagenette`)
}
