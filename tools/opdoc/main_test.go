package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/opdoc"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestCurrent checks that the generated files match the source.
func TestCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		// A checkout may change the line endings.
		require.Equal(t, string(want), strings.ReplaceAll(string(got), "\r\n", "\n"), "%s is out of date: run go generate ./internal/opdoc", name)
	}
}

// TestComplete checks that every op and every node has a doc comment that
// starts with its name.
func TestComplete(t *testing.T) {
	for _, i := range transforms.Ops() {
		d, ok := opdoc.Lookup(i.Name)
		require.True(t, ok, i.Name)
		require.NotEmpty(t, d.Summary, i.Name)
		require.True(t, strings.HasPrefix(d.Doc, d.Type+" "), "%s: the doc starts with the type's name", i.Name)
	}
	_, ok := opdoc.Lookup("no_such_op")
	require.False(t, ok)
	for _, i := range dataset.Nodes() {
		d, ok := opdoc.LookupNode(i.Name)
		require.True(t, ok, i.Name)
		require.True(t, strings.HasPrefix(d.Doc, d.Type+" "), "%s: the doc starts with the type's name", i.Name)
		require.NotEmpty(t, i.Doc, i.Name)
	}
}
