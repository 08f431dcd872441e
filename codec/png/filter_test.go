package png

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainPaeth is the specification's predictor.
func plainPaeth(a, b, c int) int {
	abs := func(v int) int { return max(v, -v) }
	p := a + b - c
	pa, pb, pc := abs(p-a), abs(p-b), abs(p-c)
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

func TestPaeth(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for c := range 256 {
				if paeth(a, b, c) != plainPaeth(a, b, c) {
					t.Fatal(a, b, c)
				}
			}
		}
	}
}

// TestUnfilter compares all filters, sizes of pixels and short rows with the
// specification, byte by byte.
func TestUnfilter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, bpp := range []int{1, 2, 3, 4, 6, 8} {
		for n := bpp; n < 70; n += bpp {
			for filter := range uint8(5) {
				src, prev := make([]byte, n), make([]byte, n)
				for i := range src {
					src[i], prev[i] = byte(rnd.Uint32()), byte(rnd.Uint32())
				}
				want := make([]byte, n)
				for i := range want {
					a, b, c := 0, int(prev[i]), 0
					if i >= bpp {
						a, c = int(want[i-bpp]), int(prev[i-bpp])
					}
					want[i] = src[i] + byte([]int{0, a, b, (a + b) / 2, plainPaeth(a, b, c)}[filter])
				}
				got := bytes.Repeat([]byte{0xA5}, n+8)
				require.True(t, unfilter(got[:n], src, prev, filter, bpp))
				require.Equal(t, want, got[:n], "bpp %d, filter %d", bpp, filter)
				require.Equal(t, bytes.Repeat([]byte{0xA5}, 8), got[n:])
			}
		}
	}
	require.False(t, unfilter(nil, nil, nil, 5, 1))
}
