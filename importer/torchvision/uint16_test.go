package torchvision_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestUint16 compares with what torchvision makes of 16-bit PNG files
// (testdata/gen/importers/torchvision_uint16.py).
func TestUint16(t *testing.T) {
	b, err := os.ReadFile("testdata/uint16.json")
	require.NoError(t, err)
	var g struct {
		Files [][]byte
		Cases []struct {
			Text    string
			Results [][]any
		}
		Fails []string
	}
	require.NoError(t, json.Unmarshal(b, &g))
	for _, c := range g.Cases {
		graph, err := torchvision.ImportTensor16([]byte(c.Text))
		require.NoError(t, err, c.Text)
		plan, err := datagraph.Compile(graph, datagraph.CompileOptions{})
		require.NoError(t, err, c.Text)
		for i, f := range g.Files {
			out, err := plan.NewRunner().Run(tensor.FromBytes(f))
			require.NoError(t, err, c.Text)
			var shape []any
			for a := range out[0].Shape.Rank() {
				shape = append(shape, float64(out[0].Shape.At(a)))
			}
			sum := sha256.Sum256(out[0].Data)
			require.Equal(t, c.Results[i], []any{out[0].DType.String(), shape, hex.EncodeToString(sum[:])[:16]}, "%s of file %d", c.Text, i)
		}
	}
	for _, text := range append(g.Fails, "Compose(\n      Resize(size=[9, 9], interpolation=InterpolationMode.BICUBIC, antialias=True)\n)") {
		_, err := torchvision.ImportTensor16([]byte(text))
		require.Error(t, err, text)
	}
	graph, err := torchvision.ImportTensor([]byte(g.Cases[0].Text))
	require.NoError(t, err)
	plan, err := datagraph.Compile(graph, datagraph.CompileOptions{})
	require.NoError(t, err)
	_, err = plan.NewRunner().Run(tensor.FromBytes(g.Files[0]))
	require.ErrorContains(t, err, "more than 8 bits per sample")
}
