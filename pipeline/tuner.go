package pipeline

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// tuner is the controller of AutoTune. Every interval it compares the stages
// and makes at most one change. The busiest stage that others wait for gets one
// more worker; at the limit it takes the worker from the least busy stage. A
// stage with idle workers and a full queue that others wait for gets a longer
// queue.
type tuner struct {
	p    *Pipeline
	stop chan struct{}
	done sync.WaitGroup
	last map[*stage]measured
	most map[string]int // workers that a stage has had, by path
	at   time.Duration
}

// measured are the total times of a stage.
type measured struct{ busy, waited, full time.Duration }

// tune starts the tuner with AutoTune.
func (p *Pipeline) tune() {
	if !p.o.AutoTune {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tuner != nil {
		return
	}
	t := &tuner{p: p, stop: make(chan struct{}), last: map[*stage]measured{}, most: map[string]int{}, at: now()}
	p.tuner = t
	t.done.Go(t.run)
}

func (t *tuner) close() {
	close(t.stop)
	t.done.Wait()
}

func (t *tuner) run() {
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

// The tuner's thresholds, as fractions of the interval.
const (
	busyLoad = 0.8 // load from which the workers of a stage count as busy
	isWaited = 0.1 // waiting time from which a stage counts as waited for
	isFull   = 0.3 // waiting time from which a queue counts as too short
	longest  = 4   // maximum queue, as a multiple of the default
	idleLoad = 0.7 // maximum load of the remaining workers after one is removed
	// extraBytes bounds the samples that the tuner adds to all queues together;
	// see Options.AutoTune.
	extraBytes = 32 << 20
)

// extra returns the bytes of the samples that a queue of s holds beyond the
// default queue of the most workers that s has had, or of GOMAXPROCS workers.
// It takes samples to be as large as earlier ones.
func (t *tuner) extra(s *stage, queue int) int64 {
	base := max(queueOf(max(t.most[s.st.Path], runtime.GOMAXPROCS(0))), t.p.queue(s.st.Path))
	return int64(max(queue-base, 0)) * s.c.expect.Load()
}

// lengthen makes the queue of s longer, within longest and extraBytes.
func (t *tuner) lengthen(s *stage) {
	room := int64(extraBytes)
	for _, x := range t.p.running() {
		if n, queue := x.size(); x != s && n > 0 && x.st.Path != sending {
			room -= t.extra(x, queue)
		}
	}
	n, queue := s.size()
	want := min(queue+queue/2+1, longest*queueOf(n))
	for want > queue && t.extra(s, want) > room {
		want--
	}
	if want > queue {
		t.change(s, n, want)
	}
}

// tune compares the stages and makes at most one change.
func (t *tuner) tune() {
	at := now()
	interval := float64(at - t.at)
	t.at = at
	var busiest, idlest, least, crowded *stage
	var busiestLoad, idlestLoad, leastLoad float64
	total := 0
	seen := map[*stage]measured{}
	for _, s := range t.p.running() {
		if s.st.Path == sending {
			continue
		}
		n, queue := s.size()
		if n == 0 {
			continue // not started
		}
		total += n
		t.most[s.st.Path] = max(t.most[s.st.Path], n)
		var m measured
		m.busy, _ = s.c.busy.read()
		m.waited, _ = s.c.waited.read()
		m.full, _ = s.c.full.read()
		seen[s] = m
		old, ok := t.last[s]
		if !ok {
			continue
		}
		load := float64(m.busy-old.busy) / interval / float64(n)
		waited := float64(m.waited-old.waited)/interval > isWaited
		if load > busyLoad && waited && (busiest == nil || load > busiestLoad) {
			busiest, busiestLoad = s, load
		}
		if n > 1 && (least == nil || load < leastLoad) {
			least, leastLoad = s, load
		}
		if n > 1 && float64(load*float64(n)) < float64(idleLoad*float64(n-1)) && (idlest == nil || load < idlestLoad) {
			idlest, idlestLoad = s, load
		}
		if load <= busyLoad && waited && float64(m.full-old.full)/interval > isFull && queue < longest*queueOf(n) && !t.p.budget.tight() {
			crowded = s
		}
	}
	t.last = seen
	most := t.p.o.MaxWorkers
	if most == 0 {
		most = max(runtime.GOMAXPROCS(0), len(seen)+1)
	}
	switch {
	case total > most && least != nil:
		t.workers(least, -1)
	case busiest != nil && total < most:
		t.workers(busiest, 1)
	case busiest != nil && idlest != nil && busiest != idlest:
		t.workers(idlest, -1)
		t.workers(busiest, 1)
	case crowded != nil:
		t.lengthen(crowded)
	}
}

func (t *tuner) workers(s *stage, by int) {
	n, queue := s.size()
	t.change(s, n+by, max(queue, queueOf(n+by)))
}

func (t *tuner) change(s *stage, workers, queue int) {
	if s.resize(workers, queue) && t.p.o.Log != nil {
		t.p.o.Log(fmt.Sprintf("pipeline: %s: %d workers, queue of %d", s.st.Path, workers, queue))
	}
}
