//go:build cgo

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: atFirst, 1 << 10: atFirst, 1 << 20: 800, 8 << 20: 100, 80 << 20: 10, 1 << 40: 10} {
		require.Equal(t, want, percentOf(live), "%d bytes", live)
	}
}

// TestPacer checks that every collection sets the percentage.
func TestPacer(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	p := &pacer{percent: 100, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	set := make(chan int, 1)
	atCollection(func() {
		p.set()
		select {
		case set <- p.percent:
		default: // the test is over: all finalizers have one goroutine
		}
	})
	keep := make([]byte, 80<<20)
	for range 3 {
		for deadline := time.Now().Add(time.Minute); ; {
			runtime.GC()
			select {
			case n := <-set:
				require.Equal(t, atLeast, n)
			case <-time.After(time.Millisecond): // the finalizer's object is made after a collection
				require.True(t, time.Now().Before(deadline), "no finalizer ran")
				continue
			}
			break
		}
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(now)
		require.EqualValues(t, atLeast, now[0].Value.Uint64())
	}
	runtime.KeepAlive(keep)
}
