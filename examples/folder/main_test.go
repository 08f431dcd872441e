package main

import (
	"bytes"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFolder runs the program twice: the second run has nothing to do.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{"folder", "preset:imagenet", "../classifier/images", dir}
	var text bytes.Buffer
	log.SetOutput(&text)
	log.SetFlags(0)
	defer log.SetOutput(os.Stderr)
	main()
	main()
	require.Equal(t, "12 images done, 0 done before, 0 files skipped\n0 images done, 12 done before, 0 files skipped\n", text.String())
	files, err := filepath.Glob(filepath.Join(dir, "*.jpg.npy"))
	require.NoError(t, err)
	require.Len(t, files, 12)
}
