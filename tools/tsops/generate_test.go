package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCurrent checks that the generated files match the source.
func TestCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		// A checkout may change the line endings.
		require.Equal(t, string(want), strings.ReplaceAll(string(got), "\r\n", "\n"), "%s is out of date: run go generate ./tools/tsops", name)
	}
}
