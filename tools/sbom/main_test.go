package main

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	sum := "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="
	linux := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/a", Version: "(devel)"}, Deps: []*debug.Module{
		{Path: "example.com/b", Version: "v1.0.0", Sum: sum},
		{Path: "example.com/old", Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/new", Version: "v0.2.0", Sum: sum}},
	}}
	windows := &debug.BuildInfo{GoVersion: "go1.26.8 X:simd", Main: linux.Main, Deps: []*debug.Module{{Path: "example.com/w", Version: "v3.0.0"}}}
	var b bytes.Buffer
	require.NoError(t, write(&b, "0.1.0", []*debug.BuildInfo{linux, windows}))
	require.JSONEq(t, `{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": {"component": {"type": "application", "bom-ref": "pkg:golang/example.com/a@v0.1.0",
			"name": "example.com/a", "version": "0.1.0", "purl": "pkg:golang/example.com/a@v0.1.0"}},
		"components": [
			{"type": "library", "bom-ref": "pkg:golang/example.com/b@v1.0.0", "name": "example.com/b", "version": "v1.0.0", "purl": "pkg:golang/example.com/b@v1.0.0",
				"hashes": [{"alg": "SHA-256", "content": "0000000000000000000000000000000000000000000000000000000000000001"}]},
			{"type": "library", "bom-ref": "pkg:golang/example.com/new@v0.2.0", "name": "example.com/new", "version": "v0.2.0", "purl": "pkg:golang/example.com/new@v0.2.0",
				"hashes": [{"alg": "SHA-256", "content": "0000000000000000000000000000000000000000000000000000000000000001"}]},
			{"type": "library", "bom-ref": "pkg:golang/example.com/w@v3.0.0", "name": "example.com/w", "version": "v3.0.0", "purl": "pkg:golang/example.com/w@v3.0.0"},
			{"type": "library", "bom-ref": "pkg:golang/std@1.26.8", "name": "std", "version": "1.26.8", "purl": "pkg:golang/std@1.26.8"}
		],
		"dependencies": [{"ref": "pkg:golang/example.com/a@v0.1.0", "dependsOn": ["pkg:golang/example.com/b@v1.0.0",
			"pkg:golang/example.com/new@v0.2.0", "pkg:golang/example.com/w@v3.0.0", "pkg:golang/std@1.26.8"]}]
	}`, b.String())

	other := &debug.BuildInfo{Main: debug.Module{Path: "example.com/c"}}
	require.ErrorContains(t, write(&b, "0.1.0", []*debug.BuildInfo{linux, other}), "programs of two modules")
	damaged := &debug.BuildInfo{Main: linux.Main, Deps: []*debug.Module{{Path: "example.com/b", Sum: "h1:AAAA"}}}
	require.ErrorContains(t, write(&b, "0.1.0", []*debug.BuildInfo{damaged}), `sum "h1:AAAA"`)
	require.Error(t, write(&b, "0.1.0", nil))
}
