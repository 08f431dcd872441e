package pipeline

import (
	"sync"
	"sync/atomic"
	"time"
)

// counters are the figures of a stage over all epochs.
type counters struct {
	in, out, errors             atomic.Int64
	busy, starved, full, waited meter
	bytes, workers, queue       atomic.Int64
	ready                       atomic.Int64 // finished samples in the queue
	// expect estimates a finished sample's size from earlier ones; known
	// reports whether there were any.
	expect atomic.Int64
	known  atomic.Bool
	// chosenWorkers and chosenQueue are the sizes at the start or the tuner's
	// choice, for the next epoch and for Tuning.
	chosenWorkers, chosenQueue atomic.Int64

	mu   sync.Mutex
	kept []*item // of the last epoch, for the next one
}

func (c *counters) keep(it *item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, it)
}

// takeKept returns the items of the last epoch.
func (c *counters) takeKept() []*item {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.kept
	c.kept = nil
	return l
}

// started is the zero time of the meters.
var started = time.Now()

func now() time.Duration { return time.Since(started) }

// meter sums the durations of an activity, including running ones.
type meter struct {
	mu     sync.Mutex
	total  time.Duration
	begun  time.Duration // the sum of the start times of running ones
	active int
}

// begin records a start and returns it, for end.
func (m *meter) begin() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := now()
	m.active++
	m.begun += t
	return t
}

// end records an end and returns the duration.
func (m *meter) end(begin time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	took := now() - begin
	m.active--
	m.begun -= begin
	m.total += took
	return took
}

func (m *meter) read() (total time.Duration, active int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total + time.Duration(m.active)*now() - m.begun, m.active
}

// StageStats are the figures of a stage since the start of the run.
type StageStats struct {
	Path    string `json:"path"`    // of the node; "sending" is the top stage
	Workers int    `json:"workers"` // now; 0 when the stage is not running
	Queue   int    `json:"queue"`   // maximum number of samples at work or ready
	AtWork  int    `json:"at_work"` // samples with a worker now
	Ready   int    `json:"ready"`   // finished samples in the queue
	Bytes   int64  `json:"bytes"`   // memory of its samples now, including reservations
	In      int64  `json:"in"`      // samples taken from the input
	Out     int64  `json:"out"`     // samples returned, including dropped ones
	Errors  int64  `json:"errors"`  // bad samples
	// Busy is the working time of all workers together. Starved is the time
	// that the stage waited for its input, including nodes between the stages.
	// Full is the time that it waited for room in its queue. Waited is the time
	// that the stage above waited for it. Running activities count.
	Busy    time.Duration `json:"busy_ns"`
	Starved time.Duration `json:"starved_ns"`
	Full    time.Duration `json:"full_ns"`
	Waited  time.Duration `json:"waited_ns"`
}

// Stats returns the figures of all stages, from the sources up. It is safe for
// concurrent use, also after Close.
func (p *Pipeline) Stats() []StageStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := make([]StageStats, 0, len(p.order))
	for _, path := range p.order {
		c := p.past[path]
		s := StageStats{
			Path: path, Workers: int(c.workers.Load()), Queue: int(c.queue.Load()), Bytes: c.bytes.Load(),
			In: c.in.Load(), Out: c.out.Load(), Errors: c.errors.Load(), Ready: int(max(c.ready.Load(), 0)),
		}
		s.Busy, s.AtWork = c.busy.read()
		s.Starved, _ = c.starved.read()
		s.Full, _ = c.full.read()
		s.Waited, _ = c.waited.read()
		l = append(l, s)
	}
	return l
}

// Bottleneck returns the index of the slowest stage between two Stats of a run:
// the one with the busiest workers among those that others waited for during at
// least a tenth of elapsed. It returns -1 if there is none: then the consumer
// of the samples is slower than the stages. The top stage does not count, since
// its time is the device's. A nil before is the start of the run.
func Bottleneck(before, after []StageStats, elapsed time.Duration) int {
	best, most := -1, 0.0
	for i, s := range after {
		busy, waited := s.Busy, s.Waited
		for _, o := range before {
			if o.Path == s.Path {
				busy, waited = busy-o.Busy, waited-o.Waited
			}
		}
		if s.Path == sending || s.Workers < 1 || waited < elapsed/10 {
			continue
		}
		if load := float64(busy) / float64(s.Workers); load > most {
			best, most = i, load
		}
	}
	return best
}
