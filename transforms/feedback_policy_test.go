package transforms

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestFeedbackPolicy(t *testing.T) {
	refusesParam(t, "policies has 0 lists", NewFeedbackPolicy("a"))
	refusesParam(t, "policies[0] has 0 ops", NewFeedbackPolicy("a").Policy(1))
	for _, name := range []PolicyName{"", "a b", "é", PolicyName(strings.Repeat("a", 65))} {
		refusesParam(t, "name is", NewFeedbackPolicy(name).Policy(1, NewInvert()))
		refusesParam(t, "name is", NewPolicyIndex(name))
	}
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		refusesParam(t, "weights", NewFeedbackPolicy("a").Policy(w, NewInvert()))
	}
	refusesInput(t, "depending on the draw", NewFeedbackPolicy("a").Policy(1, NewToTensor()).Policy(1, NewInvert()), rgb8)
	d, err := inferOne(NewFeedbackPolicy("a").Policy(1, NewInvert(), NewResize(9, 7)).Policy(1, NewCrop(0, 0, 9, 3)), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(9, tensor.Unknown), d)

	var long PolicyName
	_, err = long.UnmarshalMsg(append([]byte{0xd9, 65}, make([]byte, 65)...))
	require.ErrorContains(t, err, "name has 65 bytes")

	inner := NewFeedbackPolicy("b").Policy(1, NewInvert())
	require.Equal(t, []*FeedbackPolicy{inner}, FeedbackPolicies(NewInvert(), NewRandomApply(1, NewRandomChoice(NewInvert(), inner))))
}

// TestFeedbackWeights checks that a training's weights replace the op's, and
// that PolicyIndex returns the list that was drawn.
func TestFeedbackWeights(t *testing.T) {
	op := NewFeedbackPolicy("a").Policy(1, NewInvert()).Policy(1, NewVerticalFlip()).Policy(1, NewHorizontalFlip())
	lists := map[string]int{"invert": 0, "vertical_flip": 1, "horizontal_flip": 2}
	d := NewDraw(newContext())
	index := func(s rng.Stream, name PolicyName) float64 {
		ops, err := d.Run(NewPolicyIndex(name), s, []tensor.Desc{rgb8}, nil)
		require.NoError(t, err)
		require.Len(t, ops, 1)
		require.Equal(t, tensor.Int32, ops[0].(*Constant).DType)
		return ops[0].(*Constant).Value
	}
	n := short.Rounds(t, 20_000, 2_000)
	for _, w := range [][]float64{nil, {0, 1, 0}, {3, 1, 0}, {0.01, 0.01, 0.98}} {
		d.Weights = map[string][]float64{"b": {1}}
		if w != nil {
			d.Weights["a"] = w
		} else {
			w = op.Weights
		}
		key := rng.NewKey(1, 2, "feedback")
		counts := make([]float64, 3)
		for i := range n {
			d.Begin()
			ops, err := d.Run(op, key.At(uint64(i)), []tensor.Desc{rgb8}, nil)
			require.NoError(t, err)
			require.Len(t, ops, 1)
			k := lists[InfoOf(ops[0]).Name]
			counts[k]++
			require.Equal(t, float64(k), index(key.At(0), "a"))
			require.Equal(t, -1.0, index(key.At(0), "b"), "not drawn for this sample")
		}
		for i, c := range counts {
			p := w[i] / sum(w)
			require.InDelta(t, p, c/float64(n), 5*math.Sqrt(p*(1-p)/float64(n)), "%v[%d]", w, i)
		}
	}
	d.Weights["a"] = []float64{1}
	d.Begin()
	_, err := d.Run(op, rng.NewKey(1, 2, "x").At(0), []tensor.Desc{rgb8}, nil)
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, `the training's weights of "a"`)
}

func TestUpdateWeights(t *testing.T) {
	next, err := UpdateWeights([]float64{1, 1}, []float64{0, math.Log(3)}, 1, 0)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.75, 0.25}, next, 1e-15)
	next, err = UpdateWeights([]float64{1, 1}, []float64{0, math.Log(3)}, -1, 0.5)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.375, 0.625}, next, 1e-15)
	// A list without samples is as good as the mean of the others.
	next, err = UpdateWeights([]float64{1, 2, 1}, []float64{0.5, math.NaN(), 0.5}, 3, 0)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.25, 0.5, 0.25}, next, 1e-15)
	// Large losses overflow nothing. A weight of 0 stays without exploration.
	next, err = UpdateWeights([]float64{1, 0, 1}, []float64{1e30, -1e30, 0}, 1e6, 0)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0, 1}, next)
	nan := math.NaN()
	next, err = UpdateWeights([]float64{2, 2}, []float64{nan, nan}, 1, 0.1)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.5, 0.5}, next, 1e-15)
	for _, c := range []struct {
		w, l    []float64
		r, e    float64
		message string
	}{
		{nil, nil, 1, 0, "0 weights"},
		{[]float64{0}, []float64{1}, 1, 0, "all 0"},
		{[]float64{1}, []float64{1, 2}, 1, 0, "2 losses, want 1"},
		{[]float64{1}, []float64{math.Inf(1)}, 1, 0, "losses[0] is +Inf"},
		{[]float64{1}, []float64{1}, nan, 0, "rate is NaN"},
		{[]float64{1}, []float64{1}, 1, 2, "explore is 2"},
	} {
		_, err := UpdateWeights(c.w, c.l, c.r, c.e)
		require.ErrorIs(t, err, ErrParam)
		require.ErrorContains(t, err, c.message)
	}
}

func ExampleFeedbackPolicy() {
	op := NewFeedbackPolicy("flips").Policy(3, NewInvert()).Policy(1, NewVerticalFlip(), NewHorizontalFlip())
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"invert","version":1,"params":{}}]
	// [{"op":"invert","version":1,"params":{}}]
	// [{"op":"invert","version":1,"params":{}}]
}

func ExamplePolicyIndex() {
	fmt.Println(exampleDraw(NewPolicyIndex("flips"), 0)) // without a policy of the name
	// Output: [{"op":"constant","version":1,"params":{"value":-1,"dtype":"int32"}}]
}

// Losses of 0.2 and 0.9 move weight to the first list.
func ExampleUpdateWeights() {
	next, err := UpdateWeights([]float64{1, 1}, []float64{0.2, 0.9}, 1, 0.1)
	fmt.Printf("%.3f %v\n", next, err)
	// Output: [0.651 0.349] <nil>
}
