// Package pipeline runs a dataset in parallel: it reads, decodes and transforms
// samples ahead of the training. Reading and each map are stages with several
// workers. The samples and their order are those of package pullpipe, for any
// number of workers.
//
// # How it keeps order
//
// A stage takes samples from its input one after another and puts each into a
// queue of tickets. Any free worker takes the next sample. Next redeems the
// tickets in their order. So a slow sample delays only its own ticket, and the
// number of workers may change at any time. (MindSpore's connectors keep order
// with one queue for each worker, in turn. There a worker can idle while
// another has a queue.)
//
// The state of a stage is the state of its input after the last redeemed
// sample, recorded when the stage took the sample. Samples on their way do not
// count.
package pipeline

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/engine"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Options are the options of New. The zero value is valid.
type Options struct {
	// Workers is the number of workers of each stage, 1 to 4,096. Default:
	// GOMAXPROCS, or 1 at the start with AutoTune.
	Workers int
	// StageWorkers overrides Workers for single stages, by their paths in Stats
	// (dataset.StepInfo.Stage). An unknown path is an error. Default: none.
	StageWorkers map[string]int
	// Queue is the number of samples that a stage may hold, at work or ready:
	// at least one for each worker, at most 65,536. Default: 2 for each worker,
	// plus 2.
	Queue int
	// StageQueue overrides Queue for single stages, by their paths in Stats: 1
	// to 65,536, and at least one for each worker. An unknown path is an error.
	// Prefetch is the queue of "sending". Default: none.
	StageQueue map[string]int
	// Bytes bounds the memory of the samples in all queues together. At the
	// limit, each stage continues with one sample. So the limit may be exceeded
	// by one sample for each stage, and by samples larger than earlier ones.
	// Default: 1 GiB.
	Bytes int64
	// BatchBytes is the largest batch. A larger one ends the run with a
	// *dataset.NodeError, before its memory is allocated. So do more bytes of
	// samples that wait for the rest of their batches. Default: no limit.
	BatchBytes int64
	// Prefetch is the number of samples or batches that are ready for Next, up
	// to 65,536. Default: 2. With -1, Next itself runs the nodes above the last
	// stage.
	Prefetch int
	// Upload, if not nil, is called on every sample or batch before it is
	// ready, in order, on its own goroutine, for example to copy it to a
	// device. Its ctx ends with the epoch or the run. An error or a panic ends
	// the run under every dataset.Options.OnError.
	Upload func(ctx context.Context, s *dataset.Sample) error
	// AutoTune adapts the workers and queues of the stages to the load every
	// Interval. MaxWorkers bounds the workers of all stages together; each
	// stage has at least one. Default of MaxWorkers: GOMAXPROCS, at least one
	// more than there are stages. Default of Interval: 200 ms.
	//
	// AutoTune lengthens queues by at most 32 MiB of samples, in all stages
	// together, beyond the default queues of GOMAXPROCS workers or of the most
	// workers that each stage has had. Samples count as large as earlier ones.
	// Bytes bounds the samples as without AutoTune.
	AutoTune   bool
	MaxWorkers int
	Interval   time.Duration
	// Tuned, if not nil, overrides Workers, Queue, StageWorkers and StageQueue
	// for the stages that it holds. AutoTune goes on from there; without
	// AutoTune they stay. New returns ErrTuning if Tuned is invalid or was made
	// for another definition or device. A Tuned of another number of cores or
	// another platform is not used, which Log reports.
	Tuned *Tuning
	// Log, if not nil, is called with every decision of AutoTune, on its own
	// goroutine, and by New about Tuned.
	Log func(string)
	// Pin binds each worker to a processor, in turn. It has an effect on Linux
	// alone.
	Pin bool
	// Trace, if not nil, records the work of the workers.
	Trace *Trace
}

// Pipeline is a run with parallel stages; see dataset.Run for most of its
// methods. One goroutine uses it at a time; only Close, Stats, Skipped, Panics,
// Quarantined, Weights and SetWeights are safe for concurrent use. Close
// interrupts a Next that waits for a sample: it returns dataset.ErrClosed and
// loses nothing.
//
// Close and NextEpoch end all goroutines and wait for them. Sources and Upload
// get a ctx that ends then, and has the values of the ctx of the epoch's first
// Next. User functions have no ctx: Close waits until they return.
type Pipeline struct {
	*dataset.Run
	o      Options
	built  *dataset.Built
	tuned  map[string]StageTuning // of Options.Tuned, by path
	budget *budget
	tuner  *tuner

	mu     sync.Mutex
	closed bool
	stages []*stage // of this epoch, from the source up
	past   map[string]*counters
	order  []string
}

// New returns a run of b from a state, or from the start of epoch 0 if state is
// nil. It starts no goroutine before the first Next. The caller closes the run.
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
		{"Workers", int64(o.Workers), 1, maxWorkers}, {"Queue", int64(o.Queue), 0, maxQueue}, {"Bytes", o.Bytes, 1, math.MaxInt64}, {"BatchBytes", o.BatchBytes, 0, math.MaxInt64},
		{"Prefetch", int64(o.Prefetch), -1, maxQueue}, {"MaxWorkers", int64(o.MaxWorkers), 0, maxWorkers}, {"Interval", int64(o.Interval), 1, math.MaxInt64},
	} {
		if x.n < x.lo || x.n > x.hi {
			return nil, fmt.Errorf("pipeline: %w: %s is %d, want %d to %d", dataset.ErrParam, x.what, x.n, x.lo, x.hi)
		}
	}
	if err := o.validateStages(b); err != nil {
		return nil, err
	}
	var tuned map[string]StageTuning
	if o.Tuned != nil {
		stages, why, err := o.Tuned.use(b)
		if err != nil {
			return nil, err
		}
		if tuned = stages; why != "" && o.Log != nil {
			o.Log("pipeline: the tuning is not used: " + why)
		}
	}
	p := &Pipeline{o: o, built: b, tuned: tuned, budget: newBudget(o.Bytes), past: map[string]*counters{}}
	c := engine.Config[*dataset.Sample]{Stage: p.stage, Bytes: o.BatchBytes}
	if o.Prefetch > 0 || o.Upload != nil {
		c.Top = p.top
	}
	var err error
	if p.Run, err = dataset.NewRun(b, state, c); err != nil {
		return nil, err
	}
	return p, nil
}

// The bounds of options, against mistaken numbers.
const (
	maxWorkers = 1 << 12
	maxQueue   = 1 << 16
)

// validateStages checks the options of single stages.
func (o *Options) validateStages(b *dataset.Built) error {
	if len(o.StageQueue)+len(o.StageWorkers) == 0 {
		return nil
	}
	known := stagesOf(b)
	for _, x := range []struct {
		option string
		of     map[string]int
		most   int
		all    string // the option for "sending"
	}{
		{"StageQueue", o.StageQueue, maxQueue, "want Prefetch"}, {"StageWorkers", o.StageWorkers, maxWorkers, "it has one worker"},
	} {
		for _, path := range slices.Sorted(maps.Keys(x.of)) {
			switch n := x.of[path]; {
			case path == sending:
				return fmt.Errorf("pipeline: %w: %s of %s: %s", dataset.ErrParam, x.option, sending, x.all)
			case !slices.Contains(known, path):
				return fmt.Errorf("pipeline: %w: %s: %w", dataset.ErrParam, x.option, unknownStage(path, known))
			case n < 1 || n > x.most:
				return fmt.Errorf("pipeline: %w: %s of %s is %d, want 1 to %d", dataset.ErrParam, x.option, path, n, x.most)
			}
		}
	}
	return nil
}

// stagesOf returns the paths of the stages of b, without "sending".
func stagesOf(b *dataset.Built) (l []string) {
	for _, s := range b.Steps() {
		if s.Stage {
			l = append(l, s.Path)
		}
	}
	return l
}

// unknownStage returns the error of a path that no stage has.
func unknownStage(path string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("no stage %q: the definition has none", path)
	}
	return fmt.Errorf("no stage %q: want one of %s%s", path, strings.Join(known, ", "), registry.DidYouMean(path, known))
}

// queueOf returns the default queue: one sample at work and one ready for each
// worker, and one each for the goroutines that fill and empty the queue.
func queueOf(workers int) int { return 2*workers + 2 }

// stage makes the iterator of a stage.
func (p *Pipeline) stage(st stageSpec) (iterator, error) {
	workers := p.o.Workers
	if n, ok := p.o.StageWorkers[st.Path]; ok {
		workers = n
	}
	queue := p.queue(st.Path)
	if queue == 0 {
		queue = queueOf(workers)
	}
	if t, ok := p.tuned[st.Path]; ok {
		workers, queue = t.Workers, t.Queue
	}
	s, err := p.add(st, workers, max(queue, workers))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// queue returns the queue that the options set for a stage, 0 for the default.
func (p *Pipeline) queue(path string) int {
	if n, ok := p.o.StageQueue[path]; ok {
		return n
	}
	return p.o.Queue
}

// sending is the path of the top stage in Stats.
const sending = "sending"

// top makes the top stage, which prefetches and uploads samples.
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

// add adds a stage.
func (p *Pipeline) add(st stageSpec, workers, queue int) (*stage, error) {
	// Make the first worker now, so that New returns its error.
	w, err := st.New()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, dataset.ErrClosed
	}
	s := newStage(p, st, workers, queue)
	s.first = w
	if s.c = p.past[st.Path]; s.c == nil {
		s.c = &counters{}
		s.c.expect.Store(st.Bytes)
		p.past[st.Path] = s.c
		p.order = append(p.order, st.Path)
	} else if n := s.c.chosenWorkers.Load(); n > 0 { // in the epoch before, also by the tuner
		s.workers, s.queue = int(n), int(s.c.chosenQueue.Load())
	}
	p.stages = append(p.stages, s)
	return s, nil
}

// removed forgets a closed stage.
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

func (p *Pipeline) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// running returns the stages of this epoch.
func (p *Pipeline) running() []*stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*stage(nil), p.stages...)
}

// Close ends the run and waits for its goroutines and for a Next of another
// goroutine. The Built stays open.
func (p *Pipeline) Close() error {
	p.mu.Lock()
	p.closed = true // Next starts no more stages
	p.mu.Unlock()
	for _, s := range p.running() {
		s.stop()
	}
	err := p.Run.Close()
	p.mu.Lock()
	t := p.tuner
	p.tuner = nil
	for _, c := range p.past {
		c.takeKept()
	}
	p.mu.Unlock()
	if t != nil {
		t.close()
	}
	return err
}
