package datagraph_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// presetPlan compiles a preset.
func presetPlan(tb testing.TB, name string, off ...datagraph.Pass) *datagraph.Plan {
	g, err := preset.Graph(name)
	require.NoError(tb, err)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{Disable: off})
	require.NoError(tb, err)
	return p
}

// testImage reads a test image. jpeg_large.jpg has 420x310 pixels.
func testImage(tb testing.TB, name string) *tensor.Tensor {
	b, err := os.ReadFile("../testdata/images/" + name)
	require.NoError(tb, err)
	return tensor.FromBytes(b)
}

// TestPlanRunAllocatesNothing runs every preset on images of alternating sizes,
// with and without passes.
func TestPlanRunAllocatesNothing(t *testing.T) {
	in := []*tensor.Tensor{
		testImage(t, "jpeg_large.jpg"), testImage(t, "jpeg_base_420.jpg"), testImage(t, "jpeg_exif_mm_6.jpg"),
		testImage(t, "jpeg_exif_mm_3.jpg"), testImage(t, "jpeg_exif_ii_6.jpg"),
	}
	step := short.Step(t, 5)
	for i, name := range preset.Names() {
		if i%step != 0 {
			continue
		}
		p := presetPlan(t, name)
		for _, p := range []*datagraph.Plan{p, p.Unfused()} {
			r := p.NewRunner()
			all := func() {
				for _, x := range in {
					if _, err := r.Run(x); err != nil {
						t.Fatal(err)
					}
				}
			}
			all()
			require.Zero(t, testing.AllocsPerRun(3, all), name)
		}
	}
}

func BenchmarkPlanRun(b *testing.B) {
	for _, name := range preset.Names() {
		for _, off := range [][]datagraph.Pass{nil, datagraph.Passes()} {
			label := name
			if off != nil {
				label += "/unfused"
			}
			benchmarkRun(b, label, presetPlan(b, name, off...))
		}
	}
}

func benchmarkRun(b *testing.B, label string, p *datagraph.Plan) {
	b.Run(label, func(b *testing.B) {
		r, in := p.NewRunner(), testImage(b, "jpeg_large.jpg")
		b.SetBytes(int64(len(in.Data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Run(in); err != nil {
				b.Fatal(err)
			}
		}
	})
}
