// Package pullpipe runs a dataset on the calling goroutine: each Next makes one
// sample or batch. It starts no goroutines and reads nothing before the first
// Next. In steady state it allocates nothing, unless the source does. Use it on
// edge devices, in tests, and in programs with their own goroutines.
//
// Package pipeline makes the same samples in the same order with parallel
// stages.
package pullpipe

import (
	"context"
	"io"
	"iter"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/engine"
)

// Pipe is a run; see dataset.Run for its methods. One goroutine uses it at a
// time, except Close, which waits until a running Next has returned its sample.
type Pipe struct{ *dataset.Run }

// New returns a run of b from a state, or from the start of epoch 0 if state is
// nil. The caller closes the run.
func New(b *dataset.Built, state *dataset.State) (*Pipe, error) {
	r, err := dataset.NewRun(b, state, engine.Config[*dataset.Sample]{Stage: engine.Inline[*dataset.Sample]})
	if err != nil {
		return nil, err
	}
	return &Pipe{r}, nil
}

// All returns the rest of the epoch. A sample is valid until the next one. An
// error comes with a nil sample, and is the last element.
func (p *Pipe) All(ctx context.Context) iter.Seq2[*dataset.Sample, error] {
	return func(yield func(*dataset.Sample, error) bool) {
		for {
			s, err := p.Next(ctx)
			if err == io.EOF || !yield(s, err) || err != nil {
				return
			}
		}
	}
}
