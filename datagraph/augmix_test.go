package datagraph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestPoliciesRun runs the policies in a graph, together with ops that are
// fused. A run in steady state allocates nothing, and a sample has the same
// bytes whatever ran before it.
func TestPoliciesRun(test *testing.T) {
	for _, op := range []t.Op{t.NewAugMix(), t.NewAutoAugment(t.PolicyImageNet), t.NewRandAugment(2, 9), t.NewTrivialAugmentWide()} {
		g := datagraph.New(t.NewRandomHorizontalFlip(), op, t.NewToTensor())
		g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 24, 32, 3)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(test, err)
		x := zeros(g.Inputs[0].Desc)
		for i := range x.Data {
			x.Data[i] = byte(i * i >> 3)
		}
		r := p.NewRunner()
		run := func(r *datagraph.Runner, i uint64) []byte {
			r.At = rng.Point{Seed: 3, Ordinal: i}
			out, err := r.Run(x)
			require.NoError(test, err)
			return out[0].Data
		}
		const n = 60
		for i := range uint64(n) {
			want := append([]byte(nil), run(p.NewRunner(), i)...)
			require.Equal(test, want, run(r, i))
		}
		if short.Race { // AugMix's pool then drops some of its buffers
			continue
		}
		i := uint64(0)
		require.Zero(test, testing.AllocsPerRun(n, func() {
			run(r, i%n)
			i++
		}), t.InfoOf(op).Name)
	}
}
