// Package classifier has only tests. They check a small model that train.py
// trained in Python: the graph imported from the training's transforms computes
// the training's tensors. The command line's tests bundle and run the model.
package classifier

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/tensor"
)

// expected is what the Python program computes for an image.
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

// TestTensors compares the tensors of the imported graph with the training's.
func TestTensors(t *testing.T) {
	b, err := os.ReadFile("transforms.json")
	require.NoError(t, err)
	g, err := torchvision.Import(b)
	require.NoError(t, err)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
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

func digest(t *testing.T, x *tensor.Tensor) string {
	var raw bytes.Buffer
	require.NoError(t, tensor.WriteRaw(&raw, x))
	sum := sha256.Sum256(raw.Bytes())
	return hex.EncodeToString(sum[:])
}
