package importer_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestValues: the outputs that datagraph.Plan.Values gives for a size are those
// of a run. Few grids and sizes are not among them.
func TestValues(t *testing.T) {
	files, err := filepath.Glob("../testdata/configs/hf/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	equal, absent := 0, map[string]bool{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, backend := range []string{"hf", "hf-pil"} {
			g, err := importAs(t, backend, b)
			if err != nil {
				continue // TestImport and others test what is refused
			}
			plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
			require.NoError(t, err)
			r := plan.NewRunner()
			columns := plan.Outputs()
			pixels := !slices.ContainsFunc(columns, func(c datagraph.Column) bool { return c.Desc.DType != tensor.Float32 })
			for _, size := range []image.Point{{90, 60}, {300, 451}, {37, 23}} {
				known, knownErr := plan.Values(size.Y, size.X)
				if pixels && knownErr == nil && !slices.ContainsFunc(known, func(x *tensor.Tensor) bool { return x != nil }) {
					continue // nothing to compare
				}
				var file bytes.Buffer
				require.NoError(t, png.Encode(&file, image.NewRGBA(image.Rectangle{Max: size})))
				out, err := r.Run(tensor.FromBytes(file.Bytes()))
				if err != nil {
					continue
				}
				require.NoError(t, knownErr)
				require.Len(t, known, len(columns))
				for i, x := range out {
					switch {
					case known[i] != nil:
						require.Equal(t, x.Desc, known[i].Desc, "%s %s", backend, columns[i].Name)
						require.Equal(t, x.Data, known[i].Data, "%s %s", backend, columns[i].Name)
						equal++
					case x.Len() <= 8 && x.DType != tensor.Float32:
						absent[filepath.Base(name)+" "+columns[i].Name] = true
					}
				}
			}
		}
	}
	t.Logf("%d equal; absent: %v", equal, absent)
	require.Greater(t, equal, 300)
	require.LessOrEqual(t, len(absent), 10)
}
