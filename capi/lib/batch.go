//go:build cgo || wasip1

package main

import (
	"fmt"

	"github.com/infer-prep/infer-prep/tensor"
)

// maxResults is the most results of a batch.
const maxResults = 1 << 24

// join returns the batch of the outputs of n runs of a graph, which outputs
// returns.
func (g *graph) join(n uint64, outputs func(i int) ([]*tensor.Tensor, error)) ([]*tensor.Tensor, error) {
	if n > maxResults {
		return nil, fmt.Errorf("infer_prep: collate: %w: %d results, want at most %d", errInput, n, maxResults)
	}
	samples := make([][]*tensor.Tensor, n)
	for i := range samples {
		var err error
		if samples[i], err = outputs(i); err != nil {
			return nil, fmt.Errorf("infer_prep: collate: result %d: %w", i, err)
		}
	}
	return g.pool.Plan().Collate(samples)
}
