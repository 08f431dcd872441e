package lazy

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	var table Table[[256]int]
	filled := 0
	fill := func(t *[256]int) {
		filled++
		for i := range t {
			t[i] = i * i
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if table.Get(fill)[255] != 65025 {
				t.Error("read before it was computed")
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, filled)
	require.Zero(t, testing.AllocsPerRun(100, func() { table.Get(fill) }))
}
