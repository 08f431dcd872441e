package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	t "github.com/infer-prep/infer-prep/transforms"
)

// TestIndex: epochs with notes about the images have the bytes of epochs
// without, on every engine, with room for all notes and for a few.
func TestIndex(test *testing.T) {
	d := dataset.From(&photos{N: 22}).Shuffle().Map(datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(16, 16)))
	want := epochs(test, d, dataset.Options{Seed: 3, IndexBytes: -1}, 3, 0)
	for _, bytes := range []int64{0, 1, 1000} {
		for workers := range 3 {
			require.Equal(test, want, epochs(test, d, dataset.Options{Seed: 3, IndexBytes: bytes}, 3, workers))
		}
	}
	_, err := dataset.Build(test.Context(), d, dataset.Options{IndexBytes: -2})
	require.ErrorIs(test, err, dataset.ErrParam)
	require.EqualError(test, err, "dataset: invalid parameter: IndexBytes -2: want -1 or more")
}
