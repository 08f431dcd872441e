package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/onnx"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// model returns the path of a file of testdata/onnx.
func model(name string) string { return filepath.Join("..", "..", "..", "testdata", "onnx", name) }

// mergeGraph writes the graph that the models of testdata/onnx are merged with.
func mergeGraph(t *testing.T, dir string) string {
	b, err := os.ReadFile(model("goldens.json"))
	require.NoError(t, err)
	var g struct {
		MergeGraph json.RawMessage `json:"merge_graph"`
	}
	require.NoError(t, json.Unmarshal(b, &g))
	path := filepath.Join(dir, "graph.json")
	require.NoError(t, os.WriteFile(path, g.MergeGraph, 0o666))
	return path
}

func TestExportONNX(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "m.onnx")
	r := call(t, "graph", "export-onnx", "--preset", "imagenet", "--input-size", "30x40", "-o", out)
	require.Equal(t, called{stdout: "steps   1 to 4 of 5\ninput   image_in  uint8 HWC (30, 40, 3)\noutput  image     float32 CHW (3, 224, 224)\n"}, r)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	e, err := onnx.Export(g, onnx.Options{Height: 30, Width: 40, Opset: onnx.DefaultOpset})
	require.NoError(t, err)
	require.Equal(t, e.Model, b)

	r = call(t, "graph", "export-onnx", "--preset", "clip", "--form", "fast", "--opset", "20", "--json", "-o", out)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.JSONEq(t, `{"first_step": 1, "steps_within_1": [1], "host_outputs": ["image"],
		"inputs": [{"name": "image", "column": "image", "dtype": "uint8", "layout": "HWC", "shape": [-1, -1, 3]}],
		"outputs": [{"name": "pixel_values", "column": "pixel_values", "dtype": "float32", "layout": "CHW", "shape": [3, 224, 224]}]}`, r.stdout)

	r = call(t, "graph", "export-onnx", "--preset", "clip", "--host-taps", "--taps-for", "30x40", "-o", out)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	f, err := os.Open(out + ".30x40.npz")
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	taps, err := npz.Read(f, info.Size(), 1<<20)
	require.NoError(t, err)
	require.Len(t, taps, 6)
	require.Equal(t, "step1_rows1_index", taps[0].Name)

	for _, c := range []struct {
		want string
		args []string
	}{
		{`--form "exactly": want exact, fast or tail`, []string{"--form", "exactly"}},
		{"want -o FILE", []string{"-o", ""}},
		{"step 1 (resize) cannot be lowered in form exact", nil},
		{"such as 480x640", []string{"--input-size", "480"}},
		{"such as 480x640", []string{"--input-size", "0x4"}},
		{"--taps-for needs --host-taps", []string{"--taps-for", "4x4"}},
		{"opset 12, want 13 to 26", []string{"--form", "tail", "--opset", "12"}},
	} {
		r := call(t, append([]string{"graph", "export-onnx", "--preset", "clip", "-o", out}, c.args...)...)
		require.Equal(t, command.ExitUsage, r.status, c.want)
		require.Contains(t, r.stderr, c.want)
	}
}

func TestExportONNXMerge(t *testing.T) {
	dir := t.TempDir()
	graph, out := mergeGraph(t, dir), filepath.Join(dir, "both.onnx")
	r := call(t, "graph", "export-onnx", "--graph", graph, "--form", "tail", "--merge", model("tiny.onnx"), "-o", out)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	want, err := os.ReadFile(model("merged_tail.onnx"))
	require.NoError(t, err)
	got, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, want, got)
	// The model's input is computed: it is no output of the merged model.
	require.Regexp(t, `(?m)^merged +pixels +float32 CHW \(3, 28, 28\)$`, r.stdout)
	require.Regexp(t, `(?m)^output +logits +float32 \[\?, 3\]$`, r.stdout)
	require.NotRegexp(t, `(?m)^output +pixels`, r.stdout)
	r = call(t, "graph", "export-onnx", "--json", "--graph", graph, "--form", "tail", "--merge", model("tiny.onnx"), "-o", out)
	var j struct {
		Merged  []struct{ Name string } `json:"merged_inputs"`
		Outputs []struct {
			Name, DType string
			Shape       []int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &j))
	require.Equal(t, "pixels", j.Merged[0].Name)
	require.Equal(t, "logits", j.Outputs[0].Name)
	require.Equal(t, "float32", j.Outputs[0].DType)
	require.Equal(t, []int{-1, 3}, j.Outputs[0].Shape)
	require.NoError(t, os.Remove(out))

	for name, why := range map[string]string{"opset11.onnx": "opset 11", "function.onnx": "local.Twice has opset 17"} {
		r = call(t, "graph", "export-onnx", "--graph", graph, "--form", "tail", "--merge", model(name), "-o", out)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Contains(t, r.stderr, why)
		require.Contains(t, r.stderr, fmt.Sprintf(": writing %s and %s instead, to run one after the other\n", filepath.Join(dir, "both.preprocess.onnx"), filepath.Join(dir, "both.model.onnx")))
		require.Equal(t, []string{"both.model.onnx", "both.preprocess.onnx", "graph.json"}, listFiles(t, dir))
		want, err := os.ReadFile(model(name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, "both.model.onnx"))
		require.NoError(t, err)
		require.Equal(t, want, got)
		b, err := os.ReadFile(filepath.Join(dir, "both.preprocess.onnx"))
		require.NoError(t, err)
		var g datagraph.Graph
		text, err := os.ReadFile(graph)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &g))
		e, err := onnx.Export(&g, onnx.Options{Form: onnx.Tail, Batch: true})
		require.NoError(t, err)
		require.Equal(t, e.Model, b)
	}

	// A model of opset 17, as torch.onnx.export writes by default.
	b, err := os.ReadFile(model("tiny.onnx"))
	require.NoError(t, err)
	at := bytes.LastIndex(b, []byte{0x42, 4, 0x0a, 0, 0x10}) // its import of ai.onnx
	require.Positive(t, at)
	b[at+5] = 17
	old := filepath.Join(dir, "old.onnx")
	require.NoError(t, os.WriteFile(old, b, 0o600))
	r = call(t, "graph", "export-onnx", "--preset", "imagenet", "--form", "fast", "--merge", old, "-o", out)
	require.Equal(t, command.ExitUsage, r.status, r.stderr)
	require.Contains(t, r.stderr, "opset 17: the operator Resize antialiases from opset 18 on; want --form exact --input-size HEIGHTxWIDTH, or a model of opset 18; without --merge, --opset 18 writes the steps alone to "+out)

	r = call(t, "graph", "export-onnx", "--graph", graph, "--form", "tail", "--merge", graph, "-o", out)
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "graph.json: onnx: not an ONNX model")
	r = call(t, "graph", "export-onnx", "--graph", graph, "--form", "tail", "--merge", filepath.Join(dir, "none"), "-o", out)
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "no such file")
}

func TestEmbedONNX(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 31, 17, 9)})
	at := func(n string) string { return filepath.Join(dir, n) }
	graph := mergeGraph(t, dir)
	r := call(t, "bundle", "embed-onnx", model("tiny.onnx"), "--graph", graph, "-o", at("m.onnx"))
	require.Equal(t, called{}, r)
	want, err := os.ReadFile(model("embedded.onnx"))
	require.NoError(t, err)
	got, err := os.ReadFile(at("m.onnx"))
	require.NoError(t, err)
	require.Equal(t, want, got)

	// With golden samples; then the graph is read back.
	r = call(t, "bundle", "embed-onnx", at("m.onnx"), "--onnx", at("m.onnx"), "--golden", at("a.png"), "-o", at("m.onnx"))
	require.Equal(t, called{}, r)
	b, err := os.ReadFile(at("m.onnx"))
	require.NoError(t, err)
	g, goldens, err := onnx.Extract(b)
	require.NoError(t, err)
	require.Len(t, goldens, 1)
	require.Equal(t, "a.png", goldens[0].Name)
	require.Equal(t, tensor.Float32, goldens[0].Outputs[0].Desc.DType)
	text, err := json.Marshal(g)
	require.NoError(t, err)
	r = call(t, "graph", "import", "--onnx", at("m.onnx"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.JSONEq(t, string(text), r.stdout)
	require.Equal(t, command.ExitOK, call(t, "run", "--onnx", at("m.onnx"), "-o", at("1"), at("a.png")).status)
	require.Equal(t, command.ExitOK, call(t, "run", "--graph", graph, "-o", at("2"), at("a.png")).status)
	require.Equal(t, readNPY(t, at("2/a.png.npy")), readNPY(t, at("1/a.png.npy")))

	// The samples of a bundle are embedded with its graph, unless that is
	// changed.
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--graph", graph, "--golden", at("a.png"), "-o", at("a.bundle")).status)
	for _, more := range [][]string{nil, {"--dtype", "float16", "--unchecked-model"}, {"--name", "pixels"}} {
		r = call(t, append([]string{"bundle", "embed-onnx", model("tiny.onnx"), "--bundle", at("a.bundle"), "-o", at("b.onnx")}, more...)...)
		require.Equal(t, called{}, r)
		b, err := os.ReadFile(at("b.onnx"))
		require.NoError(t, err)
		_, l, err := onnx.Extract(b)
		require.NoError(t, err)
		if more == nil {
			require.Equal(t, goldens, l)
		} else {
			require.Empty(t, l)
		}
	}

	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{command.ExitUsage, "want one model, got 0", nil},
		{command.ExitUsage, "want -o FILE", []string{model("tiny.onnx"), "--preset", "clip"}},
		{command.ExitUsage, "no graph", []string{model("tiny.onnx"), "-o", at("x")}},
		{command.ExitUsage, "tiny.onnx: importer: onnx: missing key: onnx: the model has no embedded graph", []string{model("tiny.onnx"), "--onnx", model("tiny.onnx"), "-o", at("x")}},
		{command.ExitFailed, "a.png: onnx: not an ONNX model", []string{at("a.png"), "--preset", "clip", "-o", at("x")}},
		{command.ExitFailed, "no such file", []string{at("none"), "--preset", "clip", "-o", at("x")}},
		{command.ExitUsage, "tiny.onnx: onnx: the graph's output image (float32 CHW (3, 224, 224)) does not fit the model: the input pixels (float32 [?, 3, 28, 28]) has another size", []string{model("tiny.onnx"), "--preset", "imagenet", "-o", at("x")}},
		{command.ExitFailed, "none", []string{model("tiny.onnx"), "--graph", graph, "--golden", at("none"), "-o", at("x")}},
	} {
		r := call(t, append([]string{"bundle", "embed-onnx"}, c.args...)...)
		require.Equal(t, c.status, r.status, c.want)
		require.Contains(t, r.stderr, c.want)
	}
	require.NoFileExists(t, at("x"))
}
