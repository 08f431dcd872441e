package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..")

// TestNewOp writes an op into a copy of the module. Its generated files are
// complete then, and only the tests that wait for its values and its goldens
// fail.
func TestNewOp(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the source is the same on every platform")
	}
	if runtime.GOOS == "windows" {
		t.Skip("windows: the copy's links need a privilege")
	}
	dir := copyModule(t)
	names, err := write(dir, "soften_edges")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"transforms/soften_edges.go", "transforms/soften_edges_test.go", "testdata/gen/ops/op_soften_edges.py"}, names)
	// The picture of the sheet takes the whole command line.
	require.NoError(t, generate(dir, `tools/(msgpgen|opdoc)$`))

	goTest(t, dir, nil, "./tools/opdoc", "./tools/tsops", "./internal/coverage")
	goTest(t, dir, []string{"TestGoldens", "TestGoldens/soften_edges", "TestSoftenEdges"},
		"-short", "-run", "Registry|Goldens|Example|Lint|NoInexact|SoftenEdges", "./transforms")
	out, err := command(dir, "go", "run", "./tools/width", "transforms/soften_edges.go", "transforms/soften_edges_test.go", "docs/ops.md").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, want := range map[string]string{
		"docs/ops.md": "## soften_edges", "transforms/msgp_gen.go": "SoftenEdges",
	} {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		require.NoError(t, err)
		require.Contains(t, string(b), want, name)
	}

	_, err = write(dir, "soften_edges")
	require.ErrorIs(t, err, os.ErrExist)
}

func TestNames(t *testing.T) {
	require.Equal(t, "SoftenEdges2", typeName("soften_edges2"))
	for _, name := range []string{"", "Soften", "soften__edges", "_soften", "../soften", "2d"} {
		_, err := write(t.TempDir(), name)
		require.ErrorContains(t, err, "want lower-case words", name)
	}
}

func command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -trimpath", "GOWORK=off")
	return c
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// goTest runs go test and compares the names of the tests that fail.
func goTest(t *testing.T, dir string, want []string, args ...string) {
	out, err := command(dir, "go", append([]string{"test"}, args...)...).CombinedOutput()
	var names []string
	for _, m := range failed.FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	require.Equal(t, want, names, "%s", out)
	require.Equal(t, want == nil, err == nil, "%s", out)
}

// copyModule copies the module's sources. The copy has links to the folders of
// test data, which nothing writes to, except testdata/gen.
func copyModule(t *testing.T) string {
	dir := t.TempDir()
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	err = filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		switch {
		case rel == "testdata":
			for _, e := range must(os.ReadDir(path)) {
				if e.Name() != "gen" {
					require.NoError(t, os.MkdirAll(to, 0o755))
					require.NoError(t, os.Symlink(filepath.Join(path, e.Name()), filepath.Join(to, e.Name())))
				}
			}
			require.NoError(t, os.MkdirAll(filepath.Join(to, "gen", "ops"), 0o755))
			return filepath.SkipDir
		case d.IsDir() && d.Name() == "testdata":
			require.NoError(t, os.Symlink(path, to))
			return filepath.SkipDir
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "dist" || nested(path)):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		return os.WriteFile(to, must(os.ReadFile(path)), 0o644)
	})
	require.NoError(t, err)
	return dir
}

// nested reports whether a folder is a module of its own.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
