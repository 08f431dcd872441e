package dataset_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestBatchSizes checks a resume after every batch, in both engines, and that
// merged states continue with the number of the batch.
func TestBatchSizes(t *testing.T) {
	d := dataset.Of(&dataset.Batch{SizeFunc: "test/sizes"}, dataset.Of(&numbers{N: 60}).Shuffle())
	b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: 5})
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, dataset.Unknown, b.Len())
	require.Equal(t, tensor.Unknown, b.Columns()[0].Desc.Shape.At(0))
	p := pull(t, b, nil)
	want := rest(t, p, most)
	require.NoError(t, p.Close())
	for name, q := range engines(t, b, nil) {
		for k := range want {
			require.Equal(t, want[k:k+1], rest(t, q, 1), "%s: batch %d", name, k)
			state := q.State()
			require.NoError(t, q.Close())
			q = engines(t, b, state)[name]
		}
		require.Empty(t, rest(t, q, 1))
		require.NoError(t, q.Close())
	}

	_, err = ranks(t, d, 2, dataset.Options{})
	require.ErrorContains(t, err, "the number of samples depends on the data")
	l, err := ranks(t, d, 2, dataset.Options{AllDone: func(_ context.Context, done bool) (bool, error) { return done, nil }})
	require.NoError(t, err)
	var states []*dataset.State
	for _, b := range l {
		p := pull(t, b, nil)
		rest(t, p, 4)
		states = append(states, p.State())
		require.NoError(t, p.Close())
	}
	merged, err := l[0].Merge(states...)
	require.NoError(t, err)
	require.EqualValues(t, 4, merged.Words[0], "the number of the next batch")
}

// TestBatchFunctionErrors checks functions that return invalid sizes or samples
// under every policy.
func TestBatchFunctionErrors(t *testing.T) {
	ten := func() *dataset.Dataset { return dataset.Of(&numbers{N: 10}) }
	size := func(n int) dataset.SizeFunc {
		return func(_ *dataset.Call, batch int64) (int, error) {
			switch {
			case batch < 2:
				return 2, nil
			case n == -1:
				return 1, errTrouble
			case n == -2:
				panic("oh")
			}
			return n, nil
		}
	}
	two := append(int64Column[:1:1], dataset.Column{Name: "y", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}})
	for want, f := range map[string]dataset.SizeFunc{
		"dataset: batch: invalid definition: the function made a size of 0 for batch 2 of epoch 0, want 1 to 1048576": size(0),
		"a size of 1048577": size(1<<20 + 1), "dataset: batch: trouble": size(-1), "panic: oh": size(-2),
	} {
		for _, policy := range []dataset.ErrorPolicy{dataset.FailOnError, dataset.SkipOnError, dataset.ReplaceOnError} {
			b, err := dataset.Build(t.Context(), ten().BatchSizes(f), dataset.Options{OnError: policy})
			require.NoError(t, err)
			for name, p := range engines(t, b, nil) {
				l, err := upTo(t, p, most)
				require.Equal(t, []string{"[0 1]", "[2 3]"}, l, name)
				require.ErrorContains(t, err, want, name)
				var ne *dataset.NodeError
				require.ErrorAs(t, err, &ne)
				state := p.State()
				require.NoError(t, p.Close())
				p = pull(t, b, state)
				_, err = upTo(t, p, most)
				require.ErrorContains(t, err, want, name)
				require.NoError(t, p.Close())
			}
			require.NoError(t, b.Close())
		}
	}

	for want, f := range map[string]dataset.BatchFunc{
		`dataset: batch: sample "number 0" (epoch 0, ordinal 0): invalid definition: sample "number 0": the function made 1 columns, want 2`: func(*dataset.Call, []*dataset.Sample) error { return nil },
		`sample "number 1": the function made 3 columns, want 2`: func(_ *dataset.Call, l []*dataset.Sample) error {
			for i, s := range l {
				s.Resize(2 + i)
				_ = s.Values[1].Reset(two[1].Desc)
			}
			return nil
		},
		`sample "number 0": column "y": the function made float32 (3,), want float32 (2,)`: func(_ *dataset.Call, l []*dataset.Sample) error {
			for _, s := range l {
				s.Resize(2)
				if err := s.Values[1].Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3)}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		b, err := dataset.Build(t.Context(), ten().BatchFunc(2, f, two...), dataset.Options{})
		require.NoError(t, err)
		for name, p := range engines(t, b, nil) {
			_, err := upTo(t, p, most)
			require.ErrorContains(t, err, want, name)
			require.ErrorIs(t, err, dataset.ErrDefinition)
			require.NoError(t, p.Close())
		}
		require.NoError(t, b.Close())
	}

	// Without Out the type and the number of axes stay.
	for want, d := range map[string]tensor.Desc{
		`sample "number 0": column "x": the function made float32 () of int64 (): state the columns that it makes`: {DType: tensor.Float32},
		`column "x": the function made int64 (1,) of int64 ()`:                                                     {DType: tensor.Int64, Shape: tensor.Dims(1)},
	} {
		other := func(_ *dataset.Call, l []*dataset.Sample) error {
			for _, s := range l {
				if err := s.Values[0].Reset(d); err != nil {
					return err
				}
			}
			return nil
		}
		b, err := dataset.Build(t.Context(), ten().BatchFunc(2, other), dataset.Options{})
		require.NoError(t, err)
		for name, p := range engines(t, b, nil) {
			_, err := upTo(t, p, most)
			require.ErrorContains(t, err, want, name)
			require.ErrorIs(t, err, dataset.ErrDefinition)
			require.NoError(t, p.Close())
		}
		require.NoError(t, b.Close())
	}

	keep := func(*dataset.Call, []*dataset.Sample) error { return nil }
	for want, d := range map[string]*dataset.Dataset{
		"batches of 3 and of a function's sizes": dataset.Of(&dataset.Batch{Size: 3, SizeFunc: "test/sizes"}, ten()),
		"batches of 0":                           dataset.Of(&dataset.Batch{}, ten()),
		`"test/noise" is a dataset.MapFunc`:      dataset.Of(&dataset.Batch{SizeFunc: "test/noise"}, ten()),
		"1 output columns without a function":    dataset.Of(&dataset.Batch{Size: 2, Out: []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}}, ten()),
		`column 1 is named "x"`:                  ten().BatchFunc(2, keep, int64Column[0], int64Column[0]),
		`column "b" is bytes`:                    ten().BatchFunc(2, keep, dataset.Column{Name: "b", Desc: tensor.Encoded()}),
		`unknown column "y"`:                     dataset.Of(&dataset.Batch{Size: 2, PerBatch: "test/perbatch", Pad: []dataset.PadColumn{{Column: "y"}}, Out: []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}}, ten()),
	} {
		_, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.ErrorContains(t, err, want)
	}
	for _, d := range []*dataset.Dataset{ten().BatchSizes(size(3)), ten().BatchFunc(2, keep)} {
		_, err := json.Marshal(d)
		require.ErrorIs(t, err, dataset.ErrUnknownNode)
	}
}
