package fakeimage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestFakeImage(t *testing.T) {
	for _, o := range []*FakeImage{{7, 4, 5, 3, 10, 0}, {1, 1, 1, 1, 1, 1 << 63}, {300, 3, 3, 1, 2, 5}} {
		sourcetest.Spec(t, o)
		sourcetest.Run(t, o)
		require.Zero(t, sourcetest.Allocs(t, o))
	}
}

// TestAsDocumented draws the numbers as FakeImage's comment states.
func TestAsDocumented(t *testing.T) {
	o := &FakeImage{9, 3, 5, 3, 10, 42}
	seen := map[string]bool{}
	for i, s := range sourcetest.Samples(t, o) {
		r := rng.NewKey(42, 0, "fake_image").At(uint64(i))
		require.Equal(t, []int32{int32(r.IntN(10))}, tensor.View[int32](&s.Column("label").Tensor))
		var want []byte
		for len(want) < 45 {
			n := r.Uint32()
			want = append(want, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
		}
		require.Equal(t, want[:45], s.Column("image").Data, "row %d", i)
		seen[string(s.Column("image").Data)] = true
	}
	require.Len(t, seen, 9)
	first := sourcetest.Samples(t, o)[0].Values[0].Data
	require.Equal(t, []byte{0x68, 0x69}, first[:2], "must never change, on any platform")
}

// TestEven checks that pixels and labels are uniform.
func TestEven(t *testing.T) {
	o := &FakeImage{2000, 8, 8, 2, 4, 1}
	var pixels [256]int
	var labels [4]int
	for _, s := range sourcetest.Samples(t, o) {
		for _, p := range s.Column("image").Data {
			pixels[p]++
		}
		labels[tensor.View[int32](&s.Column("label").Tensor)[0]]++
	}
	for _, n := range pixels {
		require.InDelta(t, 1000, n, 160) // five standard deviations
	}
	for _, n := range labels {
		require.InDelta(t, 500, n, 97)
	}
}

func TestValidate(t *testing.T) {
	require.NoError(t, New().Validate())
	for _, change := range []func(o *FakeImage){
		func(o *FakeImage) { o.Images = 0 }, func(o *FakeImage) { o.Height = 0 }, func(o *FakeImage) { o.Width = -1 },
		func(o *FakeImage) { o.Height, o.Width = 1<<30, 1<<30 }, func(o *FakeImage) { o.Channels = 5 }, func(o *FakeImage) { o.Channels = 0 },
		func(o *FakeImage) { o.Classes = 0 },
	} {
		o := New()
		change(o)
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
	}
}

func TestCancel(t *testing.T) { sourcetest.Cancel(t, New()) }
