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
	names, err := write(dir, "op", "soften_edges")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"transforms/soften_edges.go", "transforms/soften_edges_test.go", "testdata/gen/ops/op_soften_edges.py"}, names)
	// The picture of the sheet takes the whole command line.
	require.NoError(t, generate(dir, "op", `tools/(msgpgen|opdoc)$|tools/oplist -all`))

	goTest(t, dir, nil, "-vet=off", "./tools/opdoc", "./tools/tsops", "./internal/coverage")
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

	_, err = write(dir, "op", "soften_edges")
	require.ErrorIs(t, err, os.ErrExist)
}

// TestNewPackages writes a source, an importer and a format into a copy of the
// module. All that lists them is complete, and only the tests that wait for
// their goldens fail.
func TestNewPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the source is the same on every platform")
	}
	if runtime.GOOS == "windows" {
		t.Skip("windows: the copy's links need a privilege")
	}
	dir := copyModule(t)
	for _, c := range []struct {
		what, folder string
		fails        []string
	}{
		{"source", "dataset", []string{"TestReference", "TestSource"}},
		{"importer", "importer", []string{"TestGoldens"}},
		{"format", "codec", []string{"FuzzDecode", "TestImages"}},
	} {
		names, err := write(dir, c.what, "soft_"+c.what)
		require.NoError(t, err)
		require.Len(t, names, 3)
		require.NoError(t, generate(dir, c.what, `tools/opdoc$|\./gen `))
		pkg := c.folder + "/soft" + c.what
		require.Contains(t, names, pkg+"/soft"+c.what+".go")
		goTest(t, dir, c.fails, "./"+pkg)
		out, err := command(dir, "go", "run", "./tools/width", pkg+"/soft"+c.what+".go", pkg+"/soft"+c.what+"_test.go").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	goTest(t, dir, nil, "-vet=off", "./tools/arch", "./tools/opdoc")
	// The registries know them.
	goTest(t, dir, nil, "-vet=off", "-run", "Registry|Detect", "./importer", "./codec", "./dataset/all", ".")
	out, err := command(dir, "go", "run", "./cmd/infer-prep", "importers").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--soft_importer")
	out, err = command(dir, "go", "run", "./cmd/infer-prep", "dataset", "nodes", "soft_source").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestContributing: CONTRIBUTING.md names the files of every kind.
func TestContributing(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(b)), " ")
	for what, k := range kinds {
		require.Contains(t, text, "`make new-"+what+" NAME=soften`")
		for _, file := range k.files {
			name, err := expand(file, "soften")
			require.NoError(t, err)
			require.Contains(t, text, "`"+name+"`")
		}
	}
}

func TestNames(t *testing.T) {
	require.Equal(t, names{"soften_edges2", "SoftenEdges2", "softenedges2"}, namesOf("soften_edges2"))
	for _, name := range []string{"", "Soften", "soften__edges", "_soften", "../soften", "2d"} {
		_, err := write(t.TempDir(), "op", name)
		require.ErrorContains(t, err, "want lower-case words", name)
	}
	_, err := write(t.TempDir(), "node", "x")
	require.ErrorContains(t, err, "want op, source")
}

func command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	flags := "GOFLAGS=-buildvcs=false -trimpath -ldflags=-w"
	for _, f := range strings.Fields(os.Getenv("GOFLAGS")) {
		if strings.HasPrefix(f, "-toolexec=") { // that of .ci/run
			flags += " " + f
		}
	}
	c.Env = append(os.Environ(), flags, "GOWORK=off")
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
			require.NoError(t, os.MkdirAll(filepath.Join(to, "gen"), 0o755))
			return filepath.SkipDir
		case d.IsDir() && d.Name() == "testdata":
			require.NoError(t, os.Symlink(path, to))
			return filepath.SkipDir
		case d.IsDir() && rel != "." && (strings.ContainsAny(d.Name()[:1], "._") || slices.Contains([]string{"node_modules", "dist", "target", "bin", "out"}, d.Name())):
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
