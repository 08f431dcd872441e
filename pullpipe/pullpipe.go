// Package pullpipe runs a dataset by pulling: Next makes one sample and returns.
// There are no goroutines, no queues, and nothing is read before the first Next;
// in steady state it allocates nothing, if the source does not. It is for edge
// devices, for tests, and for programs that have goroutines of their own.
//
// Package pipeline gives the same samples in the same order from parallel stages.
package pullpipe

import (
	"context"
	"io"
	"iter"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/engine"
)

// Pipe is a run. See dataset.Run for its methods; it is used by one goroutine at a time.
type Pipe struct{ *dataset.Run }

// New begins a run of b at the beginning of epoch 0, or where state says.
func New(b *dataset.Built, state *dataset.State) (*Pipe, error) {
	r, err := engine.NewRun[*dataset.Run](b, state, engine.Config[*dataset.Sample, *dataset.SampleError]{
		Stage: engine.Inline[*dataset.Sample, *dataset.SampleError],
	})
	if err != nil {
		return nil, err
	}
	return &Pipe{r}, nil
}

// All goes through the rest of the epoch. Samples are valid until the next one;
// an error is given with a nil sample, and is the last.
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
