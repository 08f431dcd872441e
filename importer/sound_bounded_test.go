package importer_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestSoundsBounded compares the graphs of feature extractors that compute with
// torch, whose bits depend on the processor.
func TestSoundsBounded(t *testing.T) {
	golden.CheckBounded(t, "testdata/sounds_bounded.json", runSound(hf.ImportSamples), func(err error) bool {
		return errors.Is(err, transforms.ErrInput)
	})
}

// runSound returns a run that imports a configuration.
func runSound(load func([]byte) (*datagraph.Graph, error)) golden.Run {
	return func(_ *testing.T, config json.RawMessage, samples *tensor.Tensor) (names []string, out []*tensor.Tensor, err error) {
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
	}
}
