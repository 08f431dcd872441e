package storetest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// TestLocal runs the suite on the local disk.
func TestLocal(t *testing.T) {
	dir := t.TempDir()
	c := Config{Store: store.Local, Folder: dir, Mkdir: func(t *testing.T, p string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, p), 0o700))
	}}
	if runtime.GOOS != "linux" {
		c.Bad = `?:[é` + "\u0301U" // file systems that fold cases, or normalise
	}
	Run(t, c)
	c.Store, c.Folder = store.URI, t.TempDir()
	dir = c.Folder
	Run(t, c)
}
