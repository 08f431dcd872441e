package cli

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// showDefinitions creates two.json: two zipped branches, a cache in a file, a
// map with roles.
func showDefinitions(t *testing.T) {
	trainTree(t)
	boxes := datagraph.New()
	boxes.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
	boxes.Tie(datagraph.Column{Name: "mask", Desc: tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)}, transforms.Role{Kind: transforms.RoleMask})
	boxes.Add(transforms.NewHorizontalFlip())
	decoded := dataset.From(imagefolder.New("classes")).Map(datagraph.New(transforms.NewDecode(), transforms.NewResize(20, 24)))
	d := dataset.NewZip(decoded.FileCache("kept.cache", 1<<20), decoded.Project("image").Rename([]string{"image"}, []string{"mask"})).Map(boxes).Repeat(0)
	b, err := json.Marshal(d)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("two.json", b, 0o666))
}

func TestShowDataset(t *testing.T) {
	showDefinitions(t)
	r := call(t, "graph", "show", "--dataset", "train.json")
	require.Equal(t, called{stdout: `NODE                SAMPLES  COLUMNS                           PARAMETERS
batch               4        image: float32 (?, 3, 224, 224)   size=2
                             label: int32 (?,)
  map               7        image: float32 CHW (3, 224, 224)
                             label: int32 ()
    0 decode
    1 resize                                                   fit=shortest edge=256 interpolation=bilinear
    2 center_crop                                              height=224 width=224
    3 to_tensor
    4 normalize                                                mean=[0.485, 0.456, 0.406] std=[0.229, 0.224, 0.225]
    shuffle         7        image: bytes
                             label: int32 ()
      image_folder  7        image: bytes                      dir=classes
                             label: int32 ()
`}, r)

	// --all shows the defaults; a definition comes from standard input, too.
	b, err := os.ReadFile("train.json")
	require.NoError(t, err)
	r = callIn(t, string(b), "graph", "show", "--dataset", "-", "--all")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "extensions=[.jpg, .jpeg")
	require.Contains(t, r.stdout, "drop_remainder=false")
}

// TestShowDatasetTree shows two inputs, roles, a cache in a file that is not
// created, and a dataset without end.
func TestShowDatasetTree(t *testing.T) {
	showDefinitions(t)
	r := call(t, "graph", "show", "--dataset", "two.json")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Empty(t, r.stderr)
	for _, want := range []string{
		"\nrepeat                    endless  image: uint8 HWC (20, 24, 3)",
		"\n    0 horizontal_flip\n    role mask: mask of image\n",
		"\n      file_cache          7        image: uint8 HWC (20, 24, 3)  file=kept.cache bytes=1048576\n",
		"\n      rename              7        mask: uint8 HWC (20, 24, 3)   from=[image] to=[mask]\n",
	} {
		require.Contains(t, r.stdout, want)
	}
	require.NoFileExists(t, "kept.cache")

	r = call(t, "graph", "show", "--dataset", "two.json", "--json")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var got struct{ Nodes []graph.TreeNode }
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	var paths []string
	for _, n := range got.Nodes {
		paths = append(paths, n.Path)
	}
	require.Equal(t, "repeat/map/zip/0:file_cache/map/image_folder", paths[5])
	require.Equal(t, "repeat/map/zip/1:rename/project/map/image_folder", paths[len(paths)-1])
	require.EqualValues(t, dataset.Endless, *got.Nodes[0].Samples)
	require.Equal(t, []string{"mask: mask of image"}, got.Nodes[1].Roles)
	require.Equal(t, map[string]string{"height": "20", "width": "24", "interpolation": "bilinear"}, got.Nodes[4].Steps[1].Params)
	require.Equal(t, "mask", got.Nodes[6].Columns[0].Column)

	r = call(t, "graph", "show", "--dataset", "two.json", "--svg", "-")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	checkSVG(t, r.stdout)
	require.Contains(t, r.stdout, ">file_cache<")
	require.Contains(t, r.stdout, ">endless samples or batches<")
	r = call(t, "graph", "show", "--dataset", "two.json", "--svg", "two.svg", "--passes")
	require.Equal(t, called{}, r)
	require.FileExists(t, "two.svg")
}

// TestShowDatasetPasses shows the tree that runs.
func TestShowDatasetPasses(t *testing.T) {
	showDefinitions(t)
	r := call(t, "graph", "show", "--dataset", "two.json", "--passes")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `(?m)^NODE +SAMPLES +COLUMNS +PASSES +PARAMETERS$`, r.stdout)
	require.Regexp(t, `(?m)^ +map +7 +mask: uint8 HWC \(20, 24, 3\) +(decode-crop|fuse-maps|[a-z, -]+)$`, r.stdout)
	require.NotContains(t, r.stdout, "rename", "it is part of the map")
	require.Contains(t, r.stdout, "file_cache")
	require.NoFileExists(t, "kept.cache")
}

func TestShowDatasetErrors(t *testing.T) {
	showDefinitions(t)
	// Without the data, the tree is that of the definition alone.
	r := call(t, "graph", "show", "--dataset", "missing.json")
	require.Equal(t, command.ExitOK, r.status)
	require.Contains(t, r.stderr, "without columns and sizes: ")
	require.Contains(t, r.stderr, "nowhere: no such file or directory")
	require.Contains(t, r.stdout, "\nbatch               ?                 size=2\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--dataset", "missing.json", "--passes"}, command.ExitFailed, "nowhere: no such file or directory"},
		{[]string{"--dataset", "nothing.json"}, command.ExitUsage, "--dataset nothing.json: no such file or directory"},
		{[]string{"--dataset", "not.json"}, command.ExitUsage, "--dataset not.json: dataset: "},
		{[]string{"--dataset", "train.json", "image.png"}, command.ExitUsage, `--dataset takes no IMAGE, got "image.png"`},
		{[]string{"--dataset", "train.json", "--preset", "clip"}, command.ExitUsage, "--dataset and --preset: want only one"},
		{[]string{"--dataset", "train.json", "--steps", "x"}, command.ExitUsage, "--dataset and --steps: want only one"},
		{[]string{"--passes", "--preset", "clip"}, command.ExitUsage, "--passes needs --dataset"},
		{[]string{"--dataset", "train.json", "--svg", "classes"}, command.ExitFailed, "classes: is a folder"},
	} {
		r := call(t, append([]string{"graph", "show"}, c.args...)...)
		require.Equal(t, c.status, r.status, "%q: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.want, "%q", c.args)
		require.Empty(t, r.stdout, "%q", c.args)
	}
}
