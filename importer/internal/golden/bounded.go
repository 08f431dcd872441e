package golden

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Bounded compares the graphs that load imports, whose input is the samples of
// a sound, with a file of testdata/gen/common/bounded.py.
func Bounded(t *testing.T, file string, load func([]byte) (*datagraph.Graph, error)) {
	golden.CheckBounded(t, file, func(_ *testing.T, config json.RawMessage, samples *tensor.Tensor) (names []string, out []*tensor.Tensor, err error) {
		g, err := load(config)
		if err != nil {
			return nil, nil, err
		}
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		if err != nil {
			return nil, nil, err
		}
		if out, err = p.NewRunner().Run(samples); err != nil {
			return nil, nil, err
		}
		for _, c := range p.Outputs() {
			names = append(names, c.Name)
		}
		return names, out, nil
	}, func(err error) bool { return errors.Is(err, transforms.ErrInput) })
}
