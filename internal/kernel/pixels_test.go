package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
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
		w[i] = T(r.Uint64() >> 40) // exact in every floating-point type
	}
	return w
}

func testPixels[T Word](t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(11, 12))
	step := short.Step(t, 3)
	for ch := 1; ch <= 5; ch++ {
		tables := fenced[T](f, 0, ch*256)
		copy(tables, wordsOf[T](r, len(tables)))
		for i := range 107 {
			if i < 100 && i%step != 0 {
				continue
			}
			n := i
			if i >= 100 {
				n = []int{172, 192, 256, 511, 1100, 641, 4099}[i-100] // whole images and long rows
			}
			if n > 4096 {
				if unsafe.Sizeof(tables[0]) > 1 {
					continue
				}
				for v := range tables[:256] {
					tables[v] = T(v&0xF0 ^ 0x5A)
				}
			}
			if i >= 105 {
				for c := 1; c < ch; c++ { // equal tables
					copy(tables[c*256:], tables[:256])
				}
			}
			plane := n + r.IntN(9)
			src := f.bytes(1, n*ch)
			copy(src, bytesOf(r, len(src)))
			size := max((ch-1)*plane+n, 0)
			fill := wordsOf[T](r, size)
			name := fmt.Sprintf("%d channels, %d pixels, %d from plane to plane", ch, n, plane)
			check := func(what string, want, got []T) {
				if !slices.Equal(want, got) { // faster than require.Equal
					require.Equal(t, want, got, "%s, %s", what, name)
				}
				f.check(t, what+", "+name)
			}

			got, want := fenced[T](f, 2, size), append([]T(nil), fill...)
			copy(got, fill)
			LookupCHW(got, plane, src, ch, tables)
			for i, v := range src {
				want[i%ch*plane+i/ch] = tables[i%ch*256+int(v)]
			}
			check("LookupCHW", want, got)

			got, want = fenced[T](f, 2, n*ch), make([]T, n*ch)
			LookupHWC(got, src, ch, tables)
			for i, v := range src {
				want[i] = tables[i%ch*256+int(v)]
			}
			if n > 0 {
				check("LookupHWC", want, got)
			}

			in := fenced[T](f, 3, n*ch)
			copy(in, wordsOf[T](r, len(in)))
			planes, want := fenced[T](f, 2, size), append([]T(nil), fill...)
			copy(planes, fill)
			Deinterleave(planes, plane, in, ch)
			for i, v := range in {
				want[i%ch*plane+i/ch] = v
			}
			check("Deinterleave", want, planes)

			got = fenced[T](f, 4, n*ch)
			Interleave(got, planes, plane, ch)
			check("Interleave", in, got)
		}
	}
}

func testPixelsIn(t *testing.T, f fence) {
	t.Run("uint8", func(t *testing.T) { testPixels[uint8](t, f) })
	t.Run("uint16", func(t *testing.T) { testPixels[uint16](t, f) })
	t.Run("uint32", func(t *testing.T) { testPixels[uint32](t, f) })
	t.Run("float32", func(t *testing.T) { testPixels[float32](t, f) })
	t.Run("uint64", func(t *testing.T) { testPixels[uint64](t, f) })
}

func testFlipIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, size := range []int{1, 2, 3, 4, 5, 6, 8, 12, 16, 24} {
		for n := range 100 {
			src, want := f.bytes(0, n*size), make([]uint8, n*size)
			copy(src, bytesOf(r, len(src)))
			for i, v := range src {
				want[(n-1-i/size)*size+i%size] = v
			}
			got := f.bytes(1, n*size)
			FlipRow(got, src, size)
			require.Equal(t, want, got, "%d pixels of %d bytes", n, size)
			f.check(t, fmt.Sprintf("%d pixels of %d bytes", n, size))
		}
	}
}

func testNormalizeIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(15, 16))
	for ch := 1; ch <= 7; ch++ {
		mean, std := make([]float32, ch), make([]float32, ch)
		for c := range mean {
			mean[c], std[c] = float32(r.NormFloat64()), float32(r.Float64()+0.1)
		}
		for n := 1; n < 100; n++ {
			src, want := fenced[float32](f, 0, n*ch), make([]float32, n*ch)
			for i := range src {
				src[i] = float32(r.NormFloat64())
				want[i] = (src[i] - mean[i%ch]) / std[i%ch]
			}
			got := src
			if n%2 == 0 {
				got = fenced[float32](f, 1, n*ch)
			}
			NormalizeF32(got, src, mean, std)
			require.Equal(t, want, got, "%d channels, %d pixels", ch, n)
			f.check(t, fmt.Sprintf("%d channels, %d pixels", ch, n))
		}
	}
}

func testQuantize[T uint8 | int8 | uint16 | int16](t *testing.T, f fence, lo, hi float64) {
	r := rand.New(rand.NewPCG(17, 18))
	special := []float32{0.5, 1.5, 2.5, -0.5, 254.5, 255.5, 127.5, -128.5, 32767.5, 65535.5, 3e9, -3e9, 1e38, -1e38,
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -131070, 131070, 200001, -200001}
	for ch := 1; ch <= 5; ch++ {
		scale, zero := make([]float32, ch), make([]int32, ch)
		for c := range scale {
			scale[c], zero[c] = 1, int32(lo+float64(r.Float64()*(hi-lo)))
			if r.IntN(2) == 0 {
				scale[c] = float32(r.Float64() + 0.01)
				zero[c] = int32([]float64{lo, hi, 0}[r.IntN(3)])
			}
		}
		for n := 1; n < 100; n++ {
			src, want := fenced[float32](f, 0, n*ch), make([]T, n*ch)
			for i := range src {
				src[i] = float32(r.NormFloat64() * (hi - lo))
				if r.IntN(3) == 0 {
					src[i] = special[r.IntN(len(special))]
				}
				q := src[i] / scale[i%ch]
				if q != q {
					q = 0
				}
				want[i] = T(int32(min(max(math.RoundToEven(float64(q))+float64(zero[i%ch]), lo), hi)))
			}
			got := fenced[T](f, 1, n*ch)
			QuantizeF32(got, src, scale, zero)
			require.Equal(t, want, got, "%d channels, %d pixels", ch, n)
			f.check(t, fmt.Sprintf("%d channels, %d pixels", ch, n))
		}
	}
}

func testQuantizeIn(t *testing.T, f fence) {
	t.Run("uint8", func(t *testing.T) { testQuantize[uint8](t, f, 0, 255) })
	t.Run("int8", func(t *testing.T) { testQuantize[int8](t, f, -128, 127) })
	t.Run("uint16", func(t *testing.T) { testQuantize[uint16](t, f, 0, 65535) })
	t.Run("int16", func(t *testing.T) { testQuantize[int16](t, f, -32768, 32767) })
}

func TestQuantizeF32(t *testing.T) { testQuantizeIn(t, &guard{}) }
func TestPixels(t *testing.T)      { testPixelsIn(t, &guard{}) }
func TestFlipRow(t *testing.T) {
	levels(t, func(t *testing.T) { testFlipIn(t, &guard{}) })
}
func TestNormalizeF32(t *testing.T) { testNormalizeIn(t, &guard{}) }

// TestNoChannels checks that an image without channels is a no-op.
func TestNoChannels(t *testing.T) {
	var b []uint8
	var f []float32
	require.NotPanics(t, func() {
		LookupCHW(b, 5, b, 0, b)
		LookupHWC(b, b, 0, b)
		Deinterleave(b, 5, b, 0)
		Interleave(b, b, 5, 0)
		FlipRow(b, b, 0)
		NormalizeF32(f, f, f, f)
		QuantizeF32(b, f, f, nil)
	})
}

// TestPixelsReference runs the same tests without assembly.
func TestPixelsReference(t *testing.T) {
	needsVectors(t)
	if short.On() {
		t.Skip("short: platforms without vectors test Go's code")
	}
	defer cpu.DisableAll()()
	testPixelsIn(t, &guard{})
	testFlipIn(t, &guard{})
	testNormalizeIn(t, &guard{})
	testQuantizeIn(t, &guard{})
}

// TestPixelsNarrow runs tests without the widest vectors.
func TestPixelsNarrow(t *testing.T) {
	if !cpu.Has(cpu.VBMI) {
		t.Skip("without VBMI, TestPixels checks the same")
	}
	defer cpu.Disable(cpu.VBMI)()
	testPixelsIn(t, &guard{})
	testRearrangeIn(t, &guard{})
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
	q8, q16 := make([]uint8, 3*n), make([]int16, 3*n)
	scale, zero := []float32{.1, .2, .3}, []int32{1, 2, 3}
	run("quantize8", func() { QuantizeF32(q8, make32, scale, zero) })
	run("quantize16", func() { QuantizeF32(q16, make32, scale, zero) })
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
