// Package engine runs the stages of a dataset: it is the contract between
// package dataset, which makes the iterators of a definition, and the engines
// that place their work, packages pullpipe and pipeline. No other package needs
// it.
//
// S is *dataset.Sample: this package lies below dataset.
package engine

import "context"

// Iterator returns samples one after another. One goroutine uses it at a time.
type Iterator[S any] interface {
	// Next fills s with the next sample, or returns io.EOF. The sample may be a
	// dropped one, which an engine only passes on. The values are valid until s
	// is given to another Next; s may differ from call to call. An Iterator
	// returns no samples after an error.
	Next(ctx context.Context, s S) error
	// Save appends the state after the last sample of Next. After an error it
	// is the state before the failed sample. dataset.Run.State turns it into a
	// State.
	Save(words []int64) []int64
	// Close releases the iterator and waits for its goroutines. It may be
	// called twice.
	Close() error
}

// Worker works on one sample after another. One goroutine uses it.
type Worker[S any] interface {
	// Do changes s, or drops it. It returns a panic as an error, ignores a
	// dropped sample, and does not keep s.
	Do(ctx context.Context, s S) error
}

// Stage is work on the samples of an iterator.
type Stage[S any] struct {
	Path string // of the node
	In   Iterator[S]
	// New returns a Worker for one goroutine.
	New func() (Worker[S], error)
	// Failed decides about a sample on which Do failed: it drops the sample and
	// returns nil, or returns the error that ends the run. The goroutine that
	// calls Next calls it, in the order of the samples.
	Failed func(s S, err error) error
	// Drain takes the errors of samples that In dropped. It returns a function
	// that reports them, nil if there are none. Call Drain after In.Next, on
	// the same goroutine. Call its result when the sample or error of In goes
	// up, on the goroutine that calls Next. So every engine reports dropped
	// samples in the same order.
	Drain func() (report func())
	// Dropped reports whether s is a dropped sample, for an engine's own
	// workers.
	Dropped func(s S) bool
	// Stateless reports that In.Save appends nothing.
	Stateless bool
	// Bytes is the size of a sample that Do makes, 0 if it is not known.
	Bytes int64
}

// Config is an engine's part of a run; see dataset.NewRun.
type Config[S any] struct {
	// Stage makes the iterator of a stage: Inline, or one with goroutines.
	Stage func(Stage[S]) (Iterator[S], error)
	// Top makes an iterator above all others, from a Stage with In, Drain and
	// Dropped alone. Optional.
	Top func(Stage[S]) (Iterator[S], error)
	// Bytes is the largest batch, and the most that a node may hold of the
	// samples of unfinished batches. 0 means no limit.
	Bytes int64
}

// Inline returns an iterator that works in Next, without goroutines.
func Inline[S any](st Stage[S]) (Iterator[S], error) {
	w, err := st.New()
	if err != nil {
		return nil, err
	}
	return &inline[S]{Stage: st, w: w}, nil
}

type inline[S any] struct {
	Stage[S]
	w      Worker[S]
	before []int64 // the state before the last sample
	failed bool    // the work failed and ended the run
}

func (i *inline[S]) Next(ctx context.Context, s S) error {
	if !i.Stateless {
		i.before = i.In.Save(i.before[:0])
	}
	err := i.In.Next(ctx, s)
	if report := i.Drain(); report != nil {
		report()
	}
	if err != nil {
		return err
	}
	if err := i.w.Do(ctx, s); err != nil {
		if ended := ctx.Err(); ended != nil { // the sample is not bad: its work was interrupted
			i.failed = true
			return ended
		}
		err := i.Failed(s, err)
		i.failed = err != nil
		return err
	}
	return nil
}

func (i *inline[S]) Save(w []int64) []int64 {
	if i.failed {
		return append(w, i.before...)
	}
	return i.In.Save(w)
}

func (i *inline[S]) Close() error { return i.In.Close() }
