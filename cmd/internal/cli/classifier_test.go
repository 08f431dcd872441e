package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
)

// classified is what the Python program of examples/classifier computes for an
// image.
type classified struct {
	SHA256 string
	Logits []float32
	Label  string
	Drawn  string
}

// inClassifier changes to examples/classifier and reads the expected results.
func inClassifier(t *testing.T) map[string]classified {
	return expectedIn[classified](t, 12, "examples", "classifier")
}

// expectedIn changes to a folder of the project and reads the n results that
// its expected.json has by name.
func expectedIn[T any](t *testing.T, n int, folder ...string) map[string]T {
	t.Chdir(filepath.Join(append([]string{"..", "..", ".."}, folder...)...))
	b, err := os.ReadFile("expected.json")
	require.NoError(t, err)
	var m map[string]T
	require.NoError(t, json.Unmarshal(b, &m))
	require.Len(t, m, n)
	return m
}

func succeed(t *testing.T, args ...string) string {
	t.Helper()
	r := call(t, args...)
	require.Equal(t, command.ExitOK, r.status, "%s: %s", args, r.stderr)
	return r.stdout
}

// classifierBundle creates the bundle with the training's own tensors.
func classifierBundle(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "classifier.bundle")
	succeed(t, "bundle", "create", "--torchvision", "transforms.json", "--model", "model.onnx", "--labels", "labels.txt",
		"--golden", "images", "--expect", "tensors", "-o", name)
	return name
}

func digest(t *testing.T, x *tensor.Tensor) string {
	var raw bytes.Buffer
	require.NoError(t, tensor.WriteRaw(&raw, x))
	sum := sha256.Sum256(raw.Bytes())
	return hex.EncodeToString(sum[:])
}

// TestClassifierBundle: the bundle's golden samples are the training's tensors,
// and the CPU computes the same tensors for every image.
func TestClassifierBundle(t *testing.T) {
	want, out := inClassifier(t), t.TempDir()
	b := classifierBundle(t)
	require.Contains(t, succeed(t, "bundle", "verify", b), "12 golden samples are right")
	succeed(t, "run", "--bundle", b, "--device", "cpu", "-q", "-o", out, "images")
	for name, w := range want {
		require.Equal(t, w.SHA256, digest(t, readNPY(t, filepath.Join(out, name+".npy"))), name)
	}
}

// TestClassifier: ONNX Runtime on the bundle makes the Python program's
// predictions.
func TestClassifier(t *testing.T) {
	needORT(t)
	want, tensors, logits := inClassifier(t), t.TempDir(), t.TempDir()
	b := classifierBundle(t)
	require.Contains(t, succeed(t, "bundle", "verify", "--device", "ort:cpu", b), "right")
	succeed(t, "run", "--bundle", b, "--device", "ort:cpu", "-q", "-o", tensors, "images")
	succeed(t, "run", "--bundle", b, "--device", "ort:cpu", "--infer", "-q", "-o", logits, "images")
	file, err := os.ReadFile("labels.txt")
	require.NoError(t, err)
	labels := strings.Split(strings.TrimSpace(string(file)), "\n")
	for name, w := range want {
		require.Equal(t, w.SHA256, digest(t, readNPY(t, filepath.Join(tensors, name+".npy"))), name)
		got := tensor.View[float32](readNPY(t, filepath.Join(logits, name+".npy")))
		require.Len(t, got, len(labels))
		// ONNX Runtime's sums depend on the processor's instructions.
		require.InDeltaSlice(t, w.Logits, got, 1e-3, name)
		best := 0
		for i, x := range got {
			if x > got[best] {
				best = i
			}
		}
		require.Equal(t, w.Label, labels[best], name)
		require.Equal(t, w.Drawn, w.Label)
	}
}

// TestClassifierSkew: create and verify reject a bundle whose tensors come from
// another preprocessing.
func TestClassifierSkew(t *testing.T) {
	inClassifier(t)
	for _, skew := range []string{"opencv", "bgr"} {
		dir := t.TempDir()
		for _, name := range []string{"00", "01"} {
			b, err := os.ReadFile(filepath.Join("skewed", name+"."+skew+".npy"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".npy"), b, 0o600))
		}
		name := filepath.Join(dir, "x.bundle")
		r := call(t, "bundle", "create", "--torchvision", "transforms.json", "--golden", "images/00.jpg", "--golden", "images/01.jpg", "--expect", dir, "-o", name)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "00.jpg")
		require.Contains(t, r.stderr, "("+skew)
		require.NoFileExists(t, name)

		// Another program may have made the bundle without running the graph.
		g := importedGraph(t, "--torchvision", "transforms.json")
		b, err := os.ReadFile(filepath.Join("images", "00.jpg"))
		require.NoError(t, err)
		s, err := modelbundle.GoldenOf(g, "00.jpg", b, []tensor.Named{{Name: "image", T: readNPY(t, filepath.Join(dir, "00.npy"))}})
		require.NoError(t, err)
		var raw bytes.Buffer
		require.NoError(t, modelbundle.Create(&raw, &modelbundle.Content{Graph: g, Goldens: []modelbundle.Golden{s}}))
		require.NoError(t, os.WriteFile(name, raw.Bytes(), 0o600))
		r = call(t, "bundle", "verify", name)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "00.jpg")
		require.Regexp(t, `the likely cause: .*\(`+skew, r.stderr)

		// If the cause is unknown, verify names the commands that find more.
		x := readNPY(t, filepath.Join(dir, "00.npy"))
		tensor.View[float32](x)[0]++
		s, err = modelbundle.GoldenOf(g, "00.jpg", b, []tensor.Named{{Name: "image", T: x}})
		require.NoError(t, err)
		raw.Reset()
		require.NoError(t, modelbundle.Create(&raw, &modelbundle.Content{Graph: g, Goldens: []modelbundle.Golden{s}}))
		require.NoError(t, os.WriteFile(name, raw.Bytes(), 0o600))
		r = call(t, "bundle", "verify", name)
		require.Equal(t, command.ExitFailed, r.status)
		advised := regexp.MustCompile(`infer-prep (bundle cat \S+ golden/00.jpg) -o IMAGE, then infer-prep (diff --bundle \S+ --column image) IMAGE`).FindStringSubmatch(r.stderr)
		require.Len(t, advised, 3, r.stderr)
		image := filepath.Join(dir, "image.jpg")
		succeed(t, append(strings.Fields(advised[1]), "-o", image)...)
		r = call(t, append(strings.Fields(advised[2]), image, "--against", filepath.Join(dir, "00.npy"))...)
		require.Equal(t, command.ExitFailed, r.status, r.stderr)
		require.Contains(t, r.stdout, "("+skew)
	}
}

// importedGraph returns the graph that flags name.
func importedGraph(t *testing.T, flags ...string) *datagraph.Graph {
	g := &datagraph.Graph{}
	require.NoError(t, g.UnmarshalJSON([]byte(succeed(t, append([]string{"graph", "import"}, flags...)...))))
	return g
}
