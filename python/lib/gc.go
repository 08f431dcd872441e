//go:build cgo

package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Most of the heap are batches, which hold no pointers and are used again.
// Collections are cheap, and there is little to collect: the heap needs no
// slack in proportion to its size, as GOGC gives it. It grows by slack, or by
// atLeast percent if that is more, from one collection to the next.
//
// Measured with batches of 19 MB: with GOGC=20 ten collections delay the first
// batch, and the heap grows by 17 MB of garbage.
const (
	slack   = 8 << 20
	atLeast = 10
	// atFirst delays the first collection until the heap has 32 MiB, an eighth
	// of which is the runtime's unit. Before, there is nothing to collect.
	atFirst = 800
)

func init() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(atFirst)
	p := &pacer{percent: atFirst, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	atCollection(p.set)
}

type pacer struct {
	percent int
	live    []metrics.Sample
}

// atCollection calls f after every collection: the finalizer of an object that
// nothing refers to runs then.
func atCollection(f func()) {
	runtime.SetFinalizer(&[64]byte{}, func(*[64]byte) {
		f()
		atCollection(f)
	})
}

func (p *pacer) set() {
	metrics.Read(p.live)
	n := percentOf(p.live[0].Value.Uint64())
	if d := n - p.percent; d > p.percent/8 || -d > p.percent/8 { // a change stops all threads for a moment
		p.percent = n
		debug.SetGCPercent(n)
	}
}

// percentOf returns the percentage for a heap of live bytes.
func percentOf(live uint64) int { return max(atLeast, int(min(atFirst, 100*slack/max(live, 1)))) }
