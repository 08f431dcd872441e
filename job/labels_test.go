package job

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func scoresOf(t *testing.T, shape []int, v ...float32) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(shape...)})
	require.NoError(t, err)
	copy(tensor.View[float32](x), v)
	return x
}

func TestLabels(t *testing.T) {
	labels := []string{"a", "b", "c", "d"}
	nan := float32(math.NaN())
	best := func(s Labels, out ...*tensor.Tensor) (l []string, scores []float64) {
		s.Names = labels
		w, err := (&ranked{&results{}, s}).write("x", out)
		require.NoError(t, err)
		for _, p := range w.best {
			require.Equal(t, labels[p.Index], p.Label)
			l, scores = append(l, p.Label), append(scores, p.Score)
		}
		return l, scores
	}
	x := scoresOf(t, []int{1, 4}, 1, 3, -2, 3)
	l, scores := best(Labels{Top: 3}, x)
	require.Equal(t, []string{"b", "d", "a"}, l, "equal scores are in the order of the classes")
	require.Equal(t, []float64{3, 3, 1}, scores)
	l, _ = best(Labels{Top: 9}, scoresOf(t, []int{4, 1, 1}, nan, 1, nan, 0))
	require.Equal(t, []string{"b", "d", "a", "c"}, l, "NaN is last")
	_, scores = best(Labels{Top: 4, Softmax: true}, scoresOf(t, []int{4}, 1000, 1000, -1000, 1000+float32(math.Ln2)))
	require.InDeltaSlice(t, []float64{0.5, 0.25, 0.25, 0}, scores, 1e-5)
	l, _ = best(Labels{Top: 1}, scoresOf(t, []int{1, 3}, 9, 9, 9), x)
	require.Equal(t, []string{"b"}, l, "the first output that fits")
	l, _ = best(Labels{Top: 1}, scoresOf(t, []int{1, 4, 4}))
	require.Empty(t, l)
	s := &ranked{&results{}, Labels{Names: labels, Top: 1, Required: true}}
	_, err := s.write("x", []*tensor.Tensor{scoresOf(t, []int{1, 5})})
	require.EqualError(t, err, "no output has a score for each of the 4 labels: the outputs are float32 (1, 5)")

	const u = tensor.Unknown
	for _, c := range []struct {
		shape []int
		n     int
		want  bool
	}{
		{[]int{1, 10}, 10, true}, {[]int{10}, 10, true}, {[]int{u, 10}, 10, true}, {[]int{u, u}, 10, true}, {[]int{1, 10, 1, 1}, 10, true},
		{[]int{1, 1}, 1, true}, {[]int{}, 10, false}, {[]int{1, 1}, 10, false}, {[]int{1, 9}, 10, false}, {[]int{10, 10}, 10, false}, {[]int{1, 84, 8400}, 84, false},
	} {
		l := &Labels{Names: make([]string, c.n)}
		require.Equal(t, c.want, l.Fit(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(c.shape...)}), c.shape)
	}
	require.False(t, (&Labels{Names: make([]string, 10)}).Fit(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(1, 10)}))
}
