package pipeline

import (
	"sync"
	"sync/atomic"
	"time"
)

// counters are those of a stage, over all epochs.
type counters struct {
	in, out, errors             atomic.Int64
	busy, starved, full, waited meter
	bytes, workers, queue       atomic.Int64
	ready                       atomic.Int64 // done, and not given
	// expect is the bytes of a sample when it is done, by those before, and known
	// that there were any.
	expect atomic.Int64
	known  atomic.Bool
	// chosenWorkers and chosenQueue are the tuner's, for the next epoch.
	chosenWorkers, chosenQueue atomic.Int64
}

// started is where the clock of meters begins.
var started = time.Now()

func now() time.Duration { return time.Since(started) }

// meter adds up the time that something takes, what is under way included.
type meter struct {
	mu     sync.Mutex
	total  time.Duration
	begun  time.Duration // the sum of the beginnings of what is under way
	active int
}

// begin notes a beginning, which end is told.
func (m *meter) begin() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := now()
	m.active++
	m.begun += t
	return t
}

// end notes the end, and returns the time that it took.
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

// StageStats are the figures of a stage, since the run began.
type StageStats struct {
	Path    string `json:"path"`    // of the node; "sending" is the last stage
	Workers int    `json:"workers"` // now; 0 when the stage is not running
	Queue   int    `json:"queue"`   // samples at work and ready at once, at most
	AtWork  int    `json:"at_work"` // samples that workers work on now
	Ready   int    `json:"ready"`   // samples that are done and wait to be given
	Bytes   int64  `json:"bytes"`   // of the samples in it now, with what is reserved for those at work
	In      int64  `json:"in"`      // samples taken from below
	Out     int64  `json:"out"`     // samples given, bad ones that are left out among them
	Errors  int64  `json:"errors"`  // samples on which the work failed
	// Busy is the time that workers worked, of all of them together; Starved the
	// time that the stage waited for samples from below (and for what is done
	// between the stages), Full that it waited for room in its queue, and Waited
	// that those above waited for it. What is under way counts.
	Busy    time.Duration `json:"busy_ns"`
	Starved time.Duration `json:"starved_ns"`
	Full    time.Duration `json:"full_ns"`
	Waited  time.Duration `json:"waited_ns"`
}

// Stats are the figures of all stages, from the sources up. It may be called by
// any goroutine at any time, also after Close.
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

// Bottleneck is the stage that holds up the others between two Stats of a run:
// the one whose workers worked most of the time while it was waited for. The
// sending stage is none, since its time is the device's. It is -1 if those above
// waited for no stage, for at least a tenth of the time: then what takes the
// samples is slower than the stages. Before may be nil: the beginning of the run.
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
