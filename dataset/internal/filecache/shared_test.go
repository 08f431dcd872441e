//go:build linux || darwin || freebsd || netbsd || dragonfly

package filecache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplaceOpen checks that a file that is replaced stays valid where it is
// open.
func TestReplaceOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cache")
	a := open(t, name, true)
	require.NoError(t, a.Keep(t.Context(), 0, exampleStamp, exampleSample(t, 0)))
	b, err := Open(t.Context(), name, exampleValues, 3, 1<<12, examplePrint)
	require.NoError(t, err)
	require.False(t, has(t, b, 0))
	require.True(t, has(t, a, 0))
	require.NoError(t, a.Keep(t.Context(), 1, exampleStamp, exampleSample(t, 1)))
	require.True(t, has(t, a, 1))
	require.False(t, has(t, b, 1))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	_, err = os.Stat(name + ".new")
	require.ErrorIs(t, err, os.ErrNotExist)
}
