package datagraph_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// TestBands runs graphs after decode_native on images of 1 to 13 bands of
// uint16 and float32, and compares them with torchvision, OpenCV and Pillow. A
// graph that its reference refuses does not compile.
func TestBands(t *testing.T) {
	b, err := os.ReadFile("testdata/bands/cases.json")
	require.NoError(t, err)
	var g struct {
		Cases []struct {
			Name, File, Refused string
			Ops                 []struct {
				Op     string
				Params json.RawMessage
			}
			Out golden.Digest
		}
	}
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g.Cases)
	files := map[string][]byte{}
	refused := 0
	for _, c := range g.Cases {
		if files[c.File] == nil {
			files[c.File], err = os.ReadFile("testdata/bands/" + c.File)
			require.NoError(t, err)
		}
		var ops []x.Op
		for _, o := range c.Ops {
			op, err := x.UnmarshalParams(o.Op, 1, o.Params)
			require.NoError(t, err, c.Name)
			ops = append(ops, op)
		}
		p, err := datagraph.Compile(datagraph.New(ops...), datagraph.CompileOptions{})
		if c.Refused != "" {
			require.ErrorIs(t, err, x.ErrInput, "%s: the reference says: %s", c.Name, c.Refused)
			refused++
			continue
		}
		require.NoError(t, err, c.Name)
		out, err := p.NewRunner().Run(tensor.FromBytes(files[c.File]))
		require.NoError(t, err, c.Name)
		if diff := c.Out.Diff(out[0]); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
	// Of an image of unknown size it is not known whether area is possible.
	r := x.NewResize(12, 15)
	r.Interpolation, r.Backend = x.Area, x.OpenCV
	_, err = datagraph.Compile(datagraph.New(x.NewDecodeNative(tensor.Uint16, 13), r), datagraph.CompileOptions{})
	require.ErrorIs(t, err, x.ErrInput)
	require.ErrorContains(t, err, "want at most 4 channels, CHW, or a size that is a whole multiple of the result's")
	t.Logf("%d graphs, of which %d are refused", len(g.Cases), refused)
}
