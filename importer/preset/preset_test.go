package preset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestGoldens runs the presets on images of every format.
// testdata/gen/models/preset.py wrote the digests with the reference libraries.
func TestGoldens(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	require.NoError(t, err)
	type array struct {
		DType  tensor.DType
		Shape  tensor.Shape
		SHA256 string
	}
	var golden map[string]map[string]map[string]array
	require.NoError(t, json.Unmarshal(b, &golden))
	require.Len(t, golden, len(Names()))
	for _, name := range Names() {
		g, err := Graph(name)
		require.NoError(t, err)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		r := p.NewRunner()
		require.NotEmpty(t, golden[name])
		for file, want := range golden[name] {
			t.Run(name+" "+file, func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", file))
				require.NoError(t, err)
				out, err := r.Run(tensor.FromBytes(data))
				require.NoError(t, err)
				require.Len(t, out, len(want))
				for i, c := range p.Outputs() {
					w, ok := want[c.Name]
					require.True(t, ok, c.Name)
					require.Equal(t, w.DType, out[i].DType, c.Name)
					require.Equal(t, w.Shape, out[i].Shape, c.Name)
					sum := sha256.Sum256(out[i].Data)
					require.Equal(t, w.SHA256, hex.EncodeToString(sum[:]), c.Name)
				}
			})
		}
	}
}

// TestGraph checks that every call returns a new graph, which the caller may
// change.
func TestGraph(t *testing.T) {
	for _, name := range Names() {
		a, err := Graph(name)
		require.NoError(t, err)
		require.NoError(t, a.Validate())
		require.NotEmpty(t, a.Reference)
		before, err := json.Marshal(a)
		require.NoError(t, err)
		a.Rename("other").Steps[0].Op = nil
		b, err := Graph(name)
		require.NoError(t, err)
		after, err := json.Marshal(b)
		require.NoError(t, err)
		require.JSONEq(t, string(before), string(after))
	}
	_, err := Graph("resnet")
	require.EqualError(t, err, `preset: unknown preset "resnet"; known: clip, decode, imagenet, yolo`)
	_, err = Graph("imagnet")
	require.EqualError(t, err, `preset: unknown preset "imagnet"; did you mean "imagenet"?`)
}
