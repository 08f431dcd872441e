// Package golden reads the golden files of the importers' tests and compares
// graphs with them.
package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// File is the contents of an importer's testdata/goldens.json.
type File struct {
	Cases   []Case `json:"cases"`
	Refused []Case `json:"refused"` // by the reference, or by the importer for a reason in its package comment
}

// Case is an importer's input and the reference's results.
type Case struct {
	Name    string          `json:"name"`
	Config  json.RawMessage `json:"config"`
	File    string          `json:"file"`
	Steps   json.RawMessage `json:"steps"`
	Results []Result        `json:"results"`
}

// Result is the reference's result for one image.
type Result struct {
	Image   string                   `json:"image"` // relative to the module's root
	Outputs map[string]golden.Digest `json:"outputs"`
}

// Load reads testdata/goldens.json.
func Load(t testing.TB) File {
	b, err := os.ReadFile("testdata/goldens.json")
	require.NoError(t, err)
	var f File
	require.NoError(t, json.Unmarshal(b, &f))
	require.NotEmpty(t, f.Cases)
	return f
}

// Run compares every case, and checks that every refused one is an error. The
// tested package must be two folders below the module's root.
func Run(t *testing.T, input func(Case) []byte, load func([]byte) (*datagraph.Graph, error)) {
	f := Load(t)
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, input(c), load) })
	}
	for _, c := range f.Refused {
		_, err := load(input(c))
		require.Error(t, err, c.Name)
	}
}

func (c *Case) run(t *testing.T, in []byte, load func([]byte) (*datagraph.Graph, error)) {
	g, err := load(in)
	require.NoError(t, err)
	require.NotEmpty(t, g.Reference)
	j, err := json.Marshal(g)
	require.NoError(t, err)
	var back datagraph.Graph
	require.NoError(t, json.Unmarshal(j, &back))
	require.Equal(t, g, &back)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r := p.NewRunner()
	for _, res := range c.Results {
		b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(res.Image)))
		require.NoError(t, err)
		out, err := r.Run(tensor.FromBytes(b))
		require.NoError(t, err, "%s", res.Image)
		require.Len(t, out, len(res.Outputs))
		for i, col := range p.Outputs() {
			want, ok := res.Outputs[col.Name]
			require.True(t, ok, "%s: output %s", res.Image, col.Name)
			if diff := want.Diff(out[i]); diff != "" {
				t.Errorf("%s: %s", res.Image, diff)
			}
		}
	}
}
