package datagraph_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// TestIndexOfCrops: a graph with a random crop makes one note of an image,
// whatever the crops, and its outputs are those without notes.
func TestIndexOfCrops(t *testing.T) {
	index, err := codec.NewIndex(1 << 20)
	require.NoError(t, err)
	g := datagraph.New(x.NewDecode(), x.NewRandomResizedCrop(20, 20))
	g.Steps[1].Path = "crop"
	plain, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{Index: index})
	require.NoError(t, err)
	data, err := os.ReadFile("../testdata/images/jpeg_base_420.jpg")
	require.NoError(t, err)
	in := &tensor.Tensor{Desc: tensor.Encoded(), Data: data}
	r, q := plain.NewRunner(), p.NewRunner()
	for k := range uint64(10) {
		r.At, q.At = rng.Point{Seed: 1, Epoch: k}, rng.Point{Seed: 1, Epoch: k}
		want, err := r.Run(in)
		require.NoError(t, err)
		got, err := q.Run(in)
		require.NoError(t, err)
		require.Equal(t, want[0].Data, got[0].Data)
	}
	images, bytes := index.Stats()
	require.Equal(t, 1, images)
	require.Less(t, bytes, int64(len(data)))
}
