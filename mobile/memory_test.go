package mobile

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// memory returns the live heap and, on Linux, the resident memory of the
// process, in bytes.
func memory(t *testing.T) (heap, resident int64) {
	t.Helper()
	runtime.GC() // the second collection empties the pools
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return int64(m.HeapAlloc), 0
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(b)[1]), 10, 64)
	require.NoError(t, err)
	return int64(m.HeapAlloc), pages * int64(os.Getpagesize())
}

// TestMemory runs 10,000 camera frames, pictures and batches through one
// Preprocessor: the heap and the resident memory stay as they are after the
// first 500.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	p, jpeg := openBundle(t)
	c := NewPipeConfig()
	for range 8 { // an epoch is five calls of Next, as many as there are in 500 frames
		require.NoError(t, c.AddImage(jpeg))
	}
	c.BatchSize = 2
	q, err := p.NewPipe(c)
	require.NoError(t, err)
	camera := &yuvCase{Layout: "NV21", Width: 320, Height: 240, Seed: 1, Rotation: 90}
	f, y, u, v := camera.frame()
	in, out := NewInput(), NewResult()
	require.NoError(t, out.SetBuffer(0, &Buffer{make([]byte, 3*224*224*4)}))
	run := func(n int) {
		for i := range n {
			switch {
			case i%100 == 0: // a result of its own
				r, err := p.RunJPEG(jpeg)
				require.NoError(t, err)
				require.NotZero(t, r.Size(0))
			case i%100 == 50:
				r, err := q.Next()
				require.NoError(t, err)
				if r == nil {
					require.NoError(t, q.NextEpoch())
				}
			default:
				require.NoError(t, in.SetYUV420(&Buffer{y}, &Buffer{u}, &Buffer{v}, f))
				require.NoError(t, p.RunInto(in, out))
			}
		}
	}
	frames := short.Rounds(t, 10_000, 1000)
	run(500)
	heap, resident := memory(t)
	for done := 500; done < frames; done += 500 {
		run(500)
		if (done+500)%2500 == 0 {
			h, r := memory(t)
			t.Logf("after %5d frames: heap %.2f MiB, resident %.2f MiB", done+500, float64(h)/mib, float64(r)/mib)
		}
	}
	h, r := memory(t)
	t.Logf("%d frames: heap %.2f MiB and resident %.2f MiB after 500, %.2f and %.2f at the end",
		frames, float64(heap)/mib, float64(resident)/mib, float64(h)/mib, float64(r)/mib)
	require.Less(t, h-heap, int64(mib/2))
	require.Less(t, r-resident, int64(8*mib))
	for _, x := range []any{p, q, in, out, c} {
		runtime.KeepAlive(x)
	}
}
