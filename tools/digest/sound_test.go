package digest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/sound"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// sounds returns a digest of the decoded sounds of all formats, and of the
// features of one sound by every setting of the importers' goldens and by ops
// that none of them has.
func sounds(t *testing.T) []byte {
	h := sha256.New()
	files, err := filepath.Glob("../../sound/*/testdata/cases.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		var cases []struct {
			Name string
			File []byte
		}
		readJSON(t, f, &cases)
		for _, c := range cases {
			out, header, err := sound.Decode(c.File, codec.DefaultLimits())
			if err != nil {
				fmt.Fprintf(h, "%s: %v\n", c.Name, err) // errors must be the same too
				continue
			}
			fmt.Fprintf(h, "%s: %+v\n", c.Name, header)
			oneNaN(out)
			writeSum(t, h, out)
		}
	}

	var settings struct {
		Cases []struct{ Config json.RawMessage }
	}
	readJSON(t, "../../importer/testdata/sounds.json", &settings)
	require.NotEmpty(t, settings.Cases)
	var graphs []*datagraph.Graph
	for _, c := range settings.Cases {
		g, err := hf.ImportSamples(c.Config)
		require.NoError(t, err, "%s", c.Config)
		graphs = append(graphs, g)
	}
	samples := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown)}
	for _, op := range []x.Op{x.NewResampleSinc(44100, 16000), x.NewResamplePoly(160, 441), x.NewFbank(80)} {
		g := datagraph.New(op)
		g.Inputs = []datagraph.Column{{Name: datagraph.Sound, Desc: samples}}
		graphs = append(graphs, g)
	}
	kinds := []string{"speech", "noise", "sweep"}
	for i, g := range graphs {
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err, i)
		in, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(24000)})
		require.NoError(t, err)
		copy(tensor.View[float32](in), golden.Sound(kinds[i%len(kinds)], 24000))
		out, err := plan.NewRunner().Run(in)
		require.NoError(t, err, i)
		for _, o := range out {
			fmt.Fprintf(h, "%d: %v\n", i, o.Desc)
			oneNaN(o)
			writeSum(t, h, o)
		}
	}
	return h.Sum(nil)
}

func readJSON(t *testing.T, name string, to any) {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, to), name)
}

// oneNaN gives every NaN the same bits: those of a computed NaN are the
// platform's.
func oneNaN(o *tensor.Tensor) {
	if o.DType != tensor.Float32 {
		return
	}
	v := tensor.View[float32](o)
	for i, f := range v {
		if f != f {
			v[i] = 0
		}
	}
}
