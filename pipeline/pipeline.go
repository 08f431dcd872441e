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
	"runtime"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
)

// Options are those of New.
type Options struct {
	// Workers of each stage. Default: GOMAXPROCS.
	Workers int
	// StageWorkers are those of single stages, by the paths of their nodes, as in
	// Stats.
	StageWorkers map[string]int
	// Queue is how many samples a stage has at work and ready at once. Default: 2
	// for each worker, and 2.
	Queue int
	// Bytes bounds the memory of the samples in all queues together. When it is
	// used up, stages go on with one sample each. Default: 1 GiB.
	Bytes int64
	// Prefetch is how many samples or batches are ready for Next. Default: 2; -1 is
	// none: Next then does itself what stands above the last stage.
	Prefetch int
	// Upload, if it is not nil, is called on every sample or batch before it is
	// ready, in order, by a goroutine of its own: to bring it to a device.
	Upload func(ctx context.Context, s *dataset.Sample) error
	// AutoTune changes the workers and queues of the stages as they are needed, up
	// to MaxWorkers (default: GOMAXPROCS) in all, every Interval (default: 200 ms).
	AutoTune   bool
	MaxWorkers int
	Interval   time.Duration
	// Log, if it is not nil, is told what AutoTune chose.
	Log func(string)
	// Pin binds each worker to a processor, in turn. Linux only; elsewhere it does nothing.
	Pin bool
	// Trace, if it is not nil, is told what the workers do.
	Trace *Trace
}

// Pipeline is a run. Its methods are those of dataset.Run, and Stats. It is used by
// one goroutine at a time, apart from Stats.
type Pipeline struct {
	*dataset.Run
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
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
		o.Workers = cores
	}
	if o.Bytes == 0 {
		o.Bytes = 1 << 30
	}
	if o.Prefetch == 0 {
		o.Prefetch = 2
	}
	if o.MaxWorkers == 0 {
		o.MaxWorkers = cores
	}
	if o.Interval == 0 {
		o.Interval = 200 * time.Millisecond
	}
	if o.Workers < 1 || o.Queue < 0 || o.Bytes < 1 || o.Prefetch < -1 || o.MaxWorkers < 1 || o.Interval < 0 {
		return nil, fmt.Errorf("pipeline: %w: %d workers, queues of %d, %d bytes, %d ahead, at most %d workers, every %v",
			dataset.ErrParam, o.Workers, o.Queue, o.Bytes, o.Prefetch, o.MaxWorkers, o.Interval)
	}
	for path, n := range o.StageWorkers {
		if n < 1 {
			return nil, fmt.Errorf("pipeline: %w: %d workers for %s", dataset.ErrParam, n, path)
		}
	}
	p := &Pipeline{o: o, budget: newBudget(o.Bytes), past: map[string]*counters{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	c := dataset.Config{Stage: p.stage, State: state}
	if o.Prefetch > 0 || o.Upload != nil {
		c.Top = p.top
	}
	var err error
	if p.Run, err = dataset.NewRun(b, c); err != nil {
		p.cancel()
		return nil, err
	}
	if o.AutoTune {
		p.tuner = newTuner(p)
	}
	return p, nil
}

// stage places a node's work.
func (p *Pipeline) stage(st dataset.Stage) (dataset.Iterator, error) {
	workers := p.o.Workers
	if n, ok := p.o.StageWorkers[st.Path]; ok {
		workers = n
	}
	queue := p.o.Queue
	if queue == 0 {
		queue = 2*workers + 2
	}
	return p.add(st, workers, max(queue, workers))
}

// sending is the path of the last stage.
const sending = "sending"

// top is the last stage, which has samples ready.
func (p *Pipeline) top(in dataset.Iterator) (dataset.Iterator, error) {
	return p.add(dataset.Stage{
		Path: sending, In: in,
		New:    func() (dataset.Worker, error) { return &uploading{p}, nil },
		Failed: func(_ *dataset.Sample, err error) error { return fmt.Errorf("pipeline: upload: %w", err) },
	}, 1, max(p.o.Prefetch, 1))
}

type uploading struct{ p *Pipeline }

func (u *uploading) Do(s *dataset.Sample) error {
	if u.p.o.Upload == nil {
		return nil
	}
	return u.p.o.Upload(u.p.ctx, s)
}

// add makes a stage.
func (p *Pipeline) add(st dataset.Stage, workers, queue int) (dataset.Iterator, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := newStage(p, st, workers, queue)
	if s.c = p.past[st.Path]; s.c == nil {
		s.c = &counters{}
		p.past[st.Path] = s.c
		p.order = append(p.order, st.Path)
	} else if s.c.workers.Load() > 0 && p.o.AutoTune { // what was chosen before
		s.workers, s.queue = int(s.c.workers.Load()), int(s.c.queue.Load())
	}
	// The first Worker is made here, so that what is wrong is said at once.
	w, err := st.New()
	if err != nil {
		return nil, err
	}
	s.first = w
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
	p.cancel()
	if p.tuner != nil {
		p.tuner.close()
	}
	return p.Run.Close()
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
