package tiles_test

import (
	"os"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/tiles"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestEpoch reads a whole shuffled epoch of a scene's windows, each once, on
// two workers. The heap stays below 200 MB, whatever the side of the scene:
// 6,000 pixels, and 60,000 if INFER_PREP_EPOCH is set, as by make tiles-epoch.
func TestEpoch(t *testing.T) {
	const size, most = 512, 200_000_000
	side := 6_000
	if os.Getenv("INFER_PREP_EPOCH") != "" {
		side = 60_000
	} else {
		t.Log("a scene of 6,000 x 6,000 pixels; make tiles-epoch has one of 60,000 x 60,000")
	}
	p := scene(t, side, 256, false, nil)
	b, err := dataset.Build(t.Context(), dataset.From(tiles.New("a.tif")).Shuffle(), dataset.Options{Store: scenes{"a.tif": p}, Seed: 1})
	require.NoError(t, err)
	defer b.Close()
	run, err := pipeline.New(b, pipeline.Options{Workers: 2}, nil)
	require.NoError(t, err)
	defer run.Close()

	seen := make([]bool, b.Len())
	pixels, peak, start := int64(0), uint64(0), time.Now()
	k := 0
	for s, err := range run.All(t.Context()) {
		require.NoError(t, err)
		w := tensor.View[int32](&s.Column("window").Tensor)
		i := int(w[1])/size*((side+size-1)/size) + int(w[0])/size
		require.False(t, seen[i], "%s comes twice", s.Key)
		seen[i] = true
		pixels += int64(w[2]) * int64(w[3])
		if k%50 == 0 {
			check(t, p, s, size)
		}
		peak = max(peak, heap())
		k++
	}
	require.Equal(t, len(seen), k)
	require.Equal(t, int64(side)*int64(side), pixels)
	require.Less(t, peak, uint64(most))
	used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(used)
	t.Logf("%d x %d x 3: %d windows in %.1f s; the heap's objects have at most %d bytes, Go's memory %d",
		side, side, k, time.Since(start).Seconds(), peak, used[0].Value.Uint64()-used[1].Value.Uint64())
}
