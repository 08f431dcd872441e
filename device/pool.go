package device

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// ErrClosed reports a Pool that is closed.
var ErrClosed = errors.New("the pool of sessions is closed")

// Pool runs a plan, and the model of its options, on as many sessions as run at
// once. It is safe for concurrent use. Close it before its device.
type Pool struct {
	device    Device
	plan      *datagraph.Plan
	o         Options
	placement Placement
	outputs   []datagraph.Column

	mu      sync.Mutex
	idle    []Session // the last one ran last
	running int
	closed  bool
	ended   sync.Cond // a run has ended
}

// NewPool opens n sessions, at least one, so that errors show at once and the
// first n runs wait for no model to load. Further ones are opened when they are
// needed; none is closed before the Pool, except by a panic.
func NewPool(d Device, p *datagraph.Plan, o Options, n int) (*Pool, error) {
	q := &Pool{device: d, plan: p, o: o, outputs: p.Outputs()}
	q.ended.L = &q.mu
	for range max(n, 1) {
		s, err := d.Open(p, o)
		if err != nil {
			return nil, errors.Join(err, q.Close())
		}
		q.idle = append(q.idle, s)
	}
	q.placement = q.idle[0].Placement()
	if o.Model != nil {
		q.outputs = nil
		if m, ok := q.idle[0].(interface{ ModelOutputs() []datagraph.Column }); ok {
			q.outputs = m.ModelOutputs()
		}
	}
	return q, nil
}

// Placement returns the place of every step.
func (q *Pool) Placement() Placement { return slices.Clone(q.placement) }

// Outputs describes what Run computes: the model's outputs, or without a model
// the plan's outputs and side outputs.
func (q *Pool) Outputs() []datagraph.Column { return slices.Clone(q.outputs) }

// Run runs the plan, and the model if there is one, and calls use with the
// outputs, which are valid until use returns. A session that panics is closed
// and not used again.
func (q *Pool) Run(ctx context.Context, inputs []*tensor.Tensor, use func(outputs []*tensor.Tensor) error) error {
	s, err := q.take()
	if err != nil {
		return err
	}
	sound := false
	defer func() { q.give(s, sound) }()
	outputs, err := q.run(ctx, s, inputs)
	if err == nil {
		err = use(outputs)
	}
	sound = true
	return err
}

func (q *Pool) run(ctx context.Context, s Session, inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if q.o.Model == nil {
		return s.Preprocess(ctx, inputs...)
	}
	named, err := s.Infer(ctx, inputs...)
	if err != nil {
		return nil, err
	}
	outputs := make([]*tensor.Tensor, len(named))
	for i, n := range named {
		outputs[i] = n.T
	}
	return outputs, nil
}

// take returns an idle session, or a new one.
func (q *Pool) take() (s Session, err error) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil, ErrClosed
	}
	q.running++
	if n := len(q.idle); n > 0 {
		s = q.idle[n-1]
		q.idle = q.idle[:n-1]
	}
	q.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if s, err = q.device.Open(q.plan, q.o); err != nil {
		q.give(nil, false)
	}
	return s, err
}

// give ends a run. It closes the session if it is not sound.
func (q *Pool) give(s Session, sound bool) {
	if s != nil && !sound {
		_ = s.Close() // the panic matters more
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if sound {
		q.idle = append(q.idle, s)
	}
	q.running--
	q.ended.Broadcast()
}

// Close waits for the runs in progress and closes the sessions. Later runs fail
// with ErrClosed.
func (q *Pool) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for q.running > 0 {
		q.ended.Wait()
	}
	var errs []error
	for _, s := range q.idle {
		errs = append(errs, s.Close())
	}
	q.idle = nil
	return errors.Join(errs...)
}
