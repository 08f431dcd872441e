// Command tsops writes the npm package's typed ops (wasm/src/ops_gen.ts), its
// presets (presets_gen.ts) and its list of random ops (random_gen.ts). The
// package's build runs it in the repository's root; the files are not
// committed.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func main() {
	files, err := generate(".")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.FromSlash(name), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tsops:", err)
		os.Exit(1)
	}
}
