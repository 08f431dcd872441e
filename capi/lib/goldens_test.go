//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// pictures are images of every format, gray and colour, with transparency, with
// an orientation, of odd sizes, and one that is damaged.
func pictures(t *testing.T) []string {
	var l []string
	for _, name := range []string{
		"jpeg_large.jpg", "jpeg_gray.jpg", "jpeg_cmyk.jpg", "jpeg_exif_mm_6.jpg", "png_rgba8.png", "gif_animated.gif", "bmp_rle8.bmp", "tiff_lzw_noise.tif",
	} {
		l = append(l, root+"testdata/images/"+name)
	}
	webp, err := filepath.Glob(root + "testdata/images/*.webp")
	require.NoError(t, err)
	require.NotEmpty(t, webp)
	return append(l, webp[0])
}

// golden is a graph: a preset, or an importer's file.
type golden struct{ format, name string }

// sources are the graphs of all presets and all importers' files.
func sources(t *testing.T) []golden {
	var l []golden
	for _, n := range preset.Names() {
		l = append(l, golden{inferprep.FormatPreset, n})
	}
	for _, n := range importer.Names() {
		if n == "onnx" { // it reads a graph embedded in a model
			continue
		}
		files, err := filepath.Glob(root + "testdata/configs/" + n + "/*")
		require.NoError(t, err)
		for _, f := range files {
			l = append(l, golden{n, f})
		}
	}
	return l
}

// goldens runs Go over pictures with the graph. It returns the names,
// descriptions and digests of the outputs and the messages of errors, as mode
// digest of check.c prints them, and the numbers of runs and of errors.
func goldens(t *testing.T, s golden, pictures []string) (text string, runs, failed int) {
	g, err := inferprep.Source{Name: s.name, Format: s.format}.Graph(context.Background())
	require.NoError(t, err, s.name)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err, s.name)
	runner := plan.NewRunner()
	var w strings.Builder
	for _, name := range pictures {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		out, err := runner.Run(tensor.FromBytes(b))
		runs++
		if err != nil {
			failed++
			fmt.Fprintf(&w, "error %v\n", err)
			continue
		}
		for i, c := range plan.Outputs() {
			w.WriteString(line(c.Name, out[i]))
		}
	}
	return w.String(), runs, failed
}

// compareGoldens runs programs' mode digest over all pictures with one graph of
// step. What they print equals goldens.
func compareGoldens(t *testing.T, step int, programs ...func(args ...string) string) {
	t.Helper()
	images, all := pictures(t), sources(t)
	graphs, runs, failed := 0, 0, 0
	for i := 0; i < len(all); i += step {
		s := all[i]
		want, n, bad := goldens(t, s, images)
		graphs, runs, failed = graphs+1, runs+n, failed+bad
		for k, run := range programs {
			require.Equal(t, want, run(append([]string{"digest", s.format, s.name}, images...)...), "program %d: %s", k, s.name)
		}
	}
	t.Logf("%d graphs, %d runs with equal outputs, %d with equal errors", graphs, runs-failed, failed)
	if step == 1 {
		require.Greater(t, runs-failed, 1000)
	}
}

// everyGolden returns 1 in make capi-test, else a distance between graphs.
func everyGolden(t *testing.T) int {
	if step := short.Step(t, 10); step > 1 || whole() {
		return step
	}
	t.Log("one of 8 graphs: make capi-test runs all")
	return 8
}

// TestDigests compares the outputs of the graphs of all importers' files in C
// and C++ with those of Go: names, descriptions, bytes and messages of errors.
func TestDigests(t *testing.T) {
	c := compile(t, "gcc", "../testdata/check.c", "-std=c99", "-O2")
	cpp := compile(t, "g++", "../testdata/check.cpp", "-std=c++17", "-O2")
	compareGoldens(t, everyGolden(t),
		func(args ...string) string { return runProgram(t, c, args...) },
		func(args ...string) string { return runProgram(t, cpp, args...) })
}
