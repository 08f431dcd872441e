package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func testLookupRGBIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(41, 42))
	for n := range 75 {
		var table [256][4]uint8
		for i := range table {
			copy(table[i][:3], bytesOf(r, 3))
		}
		src, got, want := fencedBytes(f, r, 0, n), f.bytes(1, 3*n), make([]uint8, 0, 3*n)
		for _, v := range src {
			want = append(want, table[v][:3]...)
		}
		LookupRGB(got, src, &table)
		require.Equal(t, want, append(make([]uint8, 0, 3*n), got...), "%d pixels", n)
		f.check(t, "looked up")
	}
}

func TestLookupRGB(t *testing.T) {
	levels(t, func(t *testing.T) { testLookupRGBIn(t, &guard{}) })
}
