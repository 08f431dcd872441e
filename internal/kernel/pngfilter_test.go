package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
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

// pngRow returns a row's bytes before its filter, by the specification.
func pngRow(src, prev []byte, filter byte, bpp int) []byte {
	want := make([]byte, len(src))
	for i := range want {
		a, b, c := 0, int(prev[i]), 0
		if i >= bpp {
			a, c = int(want[i-bpp]), int(prev[i-bpp])
		}
		want[i] = src[i] + byte([]int{0, a, b, (a + b) / 2, plainPaeth(a, b, c)}[filter])
	}
	return want
}

func testPNGUnfilterIn(t *testing.T, f fence) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, bpp := range []int{1, 2, 3, 4, 6, 8} {
		for n := bpp; n < 150; n += bpp {
			for filter := range uint8(5) {
				src, prev, got := f.bytes(0, n), f.bytes(1, n), f.bytes(2, n)
				most := []uint32{256, 3, 40}[n%3]
				for i := range src {
					src[i], prev[i] = byte(rnd.Uint32N(most)), byte(128+rnd.Uint32N(most))
				}
				want := pngRow(src, prev, filter, bpp)
				require.True(t, PNGUnfilter(got, src, prev, filter, bpp))
				require.Equal(t, want, append([]byte{}, got...), "bpp %d, filter %d", bpp, filter)
				f.check(t, "unfiltered")
				if filter == 1 {
					AddLeft(src, bpp)
					require.Equal(t, want, append([]byte{}, src...), "in place, bpp %d", bpp)
					f.check(t, "added")
				}
			}
		}
	}
	require.False(t, PNGUnfilter(nil, nil, nil, 5, 1))
}

// TestPNGUnfilter compares all filters, sizes of pixels and short rows with the
// specification, byte by byte.
func TestPNGUnfilter(t *testing.T) {
	levels(t, func(t *testing.T) { testPNGUnfilterIn(t, &guard{}) })
}

// TestPNGPaethPixels compares the filter of four pixels with many samples at
// the left, above, and above to the left.
func TestPNGPaethPixels(t *testing.T) {
	if row := make([]byte, 64); pngPaeth(row, row, row, 3) == 0 {
		t.Skip("no vector instructions here; TestPaeth tests the predictor")
	}
	step := short.Step(t, 5)
	for _, bpp := range []int{3, 4} {
		src, prev, got := make([]byte, 8*bpp), make([]byte, 8*bpp), make([]byte, 8*bpp)
		for c := 0; c < 256; c += step {
			for b := range 256 {
				for a := b % 3; a < 256; a += 3 * bpp {
					for i := range bpp {
						prev[bpp+i], prev[2*bpp+i] = byte(c), byte(b)
						src[bpp+i] = byte(a + 3*i - c) // the predictor is c
					}
					PNGUnfilter(got, src, prev, 4, bpp)
					for i := range bpp {
						left := uint8(a + 3*i)
						if got[bpp+i] != left || int(got[2*bpp+i]) != plainPaeth(int(left), b, c) {
							t.Fatal(bpp, left, b, c, got)
						}
					}
				}
			}
		}
	}
}
