package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// batch runs one plan over many inputs, with several workers.
type batch struct {
	app      *app
	plan     *datagraph.Plan
	pool     *datagraph.Pool // set by run
	limits   codec.Limits
	sink     sink
	files    *imageFiles // of sink, nil if it has others
	inputs   []input
	jobs     int
	held     *budget   // of the inputs that hold their bytes; set by run
	reads    *budget   // of the files that workers hold; set by run
	remote   bool      // inputs or outputs are in a store: more images wait than jobs run
	existing *existing // nil without --skip-existing
	// source makes the inputs. nil means those of inputs.
	source func(ctx context.Context) iter.Seq[*input]

	device *device.Pool // nil on the CPU without a model
	kept   kept
}

// outcome is the result of one input.
type outcome struct {
	in      *input
	left         // why it is no image, if it was found in a folder or by a glob
	existed bool // it had its outputs already
	dropped bool // in the last batch, which was not full
	err     error
	at      string // kindRead, kindWrite or kindInternal: where err is from, if known
	written
}

// ahead is the number of inputs for each worker that may be done before the
// first input that is not.
const ahead = 16

// remoteWorkers is the number of workers for each job if files are in a store,
// and leastRemoteWorkers the least number of workers. Most of them wait for
// answers: with 20 ms for each, 32 workers read 1600 files a second.
const remoteWorkers, leastRemoteWorkers = 8, 32

// run processes the inputs and calls emit with every outcome, in the order of
// the inputs and from one goroutine. When ctx ends it finishes the images that
// were begun, emits their outcomes and begins no others. An error of emit ends
// the run.
func (b *batch) run(ctx context.Context, emit func(outcome) error) error {
	b.pool = b.plan.NewPool(datagraph.PoolOptions{Jobs: b.jobs})
	b.held = newBudget(b.limits.Bytes)
	b.reads = newBudget(b.limits.Bytes)
	workers := make([]worker, b.jobs)
	if b.remote {
		workers = make([]worker, max(b.jobs*remoteWorkers, leastRemoteWorkers))
	}
	for i := range workers {
		workers[i] = worker{b: b}
	}
	b.kept.limit, b.kept.less = b.limits.Bytes, make(chan struct{}, 1)
	return ordered.Stream(ctx, ordered.Options{Workers: len(workers), Window: ahead * len(workers)}, b.items,
		func(ctx context.Context, w int, in *input) (outcome, error) { return workers[w].do(ctx, in), nil },
		func(_ *input, o outcome, _ error) error {
			b.kept.add(-o.size)
			return emit(o)
		})
}

// items makes the inputs in order. It opens containers and streams.
func (b *batch) items(ctx context.Context) iter.Seq[*input] {
	return func(put func(*input) bool) {
		yield := func(in *input) bool { return b.kept.wait(ctx) && put(in) }
		if b.source != nil {
			b.source(ctx)(yield)
			return
		}
		for i := range b.inputs {
			in := &b.inputs[i]
			more := false
			switch {
			case in.err != nil:
				more = yield(in)
			case in.pipe:
				in.reported = true // it cannot be read again
				more = b.stream(ctx, in, yield)
			case in.container != nil:
				more = b.container(ctx, in, *in.container, nil, yield)
				in.reported = more
			default:
				b.number(ctx, in)
				more = yield(in)
			}
			if !more {
				return
			}
		}
	}
}

// kept bounds the memory of tensors that wait for the outcomes before them. No
// input is begun while it is full: the inputs before it go on and empty it. It
// can exceed its limit by one image of each worker.
type kept struct {
	limit int64 // 0 means no limit
	bytes atomic.Int64
	less  chan struct{} // of capacity 1; holds a value after bytes shrank
}

// add adds n bytes, or removes them if n is negative.
func (k *kept) add(n int64) {
	if k.bytes.Add(n); n < 0 {
		select {
		case k.less <- struct{}{}:
		default:
		}
	}
}

// wait waits until there is room. It reports false once ctx has ended.
func (k *kept) wait(ctx context.Context) bool {
	for k.limit > 0 && k.bytes.Load() >= k.limit {
		select {
		case <-k.less:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// number numbers an image of a container, and one after it.
func (b *batch) number(ctx context.Context, in *input) {
	if b.files != nil {
		b.files.numberLate(ctx, in)
	}
}

// worker turns one image after another into tensors and reuses its memory.
type worker struct {
	b     *batch
	buf   []byte // of files
	data  []byte // of the image
	taken int64  // of the budget of reads
	image tensor.Tensor
	stamp made // of the image
}

// release gives back what an image took.
func (w *worker) release() {
	w.b.reads.give(w.taken)
	w.taken = 0
	if w.b.remote {
		w.buf = nil // many workers would each keep one
	}
}

func (w *worker) do(ctx context.Context, in *input) (o outcome) {
	defer in.free()
	defer w.release()
	o = outcome{in: in, err: in.err}
	if in.err != nil {
		o.at = kindRead
		return o
	}
	if in.skip != "" {
		o.left = left{in.skip, in.named}
		return o
	}
	defer func() {
		if p := recover(); p != nil { // a bug: the other images go on
			o.err, o.at = fmt.Errorf("internal error: %v", p), kindInternal
		}
		if o.err != nil {
			o.err = ofInput(in, o.at, o.err)
		}
	}()
	if o.existed, o.err = w.b.existing.before(ctx, in); o.existed || o.err != nil {
		o.at = kindWrite
		return o
	}
	w.stamp = w.b.existing.stamp(in)
	if o.left, o.err = w.read(ctx, in); o.why != "" || o.err != nil {
		o.at = kindRead
		return o
	}
	if o.existed, o.err = w.b.existing.after(in, &w.stamp, w.data); o.existed || o.err != nil {
		o.at = kindWrite
		return o
	}
	if o = w.compute(ctx, o); o.err != nil {
		return o
	}
	if o.upload != nil {
		o.err = o.upload(ctx)
		o.upload = nil
	}
	if o.err == nil {
		o.err = w.b.existing.done(in, w.stamp)
	}
	if o.err != nil {
		o.at = kindWrite
	}
	w.b.kept.add(o.size)
	return o
}

// compute runs the plan on the image and hands the outputs to the sink. An
// image that was begun is finished when ctx ends.
func (w *worker) compute(ctx context.Context, o outcome) outcome {
	w.image = *tensor.FromBytes(w.data)
	ctx = context.WithoutCancel(ctx)
	err := w.b.pool.Do(ctx, func(r *datagraph.Runner) error {
		if w.b.device == nil {
			out, err := r.Run(&w.image)
			if err != nil {
				return err
			}
			return w.write(&o, out)
		}
		if _, err := r.Admit(&w.image); err != nil {
			return err
		}
		return w.b.device.Run(ctx, []*tensor.Tensor{&w.image}, func(out []*tensor.Tensor) error { return w.write(&o, out) })
	})
	o.err = err
	return o
}

// write hands the outputs of a run to the sink.
func (w *worker) write(o *outcome, out []*tensor.Tensor) (err error) {
	if w.b.app.testDelay != nil {
		w.b.app.testDelay()
	}
	if o.written, err = w.b.sink.write(o.in.name, out); err != nil {
		o.at = kindWrite
	}
	return err
}

// left says why a file is left out; why is "" if it is not.
type left struct {
	why   string
	named bool // a user could expect it to be an image
}

// read reads an input, unless it holds its bytes. It checks the first bytes of
// an input that the user did not name, and leaves it out if they are not an
// image's.
func (w *worker) read(ctx context.Context, in *input) (l left, err error) {
	if in.skip != "" {
		return left{in.skip, in.named}, nil
	}
	if in.held {
		if w.data = in.data; !in.explicit && codec.Sniff(in.data) == "" {
			l.why, l.named = leftOut(in.path, in.data)
		}
		return l, nil
	}
	f, err := in.open(ctx)
	if err != nil {
		return l, err
	}
	defer f.Close()
	if !in.explicit {
		head := make([]byte, sniffBytes)
		n, err := f.ReadAt(head, 0)
		if err == nil && codec.Sniff(head) == "" {
			head = make([]byte, headBytes)
			n, err = f.ReadAt(head, 0)
		}
		if err != nil && err != io.EOF {
			return l, err
		}
		if codec.Sniff(head[:n]) == "" {
			l.why, l.named = leftOut(in.path, head[:n])
			return l, nil
		}
	}
	size := f.Size()
	if limit := w.b.limits.Bytes; w.b.remote && (limit == 0 || size <= limit) {
		w.b.reads.take(size)
		w.taken = size
	}
	w.buf, err = readAll(f, w.buf, w.b.limits)
	w.data = w.buf
	return l, err
}

// readAll reads a file, into b if its capacity suffices. It checks the size
// first.
func readAll(f store.File, b []byte, limits codec.Limits) ([]byte, error) {
	if size := f.Size(); limits.Bytes > 0 && size > limits.Bytes {
		return b, tooLarge(size, limits.Bytes)
	}
	return store.ReadAll(f, b)
}

// tooLarge returns the error of a file above the limit.
func tooLarge(size, limit int64) error {
	return codec.Errorf("", -1, codec.ErrBytes, "the file has %d bytes, the limit is %d", size, limit)
}

// arenaBytes sums the buffers. Unknown sizes count as 0.
func arenaBytes(c datagraph.Costs) int64 {
	n := int64(0)
	for _, b := range c.Buffers {
		n += b
	}
	return n
}

// budget bounds the memory of all workers together. A request beyond the total
// is granted when no other is active: the decoder and the Runner enforce the
// limit of one image.
type budget struct {
	mu    sync.Mutex
	free  sync.Cond
	total int64 // 0 means no limit
	used  int64
}

func newBudget(total int64) *budget {
	b := &budget{total: total}
	b.free.L = &b.mu
	return b
}

func (b *budget) take(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.total > 0 && b.used > 0 && b.used+n > b.total {
		b.free.Wait()
	}
	b.used += n
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
	b.free.Broadcast()
}
