package pipeline

import (
	"sync/atomic"
	"time"
)

// counters are those of a stage, over all epochs.
type counters struct {
	in, out, errors             atomic.Int64
	busy, starved, full, waited atomic.Int64 // nanoseconds
	bytes, workers, queue       atomic.Int64
}

// StageStats are the figures of a stage, since the run began.
type StageStats struct {
	Path    string `json:"path"`    // of the node; "sending" is the last stage
	Workers int    `json:"workers"` // now
	Queue   int    `json:"queue"`   // samples at work and ready at once, at most
	Ready   int    `json:"ready"`   // samples that have a ticket now
	Bytes   int64  `json:"bytes"`   // of the samples in it now
	In      int64  `json:"in"`      // samples taken from below
	Out     int64  `json:"out"`     // samples given
	Errors  int64  `json:"errors"`  // samples on which the work failed
	// Busy is the time that workers worked, of all of them together; Starved the
	// time that the stage waited for samples from below (and for what is done
	// between the stages), Full that it waited for room in its queue, and Waited
	// that those above waited for it.
	Busy    time.Duration `json:"busy_ns"`
	Starved time.Duration `json:"starved_ns"`
	Full    time.Duration `json:"full_ns"`
	Waited  time.Duration `json:"waited_ns"`
}

// Stats are the figures of all stages, from the sources up. It may be called by
// any goroutine at any time.
func (p *Pipeline) Stats() []StageStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	var l []StageStats
	for _, path := range p.order {
		c := p.past[path]
		s := StageStats{
			Path: path, Workers: int(c.workers.Load()), Queue: int(c.queue.Load()), Bytes: c.bytes.Load(),
			In: c.in.Load(), Out: c.out.Load(), Errors: c.errors.Load(),
			Busy: time.Duration(c.busy.Load()), Starved: time.Duration(c.starved.Load()),
			Full: time.Duration(c.full.Load()), Waited: time.Duration(c.waited.Load()),
		}
		for _, x := range p.stages {
			if x.st.Path == path && x.tickets != nil {
				s.Ready = len(x.tickets)
			}
		}
		l = append(l, s)
	}
	return l
}
