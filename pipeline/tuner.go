package pipeline

import (
	"fmt"
	"sync"
	"time"
)

// tuner is the controller of AutoTune. Every interval it looks at what the stages
// did: the stage whose workers are busiest, while those above wait for it, gets
// one more, from the stage that has least to do if there are enough already. A
// stage that has many samples ready needs no longer queue; one that runs out of
// room while those above wait gets a longer one.
type tuner struct {
	p    *Pipeline
	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
	last map[*stage]measured
}

type measured struct{ busy, waited, full int64 }

func newTuner(p *Pipeline) *tuner {
	t := &tuner{p: p, stop: make(chan struct{}), last: map[*stage]measured{}}
	t.done.Add(1)
	go t.run()
	return t
}

func (t *tuner) close() {
	t.once.Do(func() { close(t.stop) })
	t.done.Wait()
}

func (t *tuner) run() {
	defer t.done.Done()
	tick := time.NewTicker(t.p.o.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.tune()
		case <-t.stop:
			return
		}
	}
}

// tune makes at most one change.
func (t *tuner) tune() {
	interval := float64(t.p.o.Interval)
	var busiest, idlest *stage
	var most, least float64
	total := 0
	now := map[*stage]measured{}
	for _, s := range t.p.running() {
		m := measured{s.c.busy.Load(), s.c.waited.Load(), s.c.full.Load()}
		now[s] = m
		if s.st.Path == sending {
			continue
		}
		s.mu.Lock()
		n := s.running
		s.mu.Unlock()
		if n == 0 {
			continue
		}
		total += n
		old, ok := t.last[s]
		if !ok {
			continue
		}
		load := float64(m.busy-old.busy) / interval / float64(n)
		waited := float64(m.waited-old.waited) / interval
		if load > 0.8 && waited > 0.1 && (busiest == nil || load > most) {
			busiest, most = s, load
		}
		// Without one worker the others would still be at work for less than 70 % of the time.
		if n > 1 && load*float64(n) < 0.7*float64(n-1) && (idlest == nil || load < least) {
			idlest, least = s, load
		}
	}
	t.last = now
	switch {
	case busiest != nil && total < t.p.o.MaxWorkers:
		t.change(busiest, 1)
	case busiest != nil && idlest != nil && busiest != idlest:
		t.change(idlest, -1)
		t.change(busiest, 1)
	case busiest == nil && idlest != nil && total > t.p.o.MaxWorkers:
		t.change(idlest, -1)
	}
}

func (t *tuner) change(s *stage, by int) {
	s.mu.Lock()
	n, queue := s.running+by, s.queue
	s.mu.Unlock()
	queue = max(queue, 2*n+2)
	s.resize(n, queue)
	if t.p.o.Log != nil {
		t.p.o.Log(fmt.Sprintf("pipeline: %s: %d workers, queue of %d", s.st.Path, n, queue))
	}
}
