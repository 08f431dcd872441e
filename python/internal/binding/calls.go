package binding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// The kinds of a Call, which infer_prep/_functions.py has, too.
const (
	callSample     = iota // values of a map, filter or batch, or a row of a sequence
	callStart             // a generator's epoch begins: Reader is its new number
	callNext              // the next sample of Reader
	callStop              // Reader is not used any more
	callEpochBegin        // of a callback
	callEpochEnd
	callStepBegin
	callStepEnd
)

// Call is a call of a Python function, which a thread of Python takes with
// NextCall and ends with Return.
type Call struct {
	ID       int64
	Function int // its place in Options.Functions
	Kind     int
	Key      string
	Epoch    uint64
	Ordinal  uint64 // of the sample, the row of a sequence, or the step of a callback
	Seed     uint64 // random, of this sample and node
	Reader   int64  // of a generator; the number of an answer, 0 for none, of a callback
	Samples  int    // of a batch; Tensors has their values column by column
	Tensors  *Tensors
	// More asks for another thread, since no thread waits for calls.
	More bool

	mu        sync.Mutex
	abandoned bool
	fill      func(ok bool, values []tensor.Tensor) error // takes what the function returned
	done      chan error
}

// RaisedError reports an exception of a Python function. Python keeps the
// exception itself under the number of the call.
type RaisedError struct {
	Call int64
	Text string
}

func (e *RaisedError) Error() string { return e.Text }

// calls passes calls from the goroutines of a run to threads of Python. The
// thread that began to wait last gets the next call, so that few threads work
// where few are needed.
type calls struct {
	mu      sync.Mutex
	last    int64
	closed  bool
	starts  bool // a thread that was asked for has not come yet
	idle    []chan *Call
	queue   []*Call
	running map[int64]*Call
	end     chan struct{} // closed by close
}

func newCalls() *calls {
	return &calls{starts: true, running: map[int64]*Call{}, end: make(chan struct{})}
}

// submit hands a call to a thread. It returns false if the pipeline is closed.
func (q *calls) submit(c *Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.last++
	c.ID, c.done = q.last, make(chan error, 1)
	q.running[c.ID] = c
	if n := len(q.idle); n > 0 {
		w := q.idle[n-1]
		q.idle = q.idle[:n-1]
		q.asks(c)
		w <- c
	} else {
		q.queue = append(q.queue, c)
	}
	return true
}

// do runs a call and waits for its end, or the end of ctx or the pipeline.
func (q *calls) do(ctx context.Context, c *Call) error {
	if !q.submit(c) {
		return fmt.Errorf("infer_prep: pipeline %w", errClosed)
	}
	var err error
	select {
	case err = <-c.done:
		return err
	case <-ctx.Done():
		err = ctx.Err()
	case <-q.end:
		err = fmt.Errorf("infer_prep: pipeline %w", errClosed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned = true // its values are not ours any more
	return err
}

// asks makes a call ask for another thread if none waits or starts.
func (q *calls) asks(c *Call) {
	c.More = len(q.idle) == 0 && !q.starts
	q.starts = q.starts || c.More
}

// next waits for a call; nil after close. first says that the thread is new.
func (q *calls) next(first bool) *Call {
	q.mu.Lock()
	if first {
		q.starts = false
	}
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	if len(q.queue) > 0 {
		c := q.queue[0]
		q.queue = q.queue[1:]
		q.asks(c)
		q.mu.Unlock()
		return c
	}
	w := make(chan *Call, 1)
	q.idle = append(q.idle, w)
	q.mu.Unlock()
	return <-w
}

// finish ends a call with the values of the function, or with err. ok is what
// a predicate returned, and whether a generator has a sample.
func (q *calls) finish(id int64, ok bool, values []tensor.Tensor, err error) {
	q.mu.Lock()
	c := q.running[id]
	delete(q.running, id)
	q.mu.Unlock()
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abandoned {
		return
	}
	if err == nil && c.fill != nil {
		err = c.fill(ok, values)
	}
	c.done <- err
}

func (q *calls) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	close(q.end)
	for _, w := range q.idle {
		w <- nil
	}
	q.idle, q.queue = nil, nil
}

// NextCall waits for a call of a Python function. It returns nil once the
// pipeline is closed. first says that it is the thread's first call: threads
// are the one that OpenPipeline's caller starts, and those that Call.More asks
// for.
func (p *Pipeline) NextCall(first bool) *Call { return p.calls.next(first) }

// Return ends a call with the values that the function returned, which may
// change afterwards.
func (p *Pipeline) Return(id int64, ok bool, values []tensor.Tensor) {
	p.calls.finish(id, ok, values, nil)
}

// Raise ends a call with an exception. text says which.
func (p *Pipeline) Raise(id int64, text string) {
	p.calls.finish(id, false, nil, &RaisedError{id, text})
}

// function is a function of Python in a definition.
type function struct {
	*calls
	*Function
	place int
	name  string // for people
}

// new returns a call of the function for a sample, with copies of src, which
// Python may keep.
func (f *function) new(c *dataset.Call, src []*tensor.Tensor) *Call {
	t := &Tensors{list: make([]tensor.Tensor, len(src))}
	for i, x := range src {
		t.list[i] = *x.Clone()
	}
	return &Call{Function: f.place, Kind: callSample, Tensors: t, Key: c.Key, Epoch: c.Epoch, Ordinal: c.Ordinal, Seed: c.Uint64()}
}

// count returns an error unless the function returned n values.
func (f *function) count(values []tensor.Tensor, n int) error {
	if len(values) != n {
		return fmt.Errorf("%w: %s returned %d values, want %d", dataset.ErrData, f.name, len(values), n)
	}
	return nil
}

// set makes v a copy of t.
func set(v *dataset.Value, t *tensor.Tensor) error {
	if t.DType == tensor.Bytes {
		copy(v.Bytes(len(t.Data)), t.Data)
		return nil
	}
	if err := v.Reset(t.Desc); err != nil {
		return err
	}
	return t.CopyTo(&v.Tensor)
}

// setAs makes v a copy of t with the layout of a column, of which NumPy knows
// nothing.
func (f *function) setAs(v *dataset.Value, t *tensor.Tensor, c dataset.OutColumn) error {
	x := *t
	x.Layout = c.Layout
	if !c.Desc.Matches(x.Desc) {
		return fmt.Errorf("%w: column %q: %s returned %v, want %v", dataset.ErrData, c.Name, f.name, x.Desc, c.Desc)
	}
	return set(v, &x)
}

func (f *function) mapper(out []dataset.OutColumn) dataset.MapFunc {
	return func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		call := f.new(c, src)
		call.fill = func(_ bool, values []tensor.Tensor) error {
			if err := f.count(values, len(out)); err != nil {
				return err
			}
			for i := range values {
				if err := f.setAs(dst[i], &values[i], out[i]); err != nil {
					return err
				}
			}
			return nil
		}
		return f.do(context.Background(), call)
	}
}

func (f *function) predicate(c *dataset.Call, src []*tensor.Tensor) (keep bool, err error) {
	call := f.new(c, src)
	call.fill = func(ok bool, _ []tensor.Tensor) error {
		keep = ok
		return nil
	}
	err = f.do(context.Background(), call)
	return keep && err == nil, err
}

// batch returns the function of a batch. It gets the columns in, and makes the
// columns out, or the columns in if there are none.
func (f *function) batch(in []string, out []dataset.OutColumn) dataset.BatchFunc {
	return func(c *dataset.Call, samples []*dataset.Sample) error {
		var src []*tensor.Tensor
		for _, name := range in {
			for _, s := range samples {
				v := s.Column(name)
				if v == nil {
					return fmt.Errorf("%w: unknown column %q", dataset.ErrParam, name)
				}
				src = append(src, &v.Tensor)
			}
		}
		call := f.new(c, src)
		call.Samples = len(samples)
		call.fill = func(_ bool, values []tensor.Tensor) error {
			columns := len(out)
			if columns == 0 {
				columns = len(in)
			}
			if err := f.count(values, columns*len(samples)); err != nil {
				return err
			}
			for k, s := range samples {
				if len(out) == 0 {
					for i, name := range in {
						v, x := s.Column(name), &values[i*len(samples)+k]
						if x.DType != v.DType || x.Shape.Rank() != v.Shape.Rank() {
							return fmt.Errorf("%w: column %q: %s returned %v, want its dtype and axes (%v): outputs= allows others", dataset.ErrData, name, f.name, x.Desc, v.Desc)
						}
						x.Layout = v.Layout
						if err := set(v, x); err != nil {
							return err
						}
					}
					continue
				}
				s.Resize(len(out))
				for i := range out {
					if err := f.setAs(&s.Values[i], &values[i*len(samples)+k], out[i]); err != nil {
						return err
					}
				}
			}
			return nil
		}
		return f.do(context.Background(), call)
	}
}

// start begins an epoch of a generator.
func (f *function) start(ctx context.Context, epoch uint64) (dataset.Reader, error) {
	r := &reader{f: f}
	f.mu.Lock()
	f.last++
	r.number = f.last
	f.mu.Unlock()
	if err := f.do(ctx, &Call{Function: f.place, Kind: callStart, Epoch: epoch, Reader: r.number}); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// reader reads an epoch of a generator of Python.
type reader struct {
	f      *function
	number int64
	row    int64
}

func (r *reader) Next(ctx context.Context, s *dataset.Sample) error {
	err := r.f.do(ctx, &Call{Function: r.f.place, Kind: callNext, Reader: r.number, fill: func(ok bool, values []tensor.Tensor) error {
		if !ok {
			return io.EOF
		}
		return r.f.sample(s, r.row, values, r.f.Columns)
	}})
	if ctx.Err() == nil {
		r.row++
	}
	return err
}

// Close does not wait for the end of the generator.
func (r *reader) Close() error {
	r.f.submit(&Call{Function: r.f.place, Kind: callStop, Reader: r.number})
	return nil
}

// sample fills s with a row of a source.
func (f *function) sample(s *dataset.Sample, row int64, values []tensor.Tensor, columns []dataset.OutColumn) error {
	s.Key = fmt.Sprintf("%s:%d", f.name, row)
	if err := f.count(values, len(columns)); err != nil {
		return err
	}
	for i := range values {
		if err := f.setAs(&s.Values[i], &values[i], columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// callback returns the functions of a Watch.
func (f *function) callback(every int64, answers *dataset.Answers) dataset.Callback {
	c := dataset.Callback{Every: every, Answers: answers}
	call := func(kind int) func(context.Context, dataset.Progress) error {
		return func(ctx context.Context, at dataset.Progress) error {
			n, _ := at.Answer.(int64)
			return f.do(ctx, &Call{Function: f.place, Kind: kind, Epoch: at.Epoch, Ordinal: uint64(at.Step), Reader: n})
		}
	}
	for _, m := range f.Methods {
		switch m {
		case "epoch_begin":
			c.EpochBegin = call(callEpochBegin)
		case "epoch_end":
			c.EpochEnd = call(callEpochEnd)
		case "step_begin":
			c.StepBegin = call(callStepBegin)
		case "step_end":
			c.StepEnd = call(callStepEnd)
		}
	}
	return c
}
