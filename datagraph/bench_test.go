package datagraph_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/preset"
	"github.com/infer-prep/infer-prep/tensor"
)

// presetRunner makes the Runner of a preset and reads a JPEG of 420x310 pixels
// for it.
func presetRunner(tb testing.TB, name string) (*datagraph.Runner, *tensor.Tensor) {
	g, err := preset.Graph(name)
	require.NoError(tb, err)
	p, err := datagraph.Compile(g, codec.DefaultLimits())
	require.NoError(tb, err)
	b, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	require.NoError(tb, err)
	return p.NewRunner(), tensor.FromBytes(b)
}

func TestPlanRunAllocatesNothing(t *testing.T) {
	for _, name := range preset.Names() {
		r, in := presetRunner(t, name)
		_, err := r.Run(in)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(3, func() { _, err = r.Run(in) }), name)
		require.NoError(t, err)
	}
}

func BenchmarkPlanRun(b *testing.B) {
	for _, name := range preset.Names() {
		b.Run(name, func(b *testing.B) {
			r, in := presetRunner(b, name)
			b.SetBytes(int64(len(in.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Run(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
