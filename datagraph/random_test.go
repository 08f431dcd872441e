package datagraph_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

func randomGraph() *datagraph.Graph {
	return datagraph.New(t.NewDecode(), t.NewResizedCrop(3, 4, 100, 90, 64, 64), t.NewRandomHorizontalFlip(), t.NewToTensor())
}

// TestDrawn checks that Drawn returns the plan that Run uses.
func TestDrawn(test *testing.T) {
	p, err := datagraph.Compile(randomGraph(), datagraph.CompileOptions{})
	require.NoError(test, err)
	r := p.NewRunner()
	image := testImage(test, "jpeg_large.jpg")
	seen := map[int]int{} // drawn plans by their number of steps
	for o := range uint64(20) {
		r.At = rng.Point{Seed: 1, Ordinal: o}
		drawn, steps, err := r.Drawn(image)
		require.NoError(test, err)
		require.Len(test, drawn.Steps(), 1, "all is fused")
		require.Equal(test, map[int][]int{3: {0, 1, 3}, 4: {0, 1, 2, 3}}[len(steps)], steps)
		seen[len(steps)]++
		own, err := drawn.NewRunner().Run(image)
		require.NoError(test, err)
		out, err := r.Run(image)
		require.NoError(test, err)
		require.Equal(test, own[0].Data, out[0].Data)
	}
	require.Len(test, seen, 2)
	p, err = datagraph.Compile(datagraph.New(t.NewDecode(), t.NewToTensor()), datagraph.CompileOptions{})
	require.NoError(test, err)
	same, steps, err := p.NewRunner().Drawn(image)
	require.NoError(test, err)
	require.Same(test, p, same)
	require.Equal(test, []int{0, 1}, steps)
	_, _, err = r.Drawn(tensor.FromBytes([]byte("no image")))
	require.Error(test, err)
}

// TestRandomRun checks that a random graph has the outputs of the graph of the
// drawn ops.
func TestRandomRun(test *testing.T) {
	p, err := datagraph.Compile(randomGraph(), datagraph.CompileOptions{})
	require.NoError(test, err)
	r := p.NewRunner()
	image := testImage(test, "jpeg_large.jpg")
	var want [2][]byte
	for i, ops := range [][]t.Op{
		{t.NewDecode(), t.NewResizedCrop(3, 4, 100, 90, 64, 64), t.NewToTensor()},
		{t.NewDecode(), t.NewResizedCrop(3, 4, 100, 90, 64, 64), t.NewHorizontalFlip(), t.NewToTensor()},
	} {
		q, err := datagraph.Compile(datagraph.New(ops...), datagraph.CompileOptions{})
		require.NoError(test, err)
		out, err := q.NewRunner().Run(image)
		require.NoError(test, err)
		want[i] = bytes.Clone(out[0].Data)
	}
	flips := 0
	var first []byte
	n := short.Rounds(test, 200, 30)
	for o := range uint64(n) {
		r.At = rng.Point{Seed: 1, Epoch: 2, Ordinal: o}
		out, err := r.Run(image)
		require.NoError(test, err)
		s := rng.NewKey(1, 2, "2").At(o)
		flip := 0
		if s.Coin(0.5) {
			flip = 1
		}
		flips += flip
		first = append(first, byte(flip))
		require.True(test, bytes.Equal(want[flip], out[0].Data), "sample %d, flip %d", o, flip)
	}
	require.InDelta(test, n/2, flips, 2.5*math.Sqrt(float64(n)))
	require.Zero(test, testing.AllocsPerRun(50, func() {
		r.At.Ordinal++
		_, err = r.Run(image)
		require.NoError(test, err)
	}))
	_, err = r.Run(tensor.FromBytes([]byte("no image")))
	var se *datagraph.StepError
	require.ErrorAs(test, err, &se)
	require.Equal(test, "decode", se.Op)
	// The plan without passes has the same outputs.
	q, err := datagraph.Compile(randomGraph(), datagraph.CompileOptions{Disable: datagraph.Passes()})
	require.NoError(test, err)
	rq := q.NewRunner()
	for o := range uint64(10) {
		rq.At = rng.Point{Seed: 1, Epoch: 2, Ordinal: o}
		out, err := rq.Run(image)
		require.NoError(test, err)
		require.True(test, bytes.Equal(want[first[o]], out[0].Data))
	}
}

func TestRandomIsNotApplied(test *testing.T) {
	c := t.NewContext(codec.DefaultLimits())
	require.ErrorIs(test, t.NewRandomHorizontalFlip().Apply(c, nil, nil), t.ErrNotDrawn)
}

// TestRandomOutputsThatAreOne outputs a column before and after a random op
// that draws nothing.
func TestRandomOutputsThatAreOne(test *testing.T) {
	g := datagraph.New(t.NewDecode(), t.NewResizedCrop(3, 4, 100, 90, 64, 64))
	g.Then(t.NewRandomHorizontalFlip(), []string{"image"}, []string{"flipped"})
	g.Outputs = []string{"image", "flipped"}
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(test, err)
	r := p.NewRunner()
	image := testImage(test, "jpeg_large.jpg")
	same, other := 0, 0
	for o := range uint64(20) {
		r.At = rng.Point{Seed: 1, Ordinal: o}
		out, err := r.Run(image)
		require.NoError(test, err)
		require.Len(test, out, 2)
		want := [2][]byte{bytes.Clone(out[0].Data), bytes.Clone(out[1].Data)}
		first, own := r.Take(0, nil)
		require.True(test, own)
		require.Equal(test, want[0], first.Data)
		second, own := r.Take(1, nil)
		require.Equal(test, want[1], second.Data)
		if own {
			other++
			require.NotEqual(test, want[0], want[1])
		} else {
			same++
			require.Equal(test, want[0], want[1])
		}
	}
	require.Positive(test, same)
	require.Positive(test, other)
}
