package dataset_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestColumn checks that samples have the names of the columns wherever a user
// sees them: in a run of either engine, in copies, and in a function of a
// batch.
func TestColumn(t *testing.T) {
	src := func() *dataset.Dataset {
		var named []tensor.Named
		for i, name := range []string{"x", "y"} {
			n, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(4)})
			require.NoError(t, err)
			for k := range 4 {
				tensor.View[int32](n)[k] = int32(10*i + k)
			}
			named = append(named, tensor.Named{Name: name, T: n})
		}
		return dataset.From(inmemory.New(named...))
	}
	double := func(_ *dataset.Call, l []*dataset.Sample) error {
		for _, s := range l {
			v := s.Column("z")
			if err := v.SetInt32(2 * tensor.View[int32](&v.Tensor)[0]); err != nil {
				return err
			}
		}
		return nil
	}
	d := src().Rename([]string{"y"}, []string{"z"}).BatchFunc(2, double)
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	require.Nil(t, b.ClassIndex())
	for _, r := range []runner{pull(t, b, nil), parallel(t, b, 2, nil)} {
		var got [][]int32
		var kept dataset.Sample
		for {
			s, err := r.Next(t.Context())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.Nil(t, s.Column("y"), "renamed")
			require.NoError(t, kept.CopyFrom(s))
			require.NoError(t, kept.Take(s))
			got = append(got, tensor.View[int32](&kept.Column("x").Tensor), tensor.View[int32](&kept.Column("z").Tensor))
			kept = dataset.Sample{}
		}
		require.Equal(t, [][]int32{{0, 1}, {20, 22}, {2, 3}, {24, 26}}, got)
		r.Close()
	}
	require.Nil(t, (&dataset.Sample{}).Column("x"))
}

// TestClassIndex checks the classes of a Built with several sources.
func TestClassIndex(t *testing.T) {
	folder := func(index map[string]int32) *dataset.Dataset {
		s := imagefolder.New("../testdata/datasets/imagefolder/flat")
		s.ClassIndexing = index
		return dataset.From(s)
	}
	one := map[string]int32{"cats": 0, "Dogs": 1}
	for _, c := range []struct {
		d    *dataset.Dataset
		want map[string]int32
	}{
		{folder(one).Shuffle(), one},
		{folder(one).Concat(folder(one)), one},
		{folder(one).Concat(folder(map[string]int32{"cats": 1, "Dogs": 0})), nil},
	} {
		b, err := dataset.Build(t.Context(), c.d, dataset.Options{})
		require.NoError(t, err)
		require.Equal(t, c.want, b.ClassIndex())
		require.NoError(t, b.Close())
	}
}
