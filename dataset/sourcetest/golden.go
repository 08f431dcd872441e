package sourcetest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/golden"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/store"
)

// Golden compares sources with the output of a reference reader for the same
// files. The JSON file has the format of testdata/gen/datasets/shared.py. It
// requires equal numbers and order of rows, and equal types, shapes and values
// of the reference's columns. A reference's uint32 and int64 are int32 here,
// and a Python integer has no type. Golden also calls Run and Spec for each
// case. It returns the number of rows compared.
func Golden(t *testing.T, name string) (compared int) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var f struct {
		Reference string
		Cases     []struct {
			Source        string
			Params        json.RawMessage
			ClassIndexing map[string]int32 `json:"class_indexing"`
			Rows          []map[string]golden.Value
		}
	}
	require.NoError(t, json.Unmarshal(b, &f))
	require.NotEmpty(t, f.Cases)
	for _, c := range f.Cases {
		var short map[string]any
		require.NoError(t, json.Unmarshal(c.Params, &short))
		t.Run(fmt.Sprintf("%s %s %v%v %v", f.Reference, c.Source, short["name"], short["usage"], short["dir"]), func(t *testing.T) {
			var src dataset.Source
			for _, i := range dataset.Nodes() {
				if i.Name == c.Source {
					src = i.New().(dataset.Source)
				}
			}
			require.NotNil(t, src, "no source %q", c.Source)
			require.NoError(t, spec.Unmarshal(c.Params, src))
			Spec(t, src)
			Run(t, src)
			d, err := src.Open(t.Context(), store.Local)
			require.NoError(t, err)
			defer d.Close()
			if c.ClassIndexing != nil {
				require.Equal(t, c.ClassIndexing, d.(dataset.ClassIndexed).ClassIndex())
			}
			r := d.(dataset.Rows)
			require.EqualValues(t, len(c.Rows), r.Len(), "rows")
			index := map[string]int{}
			for i, k := range d.Columns() {
				index[k.Name] = i
			}
			s := dataset.NewSample(d.Columns())
			for i, want := range c.Rows {
				require.NoError(t, r.Read(t.Context(), int64(i), s), "row %d", i)
				require.NotEmpty(t, want)
				for k, v := range want {
					require.Contains(t, index, k, "row %d: column", i)
					require.NoError(t, v.Equal(&s.Values[index[k]].Tensor, narrower), "row %d (%s): column %s", i, s.Key, k)
				}
				compared++
			}
		})
	}
	return compared
}

// narrower lists types of the references with their narrower replacements here.
// A Python integer has no type.
var narrower = map[string][]string{"uint32": {"int32"}, "int64": {"int32"}, "int": {"int32"}}
