package dataset_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestTake takes all samples and batches of a run: each keeps its values, also
// those that a source shares, and the run goes on with the memory that it got.
func TestTake(t *testing.T) {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(12)})
	require.NoError(t, err)
	for i := range 12 {
		tensor.View[int32](x)[i] = int32(i)
	}
	for size, batches := range map[int]int{0: 12, 3: 4} {
		d := dataset.From(inmemory.New(tensor.Named{Name: "x", T: x}))
		if size > 0 {
			d = d.Batch(size)
		}
		built, err := dataset.Build(context.Background(), d, dataset.Options{})
		require.NoError(t, err)
		run, err := pullpipe.New(built, nil)
		require.NoError(t, err)
		var taken []*dataset.Sample
		for range batches {
			s, err := run.Next(t.Context())
			require.NoError(t, err)
			mine := &dataset.Sample{}
			if len(taken) > 2 { // memory of an earlier one
				mine = taken[0]
				taken = taken[1:]
			}
			require.NoError(t, mine.Take(s))
			taken = append(taken, mine)
		}
		require.NoError(t, run.Close())
		require.NoError(t, built.Close())
		for k, s := range taken {
			n := max(size, 1)
			first := 12 - (len(taken)-k)*n
			for j, v := range tensor.View[int32](&s.Column("x").Tensor) {
				require.EqualValues(t, first+j, v)
			}
			require.EqualValues(t, first, s.Ordinal)
			require.NotSame(t, &x.Data[4*first], &s.Column("x").Data[0])
		}
	}
}
