package pipeline

import (
	"context"
	"iter"

	"github.com/infer-prep/infer-prep/dataset"
)

// All returns the samples of epoch 0 of b. It opens a Pipeline when the loop
// begins, and closes it when the loop ends. A sample is valid until the next
// one. An error comes with a nil sample, and is the last element. For later
// epochs and for states use [New].
func All(ctx context.Context, b *dataset.Built, o Options) iter.Seq2[*dataset.Sample, error] {
	return func(yield func(*dataset.Sample, error) bool) {
		p, err := New(b, o, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer p.Close()
		for s, err := range p.All(ctx) {
			if !yield(s, err) || err != nil {
				return
			}
		}
		if err := p.Close(); err != nil {
			yield(nil, err)
		}
	}
}
