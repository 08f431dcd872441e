package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
)

// run is a run of either engine.
type run interface {
	Next(context.Context) (*dataset.Sample, error)
	NextEpoch() error
	State() *dataset.State
	Skipped() int64
	Quarantined() []*dataset.SampleError
	Close() error
}

// engine selects an engine and its options.
type engine struct {
	workers  int // 0: package pullpipe
	prefetch int
	autoTune bool
}

// randomEngine returns the pull engine in a third of the cases, else the
// parallel engine with 1 to 8 workers.
func randomEngine(r *rand.Rand) engine {
	if r.IntN(3) == 0 {
		return engine{}
	}
	return engine{workers: 1 + r.IntN(8), prefetch: []int{-1, 1, 2, 5}[r.IntN(4)], autoTune: r.IntN(3) == 0}
}

func (e engine) start(b *dataset.Built, s *dataset.State) (run, error) {
	if e.workers == 0 {
		return pullpipe.New(b, s)
	}
	o := pipeline.Options{Workers: e.workers, Prefetch: e.prefetch, AutoTune: e.autoTune}
	if e.autoTune {
		o.Interval, o.MaxWorkers = 5*time.Millisecond, 12
	}
	return pipeline.New(b, o, s)
}

func (e engine) name() string {
	if e.workers == 0 {
		return "pullpipe"
	}
	return "pipeline"
}

func (e engine) String() string {
	if e.workers == 0 {
		return "pullpipe"
	}
	return fmt.Sprintf("pipeline with %d workers, prefetch %d, AutoTune %t", e.workers, e.prefetch, e.autoTune)
}

// openFiles returns the number of open files, or -1 where the system does not
// list them.
func openFiles() int {
	l, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(l) - 1 // the listing has the folder itself
}

// usage is what a run may leave behind.
type usage struct{ goroutines, files int }

func used() usage { return usage{runtime.NumGoroutine(), openFiles()} }

// settleTime bounds the wait for goroutines that have returned from the
// library's functions and are about to end.
const settleTime = 5 * time.Second

// settled waits until nothing is used beyond before, for at most settleTime. It
// returns what remains.
func settled(before usage) usage {
	for end := time.Now().Add(settleTime); ; time.Sleep(time.Millisecond) {
		now := used()
		left := usage{now.goroutines - before.goroutines, now.files - before.files}
		if left.goroutines <= 0 && left.files <= 0 || time.Now().After(end) {
			return usage{max(0, left.goroutines), max(0, left.files)}
		}
	}
}

// stacks returns the stacks of all goroutines, to explain one that hangs.
func stacks() string {
	b := make([]byte, 1<<16)
	return string(b[:runtime.Stack(b, true)])
}
