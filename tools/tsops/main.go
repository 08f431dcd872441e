// Command tsops writes the npm package's typed ops (wasm/src/ops_gen.ts), its
// presets (presets_gen.ts) and its list of random ops (random_gen.ts). Run it
// with go generate ./tools/tsops.
package main

//go:generate go run .

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	// go generate runs in tools/tsops.
	root := filepath.Join("..", "..")
	files, err := generate(root)
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tsops:", err)
		os.Exit(1)
	}
}
