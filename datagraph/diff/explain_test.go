package diff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestExplainEach: every change alone is explained by one change, and the graph
// itself by none, whatever form its arithmetic has.
func TestExplainEach(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", "jpeg_base_420.jpg"))
	require.NoError(t, err)
	image := tensor.FromBytes(file)
	mean, std := []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
	times := func(l []float64) []float64 {
		return combined(l, []float64{255}, func(x, y float64) float64 { return x * y })
	}
	form := func(ops ...transforms.Op) *datagraph.Graph {
		return datagraph.New(append([]transforms.Op{transforms.NewDecode(), transforms.NewResizeShortest(20), transforms.NewCenterCrop(16, 16)}, ops...)...)
	}
	for name, g := range map[string]*datagraph.Graph{
		"apart": form(transforms.NewToTensor(), transforms.NewNormalize(mean, std)),
		"fused": form(transforms.NewToType(tensor.Float32), transforms.NewNormalize(times(mean), times(std)), transforms.NewHWC2CHW()),
	} {
		t.Run(name, func(t *testing.T) {
			e := newExplainer(t.Context(), g, "image", image, nil, &Options{Limits: codec.DefaultLimits()})
			e.target = target{h: 16, w: 16, c: 3}
			own, ok := e.run(nil)
			require.True(t, ok)
			l := append([]Change{{}}, allChanges()...)
			for i := 0; i < len(l); i += short.Step(t, 8) {
				var set []Change
				if i > 0 {
					set = l[i : i+1]
				}
				x, ok := e.run(set)
				if !ok || l[i].undo != nil {
					continue
				}
				r, err := Explain(t.Context(), g, "image", image, x, Options{Limits: codec.DefaultLimits()})
				require.NoError(t, err)
				best := r.Explanations[0]
				require.True(t, best.explained(), l[i].Name)
				if Compare(own, x, 0).Equal { // for example the EXIF orientation of a file without one
					require.Empty(t, best.Changes, l[i].Name)
					continue
				}
				require.LessOrEqual(t, len(best.Changes), 1, l[i].Name)
				if len(best.Changes) == 1 {
					require.Contains(t, append(best.Also[0], best.Changes[0].Name), l[i].Name)
				}
			}
		})
	}
}
