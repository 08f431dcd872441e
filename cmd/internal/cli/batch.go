package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// batch is a run of one plan over many inputs, by several workers.
type batch struct {
	app    *app
	plan   *datagraph.Plan
	limits codec.Limits
	sink   *sink
	inputs []input
	jobs   int

	sessions *sessions // of another device than the CPU, or with a model; else nil
}

// outcome is what became of an input.
type outcome struct {
	i       int
	in      *input
	skipped bool // it is no image, and was not named itself
	err     error
	results []result
}

// ahead is how many inputs for each worker may be done before the first that is not.
const ahead = 16

// run works on the inputs and calls emit with every outcome, in the order of
// the inputs and from one goroutine. When ctx ends, or emit fails, the images
// being worked on are finished and no others are begun; the outcomes of those
// that are done are still emitted.
func (b *batch) run(ctx context.Context, emit func(outcome) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	done := make(chan outcome, b.jobs)
	window := make(chan struct{}, ahead*b.jobs)
	mem := newBudget(b.limits.Bytes)

	go func() {
		defer close(next)
		for i := range b.inputs {
			select {
			case window <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range b.jobs {
		workers.Go(func() {
			w := worker{b: b, mem: mem}
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				done <- w.do(ctx, i)
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()

	waiting := map[int]outcome{}
	first := 0
	var failed error
	give := func(o outcome) {
		if failed == nil {
			if failed = emit(o); failed != nil {
				stop(failed)
			}
		}
	}
	for o := range done {
		waiting[o.i] = o
		for {
			o, ok := waiting[first]
			if !ok {
				break
			}
			delete(waiting, first)
			first++
			<-window
			give(o)
		}
	}
	for ; len(waiting) > 0 && first < len(b.inputs); first++ { // after an interruption there are gaps
		if o, ok := waiting[first]; ok {
			delete(waiting, first)
			give(o)
		}
	}
	if failed != nil {
		return failed
	}
	return ctx.Err()
}

// worker turns one image after another into tensors, in memory that it keeps.
type worker struct {
	b      *batch
	mem    *budget
	runner *datagraph.Runner
	data   []byte
	image  tensor.Tensor
}

func (w *worker) do(ctx context.Context, i int) (o outcome) {
	in := &w.b.inputs[i]
	o = outcome{i: i, in: in, err: in.err}
	if in.err != nil {
		return o
	}
	defer func() {
		if p := recover(); p != nil { // a bug, which must not end the run of all other images
			o.err = fmt.Errorf("internal error: %v", p)
			w.runner = nil
		}
		if o.err != nil {
			o.err = fmt.Errorf("%s: %w", in.path, message(o.err))
		}
	}()
	if o.skipped, o.err = w.read(in); o.skipped || o.err != nil {
		return o
	}
	w.image = *tensor.FromBytes(w.data)
	if w.runner == nil {
		w.runner = w.b.plan.NewRunner()
	}
	need, err := w.need()
	if err != nil {
		o.err = err
		return o
	}
	w.mem.take(need)
	defer w.mem.give(need)
	if s := w.b.sessions; s != nil {
		session, err := s.take()
		if err != nil {
			o.err = err
			return o
		}
		sound := false
		defer func() { s.give(session, sound) }()
		// What was begun is finished, as on the CPU.
		out, err := s.run(context.WithoutCancel(ctx), session, &w.image)
		sound = true
		return w.write(o, out, err)
	}
	out, err := w.runner.Run(&w.image)
	o = w.write(o, out, err)
	if w.mem.total > 0 && need > w.mem.total/int64(w.b.jobs) {
		w.runner = nil // it would keep more than its share while it does nothing
	}
	return o
}

// write writes what a run gave.
func (w *worker) write(o outcome, out []*tensor.Tensor, err error) outcome {
	if err != nil {
		o.err = err
		return o
	}
	if w.b.app.testDelay != nil {
		w.b.app.testDelay()
	}
	o.results, o.err = w.b.sink.write(o.in.name, out)
	return o
}

// read reads an input's bytes; of a file that may be no image only the first
// until that is known. The file's size is looked at before anything is read.
func (w *worker) read(in *input) (skip bool, err error) {
	f, err := os.Open(in.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	w.data = w.data[:0]
	if !in.explicit {
		head := make([]byte, sniffBytes)
		n, err := io.ReadFull(f, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, err
		}
		if w.data = append(w.data, head[:n]...); codec.Sniff(w.data) == "" {
			return true, nil
		}
	}
	if err := tooLarge(info, w.b.limits); err != nil {
		return false, err
	}
	if n := int(info.Size()) + 1; cap(w.data) < n { // 1 more, so that the end is seen without growing
		w.data = append(make([]byte, 0, n), w.data...)
	}
	for {
		if len(w.data) == cap(w.data) {
			w.data = append(w.data, 0)[:len(w.data)] // the file grew since
		}
		n, err := f.Read(w.data[len(w.data):cap(w.data)])
		w.data = w.data[:len(w.data)+n]
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if l := w.b.limits.Bytes; l > 0 && int64(len(w.data)) > l {
			return false, codec.Errorf("", -1, codec.ErrLimit, "the file has more than %d bytes", l)
		}
	}
}

// message is what a user is told of an error: without the path, which stands
// before it already, and of a decoder's error not the step, since there is the
// image to blame.
func message(err error) error {
	var pe *fs.PathError
	var ce *codec.Error
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &ce):
		return ce
	}
	return err
}

// need is the memory that a run on the worker's image takes, by its header: the
// file, the arena, the rows between, and as much as the decoded image for the decoder.
func (w *worker) need() (int64, error) {
	c, err := w.runner.Costs(&w.image)
	if err != nil {
		return 0, err
	}
	total := int64(len(w.data)) + arenaBytes(c)
	for _, s := range c.Steps {
		total += s.Window
	}
	if len(c.Descs) > 0 {
		total += max(0, c.Descs[0][0].Size())
	}
	return total, nil
}

// arenaBytes is all buffers; what is unknown counts as nothing.
func arenaBytes(c datagraph.Costs) int64 {
	n := int64(0)
	for _, b := range c.Buffers {
		n += b
	}
	return n
}

// budget bounds the memory of all workers together. What is wanted beyond all
// of it is given when nobody else has any: the limit on one image is the
// decoder's and the Runner's business.
type budget struct {
	mu    sync.Mutex
	free  sync.Cond
	total int64 // 0: no limit
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
