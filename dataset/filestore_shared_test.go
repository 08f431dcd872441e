//go:build linux || darwin || freebsd || netbsd || dragonfly

package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCacheFileIsReplacedWhileOpen: for who has it open it is still what it was.
func TestCacheFileIsReplacedWhileOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cache")
	a := open(t, name, true)
	require.NoError(t, a.keep(0, exampleSample(t, 0)))
	b, err := openFileStore(name, exampleColumns, 3, 1<<12, examplePrint)
	require.NoError(t, err)
	require.False(t, has(t, b, 0))
	require.True(t, has(t, a, 0))
	require.NoError(t, a.keep(1, exampleSample(t, 1)))
	require.True(t, has(t, a, 1))
	require.False(t, has(t, b, 1))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	_, err = os.Stat(name + ".new")
	require.ErrorIs(t, err, os.ErrNotExist)
}
