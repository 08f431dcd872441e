package usps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

// TestPacked reads the packed files, as they are distributed.
func TestPacked(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"usps.bz2", "usps.t.bz2"} {
		b, err := os.ReadFile(settest.Dir + "usps/" + name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	packed := &USPS{dir, "all"}
	sourcetest.Run(t, packed)
	want := sourcetest.Samples(t, &USPS{settest.Dir + "usps", "all"})
	got := sourcetest.Samples(t, packed)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Key, got[i].Key)
		require.Equal(t, want[i].Column("image").Data, got[i].Column("image").Data)
		require.Equal(t, want[i].Column("label").Data, got[i].Column("label").Data)
	}

	name := filepath.Join(dir, "usps.bz2")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, n := range []int{0, 3, 20, len(b) / 2, len(b) - 1} {
		require.NoError(t, os.WriteFile(name, b[:n], 0o600))
		_, err := packed.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrData, "%d bytes", n)
		require.ErrorContains(t, err, "usps.bz2")
	}
}
