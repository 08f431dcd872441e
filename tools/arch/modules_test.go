package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestModuleVersions checks that the nested modules require equal versions of
// the modules that they share. Go compiles a package again for each version of
// what it imports.
func TestModuleVersions(t *testing.T) {
	type required struct{ version, file string }
	have := map[string]required{}
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// Programs to compare with, and a generator: CI builds neither.
			switch rel, _ := filepath.Rel(root, path); {
			case rel == "bench", rel == filepath.Join("tools", "kernelasm"),
				d.Name() == "node_modules", d.Name() == "target", rel != "." && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			}
			return nil
		}
		if d.Name() != "go.mod" {
			return nil
		}
		files++
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+) (v\S+)(?: // indirect)?$`).FindAllStringSubmatch(string(b), -1) {
			if strings.HasPrefix(m[1], strings.TrimSuffix(module, "/")) {
				continue
			}
			first, ok := have[m[1]]
			if !ok {
				have[m[1]] = required{m[2], path}
				continue
			}
			require.Equal(t, first.version, m[2], "%s in %s and in %s: want one version, set by go get in both folders", m[1], first.file, path)
		}
		return nil
	}))
	require.Greater(t, files, 10)
	require.Greater(t, len(have), 100)
}
