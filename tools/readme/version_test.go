package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/version"
)

// TestVersions compares the files that repeat the version, and the program's
// answer, with internal/version.
func TestVersions(t *testing.T) {
	release := strings.TrimPrefix(version.Release(), "v")
	require.Regexp(t, `^\d+\.\d+\.\d+$`, release)
	changed, err := rewrite(root, release)
	require.NoError(t, err)
	for file := range changed {
		t.Errorf("%s has another version than %s, or says otherwise than CHANGELOG.md whether that is published: run go generate ./tools/readme", file, release)
	}
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("this platform cannot run the go command")
	}
	require.Regexp(t, `"version": "v`+release+`(\+|")`, run(t, "run", "./cmd/infer-prep", "version", "--json"))
}

// TestRewrite releases a copy of the files, and goes on to the next version.
func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	copied := func(file string) {
		b, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		to := filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o777))
		require.NoError(t, os.WriteFile(to, b, 0o666))
	}
	for _, r := range repeated {
		copied(r.file)
	}
	for _, file := range installing {
		copied(file)
	}
	changelog := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(text), 0o666))
	}

	changelog("# Changelog\n\n## 7.8.9 (2031-02-03)\n\nText.\n\n## 0.1.0 (2026-12-01)\n")
	changed, err := rewrite(dir, "7.8.9")
	require.NoError(t, err)
	require.Equal(t, 15, len(changed))
	require.Contains(t, changed["README.md"], "7.8.9 is published: `go get ")
	require.Contains(t, changed["README.md"], "infer-prep@v7.8.9")
	require.Contains(t, changed["wasm/package.json"], "\n  \"version\": \"7.8.9\",\n")
	require.Equal(t, 2, strings.Count(changed["wasm/package-lock.json"], `"version": "7.8.9"`))
	require.Contains(t, changed["mobile/pom.xml"], "<revision>7.8.9</revision>")
	require.Contains(t, changed["mobile/README.md"], "io.github.infer-prep:infer-prep:7.8.9")
	require.Equal(t, 2, strings.Count(changed["rust/infer-prep/Cargo.toml"], `version = "7.8.9"`))
	require.Equal(t, 2, strings.Count(changed["rust/Cargo.lock"], "version = \"7.8.9\""))
	for file, text := range changed {
		require.NotContains(t, text, "not published", file)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
	}
	changed, err = rewrite(dir, "7.8.9")
	require.NoError(t, err)
	require.Zero(t, len(changed))

	changelog("# Changelog\n\n## 7.9.0 (unreleased)\n")
	changed, err = rewrite(dir, "7.9.0")
	require.NoError(t, err)
	require.Equal(t, 15, len(changed))
	require.Contains(t, changed["python/README.md"], "7.9.0 is not published yet. Once it is, `pip install infer-prep` will do.")

	_, err = rewrite(dir, "8.0.0")
	require.ErrorContains(t, err, "CHANGELOG.md: its newest version is not 8.0.0")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "wasm/package.json"), []byte("{}"), 0o666))
	_, err = rewrite(dir, "7.9.0")
	require.ErrorContains(t, err, "wasm/package.json: nothing matches")
}
