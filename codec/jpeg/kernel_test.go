package jpeg

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUpsample(t *testing.T) {
	src := []byte{0, 100, 101, 255}
	dst := make([]byte, 8)
	upsampleH2V1(dst, src, 4)
	require.Equal(t, []byte{0, 25, 75, 100, 101, 140, 216, 255}, dst)

	// Halves go down at odd places, up at even ones.
	upsampleH2V1(dst[:6], []byte{0, 2, 0}, 3)
	require.Equal(t, []byte{0, 1, 1, 2, 0, 0}, dst[:6])

	near, far := []byte{10, 20, 30}, []byte{20, 20, 10}
	upsampleH1V2(dst[:3], near, far, 3, 1)
	require.Equal(t, []byte{12, 20, 25}, dst[:3])
	upsampleH1V2(dst[:3], near, far, 3, 2)
	require.Equal(t, []byte{13, 20, 25}, dst[:3])

	// Column sums 50, 80, 100; then 3:1 with biases 8 and 7.
	upsampleH2V2(dst[:6], near, far, 3)
	require.Equal(t, []byte{13, 14, 18, 21, 24, 25}, dst[:6])

	upsampleBox(dst[:7], []byte{1, 2, 3}, 3)
	require.Equal(t, []byte{1, 1, 1, 2, 2, 2, 3}, dst[:7])

	// A constant stays constant.
	c := []byte{77, 77, 77, 77}
	upsampleH2V2(dst, c, c, 4)
	require.Equal(t, []byte{77, 77, 77, 77, 77, 77, 77, 77}, dst)
}

func TestHasFF(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		v := r.Uint64()
		want := false
		for i := range 8 {
			want = want || byte(v>>(8*i)) == 0xFF
		}
		require.Equal(t, want, hasFF(v), "%016x", v)
	}
	require.False(t, hasFF(0xFEFEFEFEFEFEFEFE))
	require.True(t, hasFF(0xFF00000000000000))
}
