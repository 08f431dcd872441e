package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// blurTaps returns n random weights of the sum 256.
func blurTaps(r *rand.Rand, n int) []uint16 {
	taps := make([]uint16, n)
	rest := 256
	for i := range n / 2 {
		v := r.IntN(rest/2 + 1)
		taps[i], taps[n-1-i] = uint16(v), uint16(v)
		rest -= 2 * v
	}
	taps[n/2] = uint16(rest)
	return taps
}

// wordsIn returns the memory as 16-bit numbers.
func wordsIn(b []uint8) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(&b[0])), len(b)/2)
}

// testCVBlurIn compares with sums of integers.
func testCVBlurIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, taps := range []int{1, 3, 5, 7, 31} {
		for _, n := range []int{1, 4, 31, 32, 33, 64, 99, 132} {
			for step := 1; step <= 4; step++ {
				name := fmt.Sprintf("%d values, %d taps, step %d", n, taps, step)
				k := fenced[uint16](f, 0, taps)
				copy(k, blurTaps(r, taps))
				whole := CVBlurWidth(n)
				row := bytesOf(r, n+(taps-1)*step)
				if r.IntN(3) == 0 {
					for i := range row {
						row[i] = 255
					}
				}
				src := f.bytes(1, 2*(whole+(taps-1)*step))
				bytes := f.bytes(2, len(row))
				copy(bytes, row)
				Widen(wordsIn(src)[:len(row)], bytes)
				dst := f.bytes(3, 2*whole)
				CVBlurRow(dst, src, k, n, step)
				for i := range n {
					want := 0
					for j, w := range k {
						want += int(w) * int(row[i+j*step])
					}
					require.Equal(t, want, int(wordsIn(dst)[i]), "%s: value %d", name, i)
				}
				f.check(t, name)

				at := fenced[int64](f, 4, taps)
				rows := f.bytes(5, 2*taps*whole)
				copy(rows, bytesOf(r, len(rows)))
				for j, v := range wordsIn(rows) {
					wordsIn(rows)[j] = min(v, 255*256)
				}
				for j := range at {
					at[j] = int64(2 * whole * r.IntN(taps))
				}
				out := f.bytes(6, n)
				CVBlurMix(out, rows, f.bytes(7, 2*whole), at, k, n)
				for i := range n {
					want := 0
					for j, w := range k {
						want += int(w) * int(wordsIn(rows)[int(at[j])/2+i])
					}
					require.Equal(t, uint8((want+1<<15)>>16), out[i], "%s: mixed value %d", name, i)
				}
				f.check(t, name)
			}
		}
	}
}

func TestCVBlur(t *testing.T) {
	testCVBlurIn(t, &guard{})
	t.Run("reference", func(t *testing.T) {
		defer cpu.DisableAll()()
		testCVBlurIn(t, &guard{})
	})
}
