package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestGenerate looks for every op and every preset in the generated files. The
// package's build compiles them.
func TestGenerate(t *testing.T) {
	files, err := generate(filepath.Join("..", ".."))
	require.NoError(t, err)
	require.Len(t, files, 3)
	ops, presets, random := string(files["wasm/src/ops_gen.ts"]), string(files["wasm/src/presets_gen.ts"]), string(files["wasm/src/random_gen.ts"])
	for _, i := range transforms.Ops() {
		require.Contains(t, ops, "\n  "+i.Name+"(", "%s has no function", i.Name)
		if _, ok := i.New().(transforms.Random); ok {
			require.Contains(t, random, "'"+i.Name+"',")
		} else {
			require.NotContains(t, random, "'"+i.Name+"',")
		}
	}
	for _, n := range preset.Names() {
		require.Contains(t, presets, n)
	}
}
