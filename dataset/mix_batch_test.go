package dataset_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// TestMixBatches mixes the images of batches with their labels, after
// operations on single images: the same bytes for any number of workers and
// from a definition that was read back, another mixture in every epoch, and
// labels that sum to 1.
func TestMixBatches(test *testing.T) {
	mix := &datagraph.Graph{Inputs: []datagraph.Column{
		{Name: "image", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, 3, 32, 32)}},
		{Name: "label", Desc: tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(tensor.Unknown)}},
	}}
	both := []string{"image", "label"}
	mix.Then(t.NewRandomMixup(0.8, 30), both, both)
	mix.Then(t.NewRandomCutmix(1, 0), both, both)
	mix.Outputs = both
	mixed := func(g *datagraph.Graph) *dataset.Dataset {
		one := datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(32, 32), t.NewToTensor())
		return dataset.From(&photos{N: 22}).Shuffle().Map(one).Batch(4).Map(g)
	}
	d := mixed(mix)
	want := epochs(test, d, dataset.Options{Seed: 3}, 2, 0)
	require.Len(test, want[0], 6)
	for i := range want[0] {
		require.NotEqual(test, want[0][i], want[1][i])
	}
	for workers := range 3 {
		require.Equal(test, want, epochs(test, d, dataset.Options{Seed: 3}, 2, workers+1))
	}
	text, err := json.Marshal(mix)
	require.NoError(test, err)
	again := &datagraph.Graph{}
	require.NoError(test, json.Unmarshal(text, again))
	require.Equal(test, want, epochs(test, mixed(again), dataset.Options{Seed: 3}, 2, 0))

	b, err := dataset.Build(test.Context(), d, dataset.Options{Seed: 3})
	require.NoError(test, err)
	p := pull(test, b, nil)
	for n := 22; n > 0; n -= 4 {
		s, err := p.Next(context.Background())
		require.NoError(test, err)
		label := &s.Column("label").Tensor
		require.Equal(test, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(min(n, 4), 30)}, label.Desc)
		v := tensor.View[float32](label)
		for ; len(v) > 0; v = v[30:] {
			sum := float32(0)
			for _, x := range v[:30] {
				sum += x
			}
			require.InDelta(test, 1, sum, 1e-6)
		}
	}
	_, err = p.Next(context.Background())
	require.ErrorIs(test, err, io.EOF)
	require.NoError(test, errors.Join(p.Close(), b.Close()))
}
