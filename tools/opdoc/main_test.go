package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/docs"
	"github.com/infer-prep/infer-prep/internal/opdoc"
	"github.com/infer-prep/infer-prep/tools/opsource"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
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

// TestEmbedded checks that programs print the pages of docs.
func TestEmbedded(t *testing.T) {
	files, err := generate(filepath.Join("..", ".."))
	require.NoError(t, err)
	require.Equal(t, string(files[filepath.Join("..", "..", "docs", "ops.md")]), docs.Ops(), "run go generate ./internal/opdoc")
	require.Equal(t, string(files[filepath.Join("..", "..", "docs", "nodes.md")]), docs.Nodes(), "run go generate ./internal/opdoc")
}

// TestPages compares what the command line reads from the pages with the
// comments in the source, which start with the type's name.
func TestPages(t *testing.T) {
	s := opsource.New(filepath.Join("..", ".."))
	same := func(name string, v any, got opdoc.Op, ok bool) {
		t.Helper()
		require.True(t, ok, name)
		d, _, err := s.Document(v)
		require.NoError(t, err, name)
		require.True(t, strings.HasPrefix(d.Doc, d.Type+" "), "%s: the doc starts with the type's name", name)
		require.Equal(t, strings.Fields(d.Doc), strings.Fields(got.Doc), name)
		for l := range strings.Lines(got.Doc) {
			require.True(t, strings.HasPrefix(l, "\t") || utf8.RuneCountInString(l) <= 78, "%s: %q", name, l)
		}
		require.Len(t, got.Fields, len(d.Fields), name)
		for i, f := range d.Fields {
			require.Equal(t, opdoc.Field{Name: f.Name, Doc: f.Doc}, got.Fields[i], name)
		}
	}
	for _, i := range transforms.Ops() {
		d, ok := opdoc.Lookup(i.Name)
		same(i.Name, i.New(), d, ok)
		require.NotEmpty(t, d.Summary, i.Name)
		require.True(t, strings.HasPrefix(strings.Join(strings.Fields(d.Doc), " "), d.Summary), i.Name)
	}
	_, ok := opdoc.Lookup("no_such_op")
	require.False(t, ok)
	for _, i := range dataset.Nodes() {
		d, ok := opdoc.LookupNode(i.Name)
		same(i.Name, i.New(), d, ok)
		require.Equal(t, i.Doc, d.Summary)
	}
}

// TestJoining checks the list of nodes whose methods in Python take several
// datasets.
func TestJoining(t *testing.T) {
	for _, i := range dataset.Nodes() {
		n := i.New()
		if _, ok := n.(dataset.Source); ok {
			continue
		}
		two := dataset.From(fakeimage.New())
		_, err := dataset.Build(t.Context(), dataset.Of(n, two, two), dataset.Options{})
		if errors.Is(err, dataset.ErrParam) { // its defaults say nothing
			continue
		}
		one := err != nil && strings.Contains(err.Error(), "2 inputs, want 1")
		require.Equal(t, slices.Contains(joining, i.Name), !one, "%s: %v", i.Name, err)
	}
}
