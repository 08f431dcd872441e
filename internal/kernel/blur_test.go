package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/short"
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
				for i := range wordsIn(src)[len(row):] {
					wordsIn(src)[len(row)+i] = 255 // the most that is allowed
				}
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

// testTorchBlurIn compares with sums of one value at a time.
func testTorchBlurIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, size := range [][2]int{{1, 1}, {1, 5}, {3, 1}, {3, 3}, {5, 7}} {
		for _, n := range []int{1, 63, 64, 65, 130, 192} {
			for step := 1; step <= 4; step++ {
				h, w := size[0], size[1]
				name := fmt.Sprintf("%d values, %d x %d taps, step %d", n, h, w, step)
				slot := n + (w-1)*step
				rows := fenced[float32](f, 0, h*slot)
				bytes := f.bytes(1, h*slot)
				copy(bytes, bytesOf(r, len(bytes)))
				Floats(rows, bytes)
				for i, v := range bytes {
					require.Equal(t, float32(v), rows[i])
				}
				taps, at := fenced[float32](f, 2, h*w), fenced[int64](f, 3, h)
				for i := range taps {
					taps[i] = float32(r.NormFloat64())
				}
				for i := range at {
					at[i] = int64(slot * r.IntN(h))
				}
				for _, fused := range []bool{false, true} {
					want := make([]float32, n)
					for i := range want {
						for j, k := range taps {
							v := rows[int(at[j/w])+i+j%w*step]
							switch {
							case j == 0:
								want[i] = v * k
							case fused:
								want[i] = exactmath.Add32(float64(float64(v)*float64(k)), want[i])
							default:
								want[i] += float32(v * k)
							}
						}
					}
					got := fenced[float32](f, 4, n)
					TorchBlurRow(got, rows, at, taps, w, step, fused)
					require.Equal(t, want, got, name)
					f.check(t, name)
				}
			}
		}
	}
}

func testBlurIn(t *testing.T, f fence) {
	testCVBlurIn(t, f)
	testTorchBlurIn(t, f)
}

func TestBlur(t *testing.T) {
	testBlurIn(t, &guard{})
	if !cpu.Any() || short.On() {
		return // they were Go's, or other platforms test those
	}
	t.Run("reference", func(t *testing.T) {
		defer cpu.DisableAll()()
		testBlurIn(t, &guard{})
	})
}
