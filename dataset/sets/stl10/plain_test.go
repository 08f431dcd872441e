package stl10

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

// TestUnpacked reads the files unpacked, as they are distributed.
func TestUnpacked(t *testing.T) {
	dir := t.TempDir()
	entries, err := os.ReadDir(settest.Dir + "stl10")
	require.NoError(t, err)
	for _, e := range entries {
		f, err := os.Open(filepath.Join(settest.Dir+"stl10", e.Name()))
		require.NoError(t, err)
		var in io.Reader = f
		name, packed := strings.CutSuffix(e.Name(), ".gz")
		if packed {
			in, err = gzip.NewReader(f)
			require.NoError(t, err)
		}
		b, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	plain, packed := &STL10{dir, "all", -1}, &STL10{settest.Dir + "stl10", "all", -1}
	sourcetest.Run(t, plain)
	want := sourcetest.Samples(t, packed)
	got := sourcetest.Samples(t, plain)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Key, got[i].Key)
		require.Equal(t, want[i].Column("image").Data, got[i].Column("image").Data)
		require.Equal(t, want[i].Column("label").Data, got[i].Column("label").Data)
	}
}
