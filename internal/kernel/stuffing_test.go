package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStuffing compares FindMarker and Unstuff with a loop over the bytes, for
// every length up to some blocks and for data with few and many bytes 0xFF.
func TestStuffing(t *testing.T) {
	require.Equal(t, -1, FindMarker([]byte{1, 0xFF, 0, 0xFF}))
	require.Equal(t, 2, FindMarker([]byte{0xFF, 0, 0xFF, 0xD9}))
	r := rand.New(rand.NewPCG(1, 9))
	for n := range 300 {
		for _, rare := range []int{2, 10, 100} {
			raw := make([]byte, n)
			for i := range raw {
				if raw[i] = byte(r.Uint32()); r.IntN(rare) == 0 {
					raw[i] = 0xFF
				}
			}
			stuffed := bytes.ReplaceAll(raw, []byte{0xFF}, []byte{0xFF, 0})
			dst := make([]byte, len(stuffed)+8)
			require.Equal(t, n, Unstuff(dst, stuffed))
			require.Equal(t, raw, dst[:n])
			require.Equal(t, make([]byte, 8), dst[len(stuffed):], "bytes after the length of src")

			require.Equal(t, -1, FindMarker(stuffed))
			if len(stuffed) > 1 {
				at := r.IntN(len(stuffed) - 1)
				stuffed[at], stuffed[at+1] = 0xFF, 0xD0
				want := at
				if at > 0 && stuffed[at-1] == 0xFF {
					want-- // the byte was a stuffed zero
				}
				require.Equal(t, want, FindMarker(stuffed))
			}
		}
	}
}
