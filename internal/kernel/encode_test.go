package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// fencedBlocks returns n blocks of the memory.
func fencedBlocks(f fence, place, n int) [][64]int16 {
	return unsafe.Slice((*[64]int16)(unsafe.Pointer(&f.bytes(place, 128*n)[0])), n)
}

func TestFDCTRow(t *testing.T) { testFDCTIn(t, &guard{}) }

func testFDCTIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(21, 1))
	var d Divisors
	for round := range 600 {
		var quant [64]uint8
		for i := range quant {
			switch round % 4 {
			case 0:
				quant[i] = 1
			case 1:
				quant[i] = uint8(1 + r.IntN(255))
			default:
				quant[i] = uint8(1 + r.IntN(20))
			}
		}
		d.Set(&quant)
		n := 1 + r.IntN(9)
		stride := 8*n + r.IntN(2)*r.IntN(20)
		src := f.bytes(0, 7*stride+8*n)
		kind := r.IntN(5)
		for i := range src {
			v := byte(r.Uint32())
			switch kind {
			case 0: // extremes
				v = byte(-(int(v) & 1))
			case 1: // one extreme
				v = 255 * byte(round&1)
			case 2: // smooth
				v = byte(i*3) + v%4
			case 3: // the signs of a coefficient, which becomes large
				y, x := i/stride, i%stride
				if math.Cos(float64(2*x+1)*float64(round%8)*math.Pi/16)*math.Cos(float64(2*y+1)*float64(round/8%8)*math.Pi/16) < 0 {
					v = 0
				} else {
					v = 255
				}
			}
			src[i] = v
		}
		blocks, masks := fencedBlocks(f, 1, n), fenced[uint64](f, 2, n)
		FDCTRow(blocks, masks, src, stride, &d)
		f.check(t, "FDCTRow")
		want, wantMasks := make([][64]int16, n), make([]uint64, n)
		restore := cpu.DisableAll()
		FDCTRow(want, wantMasks, src, stride, &d)
		restore()
		require.Equal(t, want, blocks, "round %d, %d blocks", round, n)
		require.Equal(t, wantMasks, masks)
	}
	// Slices that are too short.
	blocks, masks := make([][64]int16, 3), make([]uint64, 3)
	require.Panics(t, func() { FDCTRow(blocks, masks, make([]byte, 7*30+23), 30, &d) })
	require.Panics(t, func() { FDCTRow(blocks, masks[:2:2], make([]byte, 7*30+24), 30, &d) })
	require.Panics(t, func() { FDCTRow(blocks, masks, make([]byte, 7*30+24), -1, &d) })
	require.Panics(t, func() { FDCTRow(blocks, masks, make([]byte, 7*30+24), math.MaxInt/7+1, &d) })
	FDCTRow(nil, nil, nil, 8, &d)
}

func TestRGBToYCCRows(t *testing.T) { testRGBToYCCIn(t, &guard{}) }

func testRGBToYCCIn(t *testing.T, f fence) {
	check := func(n int, fill func(i int) byte) {
		rgb := f.bytes(0, 3*n)
		for i := range rgb {
			rgb[i] = fill(i)
		}
		y, cb, cr := f.bytes(1, n), f.bytes(2, n), f.bytes(3, n)
		RGBToYCC(y, cb, cr, rgb)
		f.check(t, "RGBToYCC")
		wy, wb, wr := make([]byte, n), make([]byte, n), make([]byte, n)
		restore := cpu.DisableAll()
		RGBToYCC(wy, wb, wr, rgb)
		restore()
		require.True(t, string(wy) == string(y) && string(wb) == string(cb) && string(wr) == string(cr), "%d pixels", n)
	}
	r := rand.New(rand.NewPCG(22, 1))
	for n := range 150 {
		check(n, func(int) byte { return byte(r.Uint32()) })
		check(n, func(int) byte { return byte(-(r.Int32() & 1)) })
	}
	// Every red and green with some of the blues.
	for red := range 256 {
		check(256*5, func(i int) byte {
			switch i % 3 {
			case 0:
				return byte(red)
			case 1:
				return byte(i / 3)
			}
			return byte(i/(3*256)*64 - 1 + red*5)
		})
	}
}

func TestDownsampleRows(t *testing.T) { testDownsampleIn(t, &guard{}) }

func testDownsampleIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(23, 1))
	for n := range 100 {
		a, b := f.bytes(0, 2*n), f.bytes(1, 2*n)
		for i := range a {
			a[i], b[i] = byte(r.Uint32()), byte(r.Uint32())
			if n%3 == 0 {
				a[i], b[i] = 255*(a[i]&1), 255*(b[i]&1)
			}
		}
		v1, v2 := f.bytes(2, n), f.bytes(3, n)
		DownsampleH2V1(v1, a)
		DownsampleH2V2(v2, a, b)
		f.check(t, "Downsample")
		w1, w2 := make([]byte, n), make([]byte, n)
		restore := cpu.DisableAll()
		DownsampleH2V1(w1, a)
		DownsampleH2V2(w2, a, b)
		restore()
		require.Equal(t, w1, v1)
		require.Equal(t, w2, v2)
	}
}

func TestHuffRow(t *testing.T) { testHuffRowIn(t, &guard{}) }

func testHuffRowIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(24, 1))
	var codes HuffCodes
	var vals, dcVals [256]uint8
	for i, v := range r.Perm(256) {
		vals[i] = uint8(v)
	}
	for i, v := range r.Perm(12) {
		dcVals[i] = uint8(v)
	}
	codes.Build(0, &[17]uint8{5: 12}, &dcVals)
	codes.Build(1, &[17]uint8{1: 1, 16: 11}, &dcVals)
	codes.Build(2, &[17]uint8{2: 1, 3: 1, 4: 1, 10: 253}, &vals)
	codes.Build(3, &[17]uint8{16: 255}, &vals)
	// Symbol 255 of the last table has no code; it is not used.
	for i := range vals {
		if vals[i] == 0xFF {
			vals[i], vals[255] = vals[255], 0xFF
		}
	}
	codes.Build(2, &[17]uint8{2: 1, 3: 1, 4: 1, 10: 252}, &vals)
	codes.Build(3, &[17]uint8{16: 255}, &vals)
	for round := range 300 {
		mcus := 1 + r.IntN(6)
		steps := [][]int{{1}, {1, 1, 1}, {2, 2, 2, 2, 1, 1}, {2, 2, 1, 1}}[r.IntN(4)]
		w := &HuffWriter{Codes: &codes, MCU: len(steps), X: r.IntN(mcus), Limit: mcus}
		density := r.IntN(65)
		for i, step := range steps {
			n := (mcus-1)*step + 1
			blocks, masks := make([][64]int16, n), make([]uint64, n)
			for j := range blocks {
				blocks[j][0] = int16(r.IntN(2048) - 1024)
				for k := range 64 {
					if k > 0 && r.IntN(64) < density {
						v := int16(r.IntN(1<<r.IntN(11)) + 1)
						if r.IntN(2) == 0 {
							v = -v
						}
						blocks[j][NaturalOrder[k]] = max(min(v, 1023), -1023)
					}
					if blocks[j][NaturalOrder[k]] != 0 {
						masks[j] |= 1 << k
					}
				}
				if round%5 == 0 { // a long run of zeros
					last := blocks[j][63]
					blocks[j] = [64]int16{1, 63: last}
					masks[j] &= 1 << 63
				}
			}
			w.From[i] = HuffSource{Blocks: blocks, Masks: masks, Step: step, Comp: min(i/max(1, len(steps)-2), 2), Table: r.IntN(2)}
		}
		w.Buf = f.bytes(0, len(steps)*HuffBlockSpace*(1+r.IntN(mcus))+r.IntN(20))
		w.Put(uint32(r.IntN(8)), uint(r.IntN(8)))
		plain := *w
		plain.Buf = append([]byte(nil), w.Buf...)
		var out, want []byte
		run := func(w *HuffWriter) (b []byte) {
			for w.X < w.Limit {
				w.Row()
				b = append(b, w.Buf[:w.N]...)
				w.N = 0
			}
			w.Pad()
			return append(b, w.Buf[:w.N]...)
		}
		out = run(w)
		f.check(t, "HuffWriter.Row")
		restore := cpu.DisableAll()
		want = run(&plain)
		restore()
		require.Equal(t, want, out, "round %d, %d MCUs of %v", round, mcus, steps)
		require.Equal(t, plain.Pred, w.Pred)
	}
}

func BenchmarkEncodeKernels(b *testing.B) {
	r := rand.New(rand.NewPCG(25, 1))
	const n = 64
	src := make([]byte, 3*512*n)
	for i := range src {
		src[i] = byte(i) + byte(r.IntN(8))
	}
	var quant [64]uint8
	for i := range quant {
		quant[i] = uint8(8 + i)
	}
	d := new(Divisors)
	d.Set(&quant)
	blocks, masks := make([][64]int16, n), make([]uint64, n)
	b.Run("fdct", func(b *testing.B) {
		for b.Loop() {
			FDCTRow(blocks, masks, src, 8*n, d)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/block")
	})
	y := make([]byte, 3*512)
	b.Run("ycc", func(b *testing.B) {
		for b.Loop() {
			RGBToYCC(y[:512], y[512:1024], y[1024:], src[:3*512])
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/pixel")
	})
	b.Run("h2v2", func(b *testing.B) {
		for b.Loop() {
			DownsampleH2V2(y[:512], src[:1024], src[1024:2048])
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/sample")
	})
}
