package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUpsample(t *testing.T) {
	src := []byte{0, 100, 101, 255}
	dst := make([]byte, 8)
	UpsampleH2V1(dst, src, 4)
	require.Equal(t, []byte{0, 25, 75, 100, 101, 140, 216, 255}, dst)

	// Halves go down at odd places, up at even ones.
	UpsampleH2V1(dst[:6], []byte{0, 2, 0}, 3)
	require.Equal(t, []byte{0, 1, 1, 2, 0, 0}, dst[:6])

	near, far := []byte{10, 20, 30}, []byte{20, 20, 10}
	UpsampleH1V2(dst[:3], near, far, 3, 1)
	require.Equal(t, []byte{12, 20, 25}, dst[:3])
	UpsampleH1V2(dst[:3], near, far, 3, 2)
	require.Equal(t, []byte{13, 20, 25}, dst[:3])

	// Column sums 50, 80, 100; then 3:1 with biases 8 and 7.
	UpsampleH2V2(dst[:6], near, far, 3)
	require.Equal(t, []byte{13, 14, 18, 21, 24, 25}, dst[:6])

	UpsampleBox(dst[:7], []byte{1, 2, 3}, 3)
	require.Equal(t, []byte{1, 1, 1, 2, 2, 2, 3}, dst[:7])

	// A constant stays constant.
	c := []byte{77, 77, 77, 77}
	UpsampleH2V2(dst, c, c, 4)
	require.Equal(t, []byte{77, 77, 77, 77, 77, 77, 77, 77}, dst)
}
