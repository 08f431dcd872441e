package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// zigzag is T.81 figure 5: the position in natural order of each zigzag index.
var zigzag = func() (z [64]int) {
	u, v := 0, 0
	for i := range z {
		z[i] = v*8 + u
		switch {
		case (u+v)%2 == 0 && u == 7:
			v++
		case (u+v)%2 == 0 && v == 0:
			u++
		case (u+v)%2 == 0:
			u, v = u+1, v-1
		case v == 7:
			u++
		case u == 0:
			v++
		default:
			u, v = u-1, v+1
		}
	}
	return z
}()

// Kinds of values in a test's blocks.
const (
	photoValues = iota
	anyValues
	extremeValues
	kinds
)

// randomBlock fills a block up to zigzag index last.
func randomBlock(r *rand.Rand, b *[64]int16, last, kind int) {
	for i := range last + 1 {
		k := zigzag[i]
		switch kind {
		case photoValues:
			b[k] = int16(r.IntN(41) - 20)
		case anyValues:
			b[k] = int16(r.Uint32())
		default:
			b[k] = []int16{math.MinInt16, math.MaxInt16, -1, 1, 0, 8191, 8192, -8192, -8193}[r.IntN(9)]
		}
	}
}

// randomTable fills a quantization table with values up to 65535.
func randomTable(r *rand.Rand, q *[64]int16, kind int) {
	for i := range q {
		switch kind {
		case photoValues:
			q[i] = int16(1 + r.IntN(99))
		case anyValues:
			q[i] = int16(r.Uint32())
		default:
			q[i] = []int16{-1, math.MinInt16, math.MaxInt16, 1, 2}[r.IntN(5)]
		}
	}
}

// lasts holds last indices with their own code path, and their neighbours.
var lasts = []int{0, 0, 1, 2, 5, 8, 9, 9, 10, 11, 20, 35, 36, 62, 63}

type rowFunc func(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8)

// testRow compares f, whose output blocks are size samples wide and high, with
// block for single blocks and with f without assembly, in rows of up to 64.
func testRow(t *testing.T, size int, f rowFunc, block func(dst []byte, stride int, coef, quant *[64]int16)) {
	r := rand.New(rand.NewPCG(1, 9))
	for round := range short.Rounds(t, 3000, 650) {
		n := round % 65
		off, stride := r.IntN(33), size*n+r.IntN(40)
		blocks, last := make([][64]int16, n), make([]uint8, n)
		var quant [64]int16
		randomTable(r, &quant, r.IntN(kinds))
		for i := range blocks {
			l, kind := lasts[r.IntN(len(lasts))], r.IntN(kinds)
			switch round % 5 {
			case 0:
				l = lasts[round/5%len(lasts)]
			case 1:
				l, kind = 10+r.IntN(54), photoValues
			}
			if l > 0 && r.IntN(6) == 0 {
				// Only the first row is nonzero.
				for k := range 8 {
					randomBlock(r, &blocks[i], 0, kind)
					blocks[i][0], blocks[i][k] = blocks[i][k], blocks[i][0]
				}
				l = 28
			} else {
				randomBlock(r, &blocks[i], l, kind)
			}
			last[i] = uint8(l)
			if l > 0 && r.IntN(8) == 0 {
				last[i] = uint8(l + r.IntN(256-l)) // a larger index is allowed
			}
		}
		got := make([]byte, off+size*stride+40)
		for i := range got {
			got[i] = byte(i * 7)
		}
		want, avx2, plain := append([]byte(nil), got...), append([]byte(nil), got...), append([]byte(nil), got...)
		f(got[off:][:max(0, (size-1)*stride+size*n)], stride, blocks, &quant, last)
		for i := range blocks {
			block(want[off+size*i:], stride, &blocks[i], &quant)
		}
		restore512 := cpu.Disable(cpu.AVX512)
		f(avx2[off:], stride, blocks, &quant, last)
		restore := cpu.DisableAll()
		f(plain[off:], stride, blocks, &quant, last)
		restore()
		restore512()
		for _, v := range []struct {
			name string
			b    []byte
		}{{"row", got}, {"row without AVX-512", avx2}, {"row without assembly", plain}} {
			for i := range want {
				if want[i] != v.b[i] {
					y, x := 0, i-off
					if i > off {
						y, x = (i-off)/stride, (i-off)%stride
					}
					t.Fatalf("%s, round %d, %d blocks, at (%d, %d), block %d with last %v: got %d, want %d",
						v.name, round, n, x, y, x/size, last[min(max(x/size, 0), n-1)], v.b[i], want[i])
				}
			}
		}
	}
}

func TestIDCTRow(t *testing.T)  { testRow(t, 8, IDCTRow, IDCT) }
func TestIDCTRow4(t *testing.T) { testRow(t, 4, IDCTRow4, IDCT4) }
func TestIDCTRow2(t *testing.T) { testRow(t, 2, IDCTRow2, IDCT2) }
func TestIDCTRow1(t *testing.T) { testRow(t, 1, IDCTRow1, IDCT1) }

// TestIDCTRowPaired compares blocks in paired order with IDCT.
func TestIDCTRowPaired(t *testing.T) {
	testRow(t, 8, func(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) {
		b, q := make([][64]int16, len(blocks)), [64]int16{}
		for k := range uint(64) {
			from, to := NaturalPlaces.At(k+1), PairedPlaces.At(k+1)
			for i := range b {
				b[i][to] = blocks[i][from]
			}
			q[to] = quant[from]
		}
		IDCTRowPaired(dst, stride, b, &q, last)
		require.Equal(t, make([][64]int16, len(b)), b)
	}, IDCT)
}

// TestRowLengths checks that slices that are too short are rejected before
// anything is written.
func TestRowLengths(t *testing.T) {
	blocks, last := make([][64]int16, 3), []uint8{0, 0, 0}
	var quant [64]int16
	for size, f := range map[int]rowFunc{8: IDCTRow, -8: IDCTRowPaired, 4: IDCTRow4, 2: IDCTRow2} {
		size = max(size, -size)
		whole := (size-1)*100 + 3*size
		f(make([]byte, whole), 100, blocks, &quant, last)
		f(nil, 100, nil, &quant, nil)
		require.Panics(t, func() { f(make([]byte, whole-1), 100, blocks, &quant, last) })
		require.Panics(t, func() { f(make([]byte, whole), 100, blocks, &quant, last[:2]) })
		require.Panics(t, func() { f(make([]byte, whole), -1, blocks, &quant, last) })
		require.Panics(t, func() { f(make([]byte, whole), math.MaxInt/7+1, blocks, &quant, last) })
	}
}

func benchRow(b *testing.B, size int, f rowFunc) {
	r := rand.New(rand.NewPCG(1, 9))
	const n = 48
	dst := make([]byte, size*size*n)
	var quant [64]int16
	randomTable(r, &quant, photoValues)
	for _, v := range []int{0, 9, 63} {
		b.Run(fmt.Sprint("last=", v), func(b *testing.B) {
			blocks, last := make([][64]int16, n), make([]uint8, n)
			for i := range blocks {
				randomBlock(r, &blocks[i], v, photoValues)
				last[i] = uint8(v)
			}
			for b.Loop() {
				f(dst, size*n, blocks, &quant, last)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/block")
		})
	}
}

func BenchmarkIDCTRow(b *testing.B) { benchRow(b, 8, IDCTRow) }
func BenchmarkIDCTRowWithoutAVX512(b *testing.B) {
	defer cpu.Disable(cpu.AVX512)()
	benchRow(b, 8, IDCTRow)
}
func BenchmarkIDCTRowPaired(b *testing.B) { benchRow(b, 8, IDCTRowPaired) }
func BenchmarkIDCTRow4(b *testing.B)      { benchRow(b, 4, IDCTRow4) }
func BenchmarkIDCTRow2(b *testing.B)      { benchRow(b, 2, IDCTRow2) }
func BenchmarkIDCTRow1(b *testing.B)      { benchRow(b, 1, IDCTRow1) }
