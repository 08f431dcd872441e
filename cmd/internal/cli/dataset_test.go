package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestMake: the graph and the definition that the shell makes are those of the
// Go program with the same calls.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	crop := transforms.NewRandomResizedCrop(96, 64)
	crop.Scale, crop.Interpolation = transforms.Range{Min: 0.5, Max: 1}, transforms.Bicubic
	g := datagraph.New(transforms.NewDecode(), crop, transforms.NewToTensor(), transforms.NewNormalize([]float64{0.5, 0.25, 0}, []float64{1, 2, 3}))
	r := call(t, "graph", "make", "decode", "random_resized_crop", "height=96", "width=64", "scale=0.5,1", "interpolation=bicubic",
		"to_tensor", "normalize", "mean=[0.5, 0.25, 0]", "std=1,2,3", "-o", file("g.json"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	want, err := json.Marshal(g)
	require.NoError(t, err)
	require.JSONEq(t, string(want), readText(t, file("g.json")))

	d := dataset.From(imagefolder.New("a=b")).Shuffle().MapColumns(g, []string{"image"}, []string{"x"}).BatchDrop(8)
	r = call(t, "dataset", "make", "image_folder", "dir=a=b", "shuffle", "map", "graph=@"+file("g.json"), "in=image", "out=x",
		"batch", "size=8", "drop_remainder=true", "-o", file("d.json"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	want, err = json.Marshal(d)
	require.NoError(t, err)
	require.JSONEq(t, string(want), readText(t, file("d.json")))

	other := dataset.From(&imagefolder.ImageFolder{Dir: "12", Extensions: []string{".png", ".jpg"}, ClassIndexing: map[string]int32{"a": 1}})
	r = callIn(t, readText(t, file("d.json")), "dataset", "make", "@-", "image_folder", "dir=12", "extensions=.png,.jpg", `class_indexing={"a":1}`, "mix", "weights=2", "weights=1")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, `mix: parameter "weights" is given twice`)
	r = callIn(t, readText(t, file("d.json")), "dataset", "make", "@-", "image_folder", "dir=12", "extensions=.png,.jpg", `class_indexing={"a":1}`, "mix", "weights=2,1", "take", "count=7")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	want, err = json.Marshal(dataset.NewMix([]float64{2, 1}, d, other).Take(7))
	require.NoError(t, err)
	require.JSONEq(t, string(want), r.stdout)
}

func TestMakeErrors(t *testing.T) {
	for args, want := range map[string]string{
		"graph make":                                         "want at least one op",
		"graph make height=3":                                "height=3: a parameter without a name before it",
		"graph make resise":                                  `unknown op "resise"; did you mean "resize"?`,
		"graph make decode resize height=0":                  "resize: invalid parameter: height is 0",
		"graph make decode resize widht=3":                   `resize: invalid parameter: unknown parameter "widht"; did you mean "width"?`,
		"graph make decode resize width=x":                   `resize: parameter "width": "x": want an integer, or @FILE`,
		"graph make decode resize interpolation=cubic":       `resize: invalid parameter: unknown interpolation "cubic"`,
		"dataset make":                                       "want a source, such as image_folder",
		"dataset make shuffle":                               "shuffle: want a source before it",
		"dataset make image_foldr":                           `unknown node "image_foldr"; did you mean "image_folder"?`,
		"dataset make image_folder dir=a image_folder dir=b": "2 sources, want one",
		"dataset make image_folder map":                      "map: invalid parameter: no graph",
		"dataset make image_folder map graph=g.json":         `map: parameter "graph": "g.json": want a graph, or @FILE`,
		"dataset make image_folder map graph=@none.json":     "none.json: no such file",
		"dataset make @none.json shuffle":                    "none.json: no such file",
		"dataset make @none.json dir=a":                      "dir=a: a parameter without a name before it",
		"dataset nodes shufle":                               `unknown node "shufle"; did you mean "shuffle"?`,
		"dataset nodes a b":                                  "want at most one name, got 2",
	} {
		r := call(t, strings.Fields(args)...)
		require.Equal(t, command.ExitUsage, r.status, args)
		require.Contains(t, r.stderr, want, args)
		require.Empty(t, r.stdout, args)
	}
}

// TestNodes: every node is described, and the usual values have no null, which
// definitions refuse.
func TestNodes(t *testing.T) {
	r := call(t, "dataset", "nodes", "--json")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var l []graph.NodeJSON
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &l))
	require.Len(t, l, len(dataset.Nodes()))
	for _, n := range l {
		require.NotEmpty(t, n.Doc, n.Name)
		require.NotEmpty(t, n.Summary, n.Name)
	}
	for _, i := range dataset.Nodes() {
		b, err := json.Marshal(i.New())
		require.NoError(t, err)
		assert.NotContains(t, string(b), "null", i.Name)
	}
	r = call(t, "dataset", "make", "webdataset", "shards=a-{0,1}.tar,b.tar")
	require.Contains(t, r.stdout, `"shards": ["a-{0,1}.tar", "b.tar"]`)

	r = call(t, "dataset", "nodes", "shuffle")
	require.Contains(t, r.stdout, "shuffle, version 1: node\n")
	require.Contains(t, r.stdout, "No parameters.\n")
	require.Regexp(t, `(?m)^image_folder +source +`, call(t, "dataset", "nodes").stdout)
	require.Regexp(t, `(?m)^scale +\[0.08, 1\] +list of 2 numbers$`, call(t, "ops", "random_resized_crop").stdout)
}
