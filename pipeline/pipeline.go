// Package pipeline runs a dataset in parallel stages: reading, and each map, is a
// stage of its own with several workers, which work ahead of the training. The
// samples are those of package pullpipe, in the same order, whatever the number of
// workers.
//
// # How it keeps order
//
// A stage takes samples from below one after another and gives each a ticket;
// whichever worker is free takes the next sample; tickets are redeemed in their
// order. So a slow sample keeps nobody waiting but those who want it, and workers
// may be added and removed at any time. (A round robin over a queue for each
// worker, which MindSpore's connectors are, keeps order too, but lets a worker idle
// while another has a queue.)
//
// A state is what stands below a stage after the last sample that was redeemed,
// noted when the sample was taken: what is on its way does not count.
package pipeline

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/engine"
)

// Options are those of New.
type Options struct {
	// Workers of each stage. Default: GOMAXPROCS; with AutoTune 1, to begin with.
	Workers int
	// StageWorkers are those of single stages, by the paths of their nodes, as in
	// Stats.
	StageWorkers map[string]int
	// Queue is how many samples a stage has at work and ready at once, at least one
	// for each worker. Default: 2 for each worker, and 2.
	Queue int
	// Bytes bounds the memory of the samples in all queues together. When it is
	// used up, stages go on with one sample each; so it may be exceeded by a sample
	// for each stage, and where samples are larger than those before them. Default: 1 GiB.
	Bytes int64
	// Prefetch is how many samples or batches are ready for Next. Default: 2; -1 is
	// none: Next then does itself what stands above the last stage.
	Prefetch int
	// Upload, if it is not nil, is called on every sample or batch before it is
	// ready, in order, by a goroutine of its own: to bring it to a device. Its ctx
	// ends with the epoch or the run. An error, or a panic, ends the run, whatever
	// dataset.Options.OnError says.
	Upload func(ctx context.Context, s *dataset.Sample) error
	// AutoTune changes the workers and queues of the stages as they are needed,
	// every Interval (default: 200 ms). MaxWorkers bounds the workers of all stages
	// together, of which each has at least one. Default: GOMAXPROCS, or a worker for
	// each stage and one more, if that is more.
	AutoTune   bool
	MaxWorkers int
	Interval   time.Duration
	// Log, if it is not nil, is told what AutoTune chose, by a goroutine of its own.
	Log func(string)
	// Pin binds each worker to a processor, in turn. Linux only; elsewhere it does nothing.
	Pin bool
	// Trace, if it is not nil, is told what the workers do.
	Trace *Trace
}

// Pipeline is a run. Its methods are those of dataset.Run, and Stats. It is used by
// one goroutine at a time, apart from Stats.
//
// Goroutines end with Close or NextEpoch, which wait for them. Sources and Upload
// get a ctx that ends then; its values are those of the ctx of the epoch's first
// Next. Functions of the user's have no ctx: Close waits until they return.
type Pipeline struct {
	*dataset.Run
	o      Options
	budget *budget
	tuner  *tuner

	mu     sync.Mutex
	stages []*stage // of this epoch, from the source up
	past   map[string]*counters
	order  []string
}

// New begins a run of b at the beginning of epoch 0, or where state says. Nothing
// is started before the first Next.
func New(b *dataset.Built, o Options, state *dataset.State) (*Pipeline, error) {
	cores := runtime.GOMAXPROCS(0)
	if o.Workers == 0 {
		if o.Workers = cores; o.AutoTune {
			o.Workers = 1
		}
	}
	if o.Bytes == 0 {
		o.Bytes = 1 << 30
	}
	if o.Prefetch == 0 {
		o.Prefetch = 2
	}
	if o.Interval == 0 {
		o.Interval = 200 * time.Millisecond
	}
	for _, x := range []struct {
		what      string
		n, lo, hi int64
	}{
		{"Workers", int64(o.Workers), 1, mostWorkers}, {"Queue", int64(o.Queue), 0, longestQueue}, {"Bytes", o.Bytes, 1, math.MaxInt64},
		{"Prefetch", int64(o.Prefetch), -1, longestQueue}, {"MaxWorkers", int64(o.MaxWorkers), 0, mostWorkers}, {"Interval", int64(o.Interval), 1, math.MaxInt64},
	} {
		if x.n < x.lo || x.n > x.hi {
			return nil, fmt.Errorf("pipeline: %w: %s is %d, want %d to %d", dataset.ErrParam, x.what, x.n, x.lo, x.hi)
		}
	}
	for path, n := range o.StageWorkers {
		if n < 1 || n > mostWorkers {
			return nil, fmt.Errorf("pipeline: %w: %d workers for %s, want 1 to %d", dataset.ErrParam, n, path, mostWorkers)
		}
	}
	p := &Pipeline{o: o, budget: newBudget(o.Bytes), past: map[string]*counters{}}
	c := engine.Config[*dataset.Sample, *dataset.SampleError]{Stage: p.stage}
	if o.Prefetch > 0 || o.Upload != nil {
		c.Top = p.top
	}
	var err error
	if p.Run, err = engine.NewRun[*dataset.Run](b, state, c); err != nil {
		return nil, err
	}
	return p, nil
}

// The bounds of options, against numbers that cannot be meant.
const (
	mostWorkers  = 1 << 12
	longestQueue = 1 << 16
)

// queueOf is the queue that goes with so many workers: one sample at work and one
// ready for each, and two for those who put in and take out.
func queueOf(workers int) int { return 2*workers + 2 }

// stage places a node's work.
func (p *Pipeline) stage(st stageSpec) (iterator, error) {
	workers := p.o.Workers
	if n, ok := p.o.StageWorkers[st.Path]; ok {
		workers = n
	}
	queue := p.o.Queue
	if queue == 0 {
		queue = queueOf(workers)
	}
	s, err := p.add(st, workers, max(queue, workers))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// sending is the path of the last stage.
const sending = "sending"

// top is the last stage, which has samples ready.
func (p *Pipeline) top(st stageSpec) (iterator, error) {
	st.Path = sending
	st.New = func() (worker, error) { return uploading{p.o.Upload, st.Dropped}, nil }
	st.Failed = func(x *dataset.Sample, err error) error {
		return &dataset.SampleError{Path: sending, Key: x.Key, Epoch: x.Epoch, Ordinal: x.Ordinal, Err: fmt.Errorf("upload: %w", err)}
	}
	s, err := p.add(st, 1, max(p.o.Prefetch, 1))
	if err != nil {
		return nil, err
	}
	return s, nil
}

type uploading struct {
	upload  func(context.Context, *dataset.Sample) error
	dropped func(*dataset.Sample) bool
}

func (u uploading) Do(ctx context.Context, s *dataset.Sample) (err error) {
	if u.upload == nil || u.dropped(s) {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = &dataset.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return u.upload(ctx, s)
}

// add makes a stage.
func (p *Pipeline) add(st stageSpec, workers, queue int) (*stage, error) {
	// The first Worker is made here, so that what is wrong is said at once.
	w, err := st.New()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := newStage(p, st, workers, queue)
	s.first = w
	if s.c = p.past[st.Path]; s.c == nil {
		s.c = &counters{}
		p.past[st.Path] = s.c
		p.order = append(p.order, st.Path)
	} else if n := s.c.chosenWorkers.Load(); n > 0 { // by the tuner
		s.workers, s.queue = int(n), int(s.c.chosenQueue.Load())
	}
	p.stages = append(p.stages, s)
	return s, nil
}

// removed forgets a stage that was closed.
func (p *Pipeline) removed(s *stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.stages {
		if x == s {
			p.stages = append(p.stages[:i:i], p.stages[i+1:]...)
			return
		}
	}
}

// running are the stages of this epoch.
func (p *Pipeline) running() []*stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*stage(nil), p.stages...)
}

// Close ends the run and waits for all its goroutines. The Built stays open.
func (p *Pipeline) Close() error {
	for _, s := range p.running() {
		s.stop()
	}
	err := p.Run.Close()
	p.mu.Lock()
	t := p.tuner
	p.tuner = nil
	p.mu.Unlock()
	if t != nil {
		t.close()
	}
	return err
}

// All goes through the rest of the epoch. Samples are valid until the next one;
// an error is given with a nil sample, and is the last.
func (p *Pipeline) All(ctx context.Context) iter.Seq2[*dataset.Sample, error] {
	return func(yield func(*dataset.Sample, error) bool) {
		for {
			s, err := p.Next(ctx)
			if err == io.EOF || !yield(s, err) || err != nil {
				return
			}
		}
	}
}
