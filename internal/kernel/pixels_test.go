package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func bytesOf(r *rand.Rand, n int) []uint8 {
	b := make([]uint8, n)
	for i := range b {
		b[i] = uint8(r.Uint32())
	}
	return b
}

func wordsOf[T Word](r *rand.Rand, n int) []T {
	w := make([]T, n)
	for i := range w {
		w[i] = T(r.Uint64() >> 40) // any float holds it
	}
	return w
}

func testPixels[T Word](t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const guard = 24
	for ch := 1; ch <= 5; ch++ {
		tables := wordsOf[T](r, ch*256)
		for n := range 131 {
			off := r.IntN(17)
			plane := n + r.IntN(9)
			src := bytesOf(r, off+n*ch)[off:]
			fill := wordsOf[T](r, off+ch*plane+n+guard)
			got, want := append([]T(nil), fill...), append([]T(nil), fill...)
			name := fmt.Sprintf("%d channels, %d pixels", ch, n)

			LookupCHW(got[off:], plane, src, ch, tables)
			for i, v := range src {
				want[off+i%ch*plane+i/ch] = tables[i%ch*256+int(v)]
			}
			require.Equal(t, want, got, "LookupCHW, %s", name)

			got, want = append(got[:0], fill...), append(want[:0], fill...)
			LookupHWC(got[off:], src, ch, tables)
			for i, v := range src {
				want[off+i] = tables[i%ch*256+int(v)]
			}
			require.Equal(t, want, got, "LookupHWC, %s", name)

			in := wordsOf[T](r, off+n*ch)[off:]
			got, want = append(got[:0], fill...), append(want[:0], fill...)
			Deinterleave(got[off:], plane, in, ch)
			for i, v := range in {
				want[off+i%ch*plane+i/ch] = v
			}
			require.Equal(t, want, got, "Deinterleave, %s", name)

			planes := append([]T(nil), got[off:]...)
			got, want = append(got[:0], fill...), append(want[:0], fill...)
			Interleave(got[off:][:n*ch], planes, plane, ch)
			copy(want[off:], in)
			require.Equal(t, want, got, "Interleave, %s", name)
		}
	}
}

func TestPixels(t *testing.T) {
	t.Run("uint8", testPixels[uint8])
	t.Run("uint16", testPixels[uint16])
	t.Run("uint32", testPixels[uint32])
	t.Run("float32", testPixels[float32])
	t.Run("uint64", testPixels[uint64])
}

func TestFlipRow(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, size := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24} {
		for n := range 131 {
			off := r.IntN(17)
			src := bytesOf(r, off+n*size)[off:]
			got := bytesOf(r, off+n*size+40)
			want := append([]uint8(nil), got...)
			FlipRow(got[off:][:n*size], src, size)
			for i, v := range src {
				want[off+(n-1-i/size)*size+i%size] = v
			}
			require.Equal(t, want, got, "%d pixels of %d bytes", n, size)
		}
	}
}

func TestNormalizeF32(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for ch := 1; ch <= 7; ch++ {
		mean, std := make([]float32, ch), make([]float32, ch)
		for c := range mean {
			mean[c], std[c] = float32(r.NormFloat64()), float32(r.Float64()+0.1)
		}
		for n := range 131 {
			off := r.IntN(9)
			got := make([]float32, off+n*ch+24)
			for i := range got {
				got[i] = float32(r.NormFloat64())
			}
			want := append([]float32(nil), got...)
			for i, v := range want[off:][:n*ch] {
				want[off+i] = (v - mean[i%ch]) / std[i%ch]
			}
			src := append([]float32(nil), got[off:][:n*ch]...)
			in := got[off:][:n*ch]
			if n%2 == 0 {
				in = src
			}
			NormalizeF32(got[off:][:n*ch], in, mean, std)
			require.Equal(t, want, got, "%d channels, %d pixels", ch, n)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 224 * 224
	src := bytesOf(r, 3*n)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
	t32, d32 := wordsOf[uint32](r, 768), make([]uint32, 3*n)
	t16, d16 := wordsOf[uint16](r, 768), make([]uint16, 3*n)
	t8, d8 := wordsOf[uint8](r, 768), make([]uint8, 3*n)
	mean, std, f32 := []float32{.485, .456, .406}, []float32{.229, .224, .225}, make([]float32, 3*n)
	run("chw32", func() { LookupCHW(d32, n, src, 3, t32) })
	run("hwc32", func() { LookupHWC(d32, src, 3, t32) })
	run("one32", func() { LookupHWC(d32, src, 1, t32) })
	run("chw16", func() { LookupCHW(d16, n, src, 3, t16) })
	run("hwc16", func() { LookupHWC(d16, src, 3, t16) })
	run("chw8", func() { LookupCHW(d8, n, src, 3, t8) })
	run("hwc8", func() { LookupHWC(d8, src, 3, t8) })
	run("deinterleave8x3", func() { Deinterleave(d8, n, src, 3) })
	run("deinterleave8x4", func() { Deinterleave(d8, 3*n/4, src, 4) })
	run("interleave8x3", func() { Interleave(d8, src, n, 3) })
	run("interleave8x4", func() { Interleave(d8, src, 3*n/4, 4) })
	run("deinterleave32x3", func() { Deinterleave(f32, n, make32, 3) })
	run("interleave32x3", func() { Interleave(f32, make32, n, 3) })
	run("flip1", func() { flipRows(d8, src, 224*3, 1) })
	run("flip3", func() { flipRows(d8, src, 224*3, 3) })
	run("flip4", func() { flipRows(d8, src, 224*3, 4) })
	run("flip12", func() { flipRows(d8, src, 224*12, 12) })
	run("normalize1", func() { NormalizeF32(f32, make32, mean[:1], std[:1]) })
	run("normalize3", func() { NormalizeF32(f32, make32, mean, std) })
}

var make32 = make([]float32, 3*224*224)

func flipRows(dst, src []uint8, line, size int) {
	for len(src) >= line {
		FlipRow(dst[:line], src[:line], size)
		dst, src = dst[line:], src[line:]
	}
}
