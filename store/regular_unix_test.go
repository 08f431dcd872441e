//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// TestOpenRegular opens what is not a regular file. A pipe without a writer
// must not make Open wait.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "x.jpg")
	require.NoError(t, syscall.Mkfifo(pipe, 0o666))
	link := filepath.Join(dir, "link.jpg")
	require.NoError(t, os.Symlink("x.jpg", link))
	for path, want := range map[string]string{
		dir: "is a folder", pipe: "is a named pipe", link: "is a named pipe", "/dev/zero": "is a device",
	} {
		done := make(chan error, 1)
		go func() {
			f, err := store.Local.Open(t.Context(), path)
			if err == nil {
				err = f.Close()
			}
			done <- err
		}()
		select {
		case err := <-done:
			require.EqualError(t, err, "open "+path+": "+want+": want a regular file")
		case <-time.After(20 * time.Second):
			t.Fatalf("Open of %s waits", path)
		}
	}
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("abc"), 0o666))
	f, i, err := store.OpenRegular(file)
	require.NoError(t, err)
	require.EqualValues(t, 3, i.Size())
	require.NoError(t, f.Close())
	_, _, err = store.OpenRegular(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
