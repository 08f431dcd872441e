package gpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/kernel"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestSums checks that the kernels' sums fit 32 bits, as axis.load states.
func TestSums(t *testing.T) {
	most := int64(0)
	for f, k := range filters {
		for _, n := range [][2]int{{1, 7}, {7, 1}, {640, 224}, {224, 640}, {1000, 999}, {999, 1000}, {5000, 3}, {3, 5000}, {97, 31}} {
			var taps kernel.Taps
			taps.Pillow(n[0], n[1], 0, n[1], k, false)
			for i := range n[1] {
				up, down := int64(1<<21), int64(0)
				for _, w := range taps.W32[i*taps.K:][:taps.Len[i]] {
					up += 255 * max(int64(w), 0)
					down += 255 * min(int64(w), 0)
				}
				most = max(most, up, -down)
				require.Less(t, up, int64(1<<31), "%v %v output %d", f, n, i)
				require.Greater(t, down, -int64(1<<31), "%v %v output %d", f, n, i)
			}
		}
	}
	t.Logf("the largest sum is %.2f of 2^31", float64(most)/(1<<31))
}
