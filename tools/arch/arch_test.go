package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = Module + "/"

const root = "../.."

func read(t *testing.T) map[string]*Found {
	found, err := Read(root)
	require.NoError(t, err)
	require.Greater(t, len(found), 80)
	return found
}

// TestLayers checks every package of the repository against the table.
func TestLayers(t *testing.T) {
	require.Empty(t, strings.Join(Problems(Layers, read(t)), "\n"))
}

// TestLayersPrint prints the layers with go test -v -run TestLayersPrint.
func TestLayersPrint(t *testing.T) {
	text := Print(read(t))
	t.Log("\n" + text)
	for _, l := range Layers {
		require.Contains(t, text, l.Name)
	}
}

// TestProblems breaks a small table in every way that Problems reports.
func TestProblems(t *testing.T) {
	found := map[string]*Found{
		"internal/low": {Doc: "x"},
		"mid":          {Doc: "x", Imports: []string{"internal/low", "example.com/m/sub"}},
		"top":          {Doc: "x", Imports: []string{"mid"}},
	}
	table := func(low, mid, top Package) []Layer {
		return []Layer{{"a", []Package{low, mid}}, {"b", []Package{top}}}
	}
	low := Package{Path: "internal/low"}
	mid := Package{Path: "mid", May: []string{"internal/low", "example.com/m"}}
	top := Package{Path: "top", May: []string{"mid"}}
	require.Empty(t, Problems(table(low, mid, top), found))

	bad := mid
	bad.May = bad.May[:1]
	require.Equal(t, []string{"mid: imports example.com/m/sub, which is not allowed"}, Problems(table(low, bad, top), found))
	bad = low
	bad.May = []string{"top"}
	require.Equal(t, []string{
		"internal/low: an internal package may import the public top without a reason",
		"internal/low: may import top, which is not below it",
	}, Problems(table(bad, mid, top), found))
	require.Equal(t, []string{"top: not in the table"}, Problems(table(low, mid, top)[:1], found))
	delete(found, "top")
	found["mid"].Doc = ""
	require.Equal(t, []string{"mid: no package comment", "top: no such package"}, Problems(table(low, mid, top), found))
}

// TestDesign compares the table in docs/packages.md with the one in this
// package.
func TestDesign(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "docs", "packages.md"))
	require.NoError(t, err)
	want, err := Replace(string(b), Table(read(t)))
	require.NoError(t, err)
	if want != string(b) {
		t.Error("docs/packages.md: the table of packages is out of date; run go generate ./tools/arch")
	}
}

// reach returns the packages that the table lets path import, directly or
// through others, and the modules that come with them.
func reach(path string) map[string]bool {
	rules := map[string]Package{}
	for _, l := range Layers {
		for _, p := range l.Packages {
			rules[p.Path] = p
		}
	}
	all := map[string]bool{}
	var visit func(string)
	visit = func(p string) {
		if !all[p] {
			all[p] = true
			for _, m := range slices.Concat(rules[p].May, Brings[p]) {
				visit(m)
			}
		}
	}
	visit(path)
	return all
}

// TestFormatsAreOptional checks that programs link only the image formats that
// they import.
func TestFormatsAreOptional(t *testing.T) {
	for _, p := range []string{"datagraph", "modelbundle", "onnx", "device", "dataset", "pullpipe", "pipeline", "datagraph/diff", "importer/preset", "importer/all"} {
		for _, f := range formats {
			require.False(t, reach(p)[f], "%s reaches %s", p, f)
		}
	}
}

// TestLightModule checks that the go.mod of the main module requires no module
// that takes long to fetch and to compile. What needs one is a nested module.
func TestLightModule(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	for _, heavy := range []string{"modernc.org/", "cloud.google.com/", "google.golang.org/api", "google.golang.org/grpc", "Azure/", "minio/", "colinmarc/hdfs", "apache/", "gogpu/", "gomlx/", "prometheus/"} {
		require.NotContains(t, string(b), heavy)
	}
}

// TestForeignCodeIsOptional checks that only programs link purego, which
// replaces cgo's runtime: two replacements cannot be linked together.
func TestForeignCodeIsOptional(t *testing.T) {
	for _, p := range []string{"cmd/internal/cli", "cmd/infer-prep-webgpu", "compat/mxnet", "dataset/all", "device", "eager", "importer/all", "mobile", "onnx", "pipeline", "transforms", "wasm"} {
		require.False(t, reach(p)[purego], "%s reaches purego", p)
	}
	require.True(t, reach("cmd/infer-prep")[purego])
}

// TestModules checks the third-party modules that each package links on this
// platform, with their dependencies.
func TestModules(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", module+"...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		pkg := strings.TrimPrefix(f[0], module)
		if pkg == Module {
			pkg = Root
		}
		all := reach(pkg)
		for _, d := range f[1:] {
			host, _, _ := strings.Cut(d, "/")
			if d == Module || strings.HasPrefix(d, module) || !strings.Contains(host, ".") {
				continue
			}
			ok := false
			for m := range all {
				ok = ok || isOther(m) && inModule(d, m)
			}
			if !ok {
				t.Errorf("%s links %s", pkg, d)
			}
		}
	}
}
