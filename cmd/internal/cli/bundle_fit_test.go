package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bundle"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// TestBundleFits: create refuses bundles that cannot run and says what to do
// instead. The advice works.
func TestBundleFits(t *testing.T) {
	inClassifier(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	labels := func(n int) string {
		name := at("labels.txt")
		require.NoError(t, os.WriteFile(name, []byte(strings.Repeat("a\n", n)), 0o600))
		return name
	}
	graph := []string{"--torchvision", "transforms.json", "--model", "model.onnx"}
	for _, c := range []struct {
		name string
		args []string
		want string // "" for success
		mend []string
	}{
		{"fits", graph, "", nil},
		{"dtype", append(graph, "--dtype", "float16"), "the graph's output image (float16 CHW (3, 40, 40)) does not fit the model: the input image (float32 [1, 3, 40, 40]) has another dtype; --dtype float32 converts it", []string{"--dtype", "float32"}},
		{"layout", append(graph, "--layout", "HWC"), "has another layout; --layout CHW converts it", []string{"--layout", "CHW"}},
		{"size", []string{"--preset", "imagenet", "--model", "model.onnx"}, "the input image (float32 [1, 3, 40, 40]) has another size; is it another model's graph? --unchecked-model accepts it", []string{"--unchecked-model"}},
		{"labels", append(graph, "--labels", labels(5)), "5 labels: want one for each class of the model's output logits (float32 [1, 4])", []string{"--labels", "labels.txt"}},
		{"name", []string{"--preset", "imagenet", "--model", filepath.Join("..", "..", "device", "ort", "testdata", "two.onnx")}, "no input has its name: want one of a (float32 [1, 3, ?, ?]), b (float32 [3, ?, ?]); --name image=a renames it", []string{"--name", "image=a"}},
		{"one of two models", append(graph, "--model", filepath.Join("..", "..", "testdata", "onnx", "tiny.onnx")), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			labels(5)
			out := at("x.bundle")
			_ = os.Remove(out)
			r := call(t, append([]string{"bundle", "create", "-o", out}, c.args...)...)
			if c.want == "" {
				require.Equal(t, called{}, r)
				return
			}
			require.Equal(t, command.ExitUsage, r.status)
			require.Contains(t, r.stderr, ".onnx: onnx: ")
			require.Contains(t, r.stderr, c.want)
			require.NoFileExists(t, out)
			if c.mend != nil { // a later flag replaces an earlier one
				succeed(t, append(append([]string{"bundle", "create", "-o", out}, c.args...), c.mend...)...)
			}
		})
	}

	// Two outputs: names decide.
	yolo := []string{"bundle", "create", "--preset", "yolo", "--name", "images=image", "--model", "model.onnx", "-o", at("y.bundle")}
	require.Contains(t, call(t, yolo...).stderr, "does not fit the model: the input image")
	r := call(t, "bundle", "create", "--torchvision", "transforms.json", "--name", "pixels", "--golden", "images/00.jpg", "-o", at("named.bundle"))
	require.Equal(t, called{}, r)
	require.Contains(t, succeed(t, "graph", "infer", "--bundle", at("named.bundle")), "pixels")
	require.Contains(t, succeed(t, "bundle", "verify", at("named.bundle")), "1 golden sample are right")
}

// TestBundleLibraries: a bundle names the libraries that its graph reproduces.
func TestBundleLibraries(t *testing.T) {
	inClassifier(t)
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--torchvision", "transforms.json"}, []string{"Pillow", "torchvision"}},
		{[]string{"--torchvision", "transforms.json", "--backend", "tensor"}, []string{"Pillow", "torchvision"}},
		{[]string{"--preset", "imagenet"}, []string{"Pillow", "torchvision"}},
		{[]string{"--preset", "clip"}, []string{"Pillow", "transformers"}},
		{[]string{"--preset", "yolo"}, []string{"OpenCV", "Pillow", "torchvision"}},
		{[]string{"--preset", "decode"}, []string{"Pillow"}},
		{[]string{"--preset", "decode", "--library", "timm=1"}, []string{"timm"}},
	} {
		out := filepath.Join(dir, "x.bundle")
		succeed(t, append([]string{"bundle", "create", "-o", out}, c.args...)...)
		var l bundle.BundleJSON
		require.NoError(t, json.Unmarshal([]byte(succeed(t, "bundle", "ls", "--json", out)), &l))
		require.Equal(t, c.want, bundle.SortedKeys(l.Libraries), c.args)
	}
}
