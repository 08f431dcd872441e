package dataset

import (
	"context"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/store"
)

// Sink is a Node with one input that stores the samples that pass it. Package
// dataset/save has one.
//
// The samples of epoch 0 are stored, in their order, as they pass. They are
// complete when the epoch ends at this node; if the run ends before, they are
// discarded. A state within epoch 0 cannot be resumed. Several ranks are
// refused.
type Sink interface {
	Node
	// ValidateColumns returns an error if samples with these columns cannot be
	// stored.
	ValidateColumns(ctx context.Context, files store.Opener, columns []Column) error
	// Create begins to store an epoch. Its ctx does not end, and the
	// SinkWriter may keep it.
	Create(ctx context.Context, files store.Opener, columns []Column) (SinkWriter, error)
}

// SinkWriter stores the samples of an epoch. One goroutine uses it.
type SinkWriter interface {
	// Write stores a sample. It must not keep or change it.
	Write(s *Sample) error
	// Close completes what was stored.
	Close() error
	// Abort discards it. After Close it does nothing.
	Abort() error
}

// sinkOp is the op of a Sink.
type sinkOp struct{ Sink }

func (n *sinkOp) traits() traits { return traits{} }

func (n *sinkOp) build(b *Built, s *step) error {
	in := s.in[0]
	if b.options.World > 1 {
		return defErr("several ranks would save parts of the samples: want Options.World 1, not %d", b.options.World)
	}
	s.columns = in.columns
	return guard(func() error { return n.ValidateColumns(b.building, b.options.Store, in.columns) })
}

func (n *sinkOp) length(b *Built, s *step) int64 { return b.lenOf(s.in[0]) }

func (n *sinkOp) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	k := &sinkIterator{n: n, s: s, files: o.b.options.Store, done: epoch > 0}
	if o.state != nil {
		k.given = o.state.upTo(maxPlace, "the number of samples saved")
		if k.given > 0 && !k.done {
			o.state.fail("%s has saved %d samples of epoch 0, which were discarded: start the epoch anew", s.path, k.given)
		}
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	var err error
	k.in, err = o.open(s.in[0], epoch)
	return k, err
}

func (n *sinkOp) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *sinkOp) merge(m *merger, s *step, epoch uint64) error {
	m.largest()
	return m.inputs(s, epoch)
}

type sinkIterator struct {
	in     iterator
	n      *sinkOp
	s      *step
	files  store.Opener
	w      SinkWriter
	done   bool // nothing is stored any more
	given  int64
	before []int64 // the state before the last sample
	failed bool    // which could not be stored
}

func (k *sinkIterator) Next(ctx context.Context, s *Sample) error {
	if !k.done && k.w == nil {
		err := guard(func() (err error) {
			k.w, err = k.n.Create(context.WithoutCancel(ctx), k.files, k.s.columns)
			return err
		})
		if err != nil {
			return &NodeError{k.s.path, err}
		}
	}
	if !k.done {
		k.before = k.Save(k.before[:0])
	}
	err := pull(ctx, k.in, s)
	switch {
	case err == io.EOF && !k.done:
		if err := k.finish(SinkWriter.Close); err != nil {
			return &NodeError{k.s.path, err}
		}
		return io.EOF
	case err != nil:
		return err
	}
	if k.w != nil {
		s.columns = k.s.columns
		if err := guard(func() error { return k.w.Write(s) }); err != nil {
			k.failed = true
			return &SampleError{Path: k.s.path, Key: s.Key, Epoch: s.Epoch, Ordinal: s.Ordinal, Err: fmt.Errorf("save: %w", err)}
		}
	}
	k.given++
	return nil
}

// finish closes or aborts the writer.
func (k *sinkIterator) finish(how func(SinkWriter) error) error {
	w := k.w
	k.w, k.done = nil, true
	if w == nil {
		return nil
	}
	return guard(func() error { return how(w) })
}

func (k *sinkIterator) Save(w []int64) []int64 {
	if k.failed {
		return append(w, k.before...)
	}
	return k.in.Save(append(w, k.given))
}

func (k *sinkIterator) Close() error {
	err := k.in.Close()
	if e := k.finish(SinkWriter.Abort); err == nil {
		err = e
	}
	return err
}
