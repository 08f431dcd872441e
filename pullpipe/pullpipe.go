// Package pullpipe runs a dataset on the calling goroutine: each Next makes one
// sample or batch. It starts no goroutines and reads nothing before the first
// Next. In steady state it allocates nothing, unless the source does. Use it on
// edge devices, in tests, and in programs with their own goroutines.
//
// Package pipeline makes the same samples in the same order with parallel
// stages.
package pullpipe

import (
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/engine"
)

// New returns a run of b from a state, or from the start of epoch 0 if state is
// nil. The caller closes the run. Close waits until a running Next has returned
// its sample.
func New(b *dataset.Built, state *dataset.State) (*dataset.Run, error) {
	return dataset.NewRun(b, state, engine.Config[*dataset.Sample]{Stage: engine.Inline[*dataset.Sample]})
}
