// Package classifier has tests alone: they are the way of a small model from its
// training in Python (train.py) to a bundle, and what comes of it here.
package classifier

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	_ "github.com/infer-prep/infer-prep/device/ort"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/internal/cli"
	"github.com/infer-prep/infer-prep/tensor"
)

// expected is what the Python program gives for an image.
type expected struct {
	SHA256 string    `json:"sha256"`
	Logits []float32 `json:"logits"`
	Label  string    `json:"label"`
	Drawn  string    `json:"drawn"`
}

func load(t *testing.T) map[string]expected {
	b, err := os.ReadFile("expected.json")
	require.NoError(t, err)
	var m map[string]expected
	require.NoError(t, json.Unmarshal(b, &m))
	require.Len(t, m, 12)
	return m
}

// TestTensors: the graph imported from the training's transforms gives the
// training's tensors.
func TestTensors(t *testing.T) {
	b, err := os.ReadFile("transforms.json")
	require.NoError(t, err)
	g, err := torchvision.Import(b)
	require.NoError(t, err)
	plan, err := datagraph.Compile(g, codec.DefaultLimits())
	require.NoError(t, err)
	r := plan.NewRunner()
	for name, want := range load(t) {
		b, err := os.ReadFile(filepath.Join("images", name))
		require.NoError(t, err)
		out, err := r.Run(tensor.FromBytes(b))
		require.NoError(t, err)
		require.Equal(t, want.SHA256, digest(t, out[0]), name)
	}
}

// run runs the command line.
func run(t *testing.T, args ...string) (status int, output string) {
	var out bytes.Buffer
	status = cli.Run(context.Background(), args, strings.NewReader(""), &out, &out)
	return status, out.String()
}

func succeed(t *testing.T, args ...string) string {
	t.Helper()
	status, out := run(t, args...)
	require.Zero(t, status, "%s: %s", args, out)
	return out
}

// bundle makes the bundle with the training's own tensors.
func bundle(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "classifier.bundle")
	succeed(t, "bundle", "create", "--torchvision", "transforms.json", "--model", "model.onnx", "--labels", "labels.txt",
		"--golden", "images", "--expect", "tensors", "-o", name)
	return name
}

func readNPY(t *testing.T, name string) *tensor.Tensor {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	x, err := tensor.ReadNPY(f, 1<<20)
	require.NoError(t, err)
	return x
}

// TestBundle: the bundle's golden samples are the training's tensors, and so is what
// is made of every image on the CPU.
func TestBundle(t *testing.T) {
	b, out := bundle(t), t.TempDir()
	require.Contains(t, succeed(t, "bundle", "verify", b), "12 golden samples are right")
	succeed(t, "run", "--bundle", b, "--device", "cpu", "-q", "-o", out, "images")
	for name, want := range load(t) {
		require.Equal(t, want.SHA256, digest(t, readNPY(t, filepath.Join(out, name+".npy"))), name)
	}
}

func digest(t *testing.T, x *tensor.Tensor) string {
	var raw bytes.Buffer
	require.NoError(t, tensor.WriteRaw(&raw, x))
	sum := sha256.Sum256(raw.Bytes())
	return hex.EncodeToString(sum[:])
}

// TestPredictions: ONNX Runtime on the bundle predicts what the Python program does.
func TestPredictions(t *testing.T) {
	if os.Getenv("INFER_PREP_ORT") == "" {
		t.Skip("ONNX Runtime is not there: make test-device installs it and sets INFER_PREP_ORT")
	}
	b, tensors, logits := bundle(t), t.TempDir(), t.TempDir()
	require.Contains(t, succeed(t, "bundle", "verify", "--device", "ort:cpu", b), "right")
	succeed(t, "run", "--bundle", b, "--device", "ort:cpu", "-q", "-o", tensors, "images")
	succeed(t, "run", "--bundle", b, "--device", "ort:cpu", "--infer", "-q", "-o", logits, "images")
	names, err := os.ReadFile("labels.txt")
	require.NoError(t, err)
	labels := strings.Fields(strings.ReplaceAll(string(names), " ", "-"))
	for name, want := range load(t) {
		require.Equal(t, want.SHA256, digest(t, readNPY(t, filepath.Join(tensors, name+".npy"))), name)
		got := tensor.View[float32](readNPY(t, filepath.Join(logits, name+".npy")))
		require.Len(t, got, len(labels))
		best := 0
		for i, v := range got {
			// The kernels of torch and of ONNX Runtime add up in other orders.
			require.InDelta(t, want.Logits[i], v, 1e-3, name)
			if v > got[best] {
				best = i
			}
		}
		require.Equal(t, want.Label, strings.ReplaceAll(labels[best], "-", " "), name)
		require.Equal(t, want.Drawn, want.Label)
	}
}

// TestSkew: a bundle whose tensors come from another preprocessing is told from a right one.
func TestSkew(t *testing.T) {
	for _, skew := range []string{"opencv", "bgr"} {
		dir := t.TempDir()
		for _, name := range []string{"00", "01"} {
			b, err := os.ReadFile(filepath.Join("skewed", name+"."+skew+".npy"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".npy"), b, 0o600))
		}
		name := filepath.Join(dir, "x.bundle")
		succeed(t, "bundle", "create", "--torchvision", "transforms.json", "--golden", "images/00.jpg", "--golden", "images/01.jpg", "--expect", dir, "-o", name)
		status, out := run(t, "bundle", "verify", name)
		require.Equal(t, 1, status)
		require.Contains(t, out, "00.jpg")
	}
}
