package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDivisors checks every divisor with every value that a DCT of 8-bit
// samples has, and all others of 16 bits whose sum does not overflow.
func TestDivisors(t *testing.T) {
	for q := 1; q <= 255; q++ {
		var quant [64]uint8
		for i := range quant {
			quant[i] = uint8(q)
		}
		d := new(Divisors)
		d.Set(&quant)
		for v := range uint32(1<<16 - 4*255 - 1) {
			got := (v + uint32(d.add[0])) * uint32(d.recip[0]) >> 16 * uint32(d.scale[0]) >> 16
			if want := (v + 4*uint32(q)) / (8 * uint32(q)); got != want {
				t.Fatalf("%d / 8*%d = %d, want %d", v, q, got, want)
			}
		}
	}
}

func TestZigzag(t *testing.T) {
	require.Equal(t, [16]uint8{0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5}, [16]uint8(NaturalOrder[:16]))
	require.Equal(t, [8]uint8{53, 60, 61, 54, 47, 55, 62, 63}, [8]uint8(NaturalOrder[56:]))
	for i := range 64 {
		require.EqualValues(t, i, NaturalOrder[zigzagOf[i]])
	}
}

// TestFDCTInverse compares with the inverse transform: with divisors of 1, no
// sample differs by more than 1.
func TestFDCTInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var ones [64]uint8
	var quant [64]int16
	for i := range ones {
		ones[i], quant[i] = 1, 1
	}
	d := new(Divisors)
	d.Set(&ones)
	for round := range 500 {
		src := make([]byte, 64)
		for i := range src {
			src[i] = byte(r.Uint32())
			if round%3 == 0 {
				src[i] = byte(-(int(src[i]) & 1))
			}
		}
		var b [1][64]int16
		var mask [1]uint64
		FDCTRow(b[:], mask[:], src, 8, d)
		for k, at := range NaturalOrder[:64] {
			require.Equal(t, b[0][at] != 0, mask[0]>>k&1 == 1)
		}
		got := make([]byte, 64)
		IDCTRow(got, 8, b[:], &quant, []uint8{63})
		for i := range src {
			require.InDelta(t, int(src[i]), int(got[i]), 1)
		}
	}
}

func TestDownsample(t *testing.T) {
	dst := make([]byte, 3)
	DownsampleH2V1(dst, []byte{1, 2, 1, 2, 255, 254})
	require.Equal(t, []byte{1, 2, 254}, dst)
	DownsampleH2V2(dst, []byte{0, 1, 0, 1, 255, 255}, []byte{1, 1, 1, 0, 255, 255})
	require.Equal(t, []byte{1, 1, 255}, dst)
	DownsampleH2V2(dst[:2], []byte{0, 1, 0, 1}, []byte{1, 0, 1, 0})
	require.Equal(t, []byte{0, 1}, dst[:2])
}

func TestRGBToYCC(t *testing.T) {
	y, cb, cr := make([]byte, 5), make([]byte, 5), make([]byte, 5)
	RGBToYCC(y, cb, cr, []byte{0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255})
	require.Equal(t, []byte{0, 255, 76, 150, 29}, y)
	require.Equal(t, []byte{128, 128, 85, 44, 255}, cb)
	require.Equal(t, []byte{128, 128, 255, 21, 107}, cr)
}

// TestHuffWriter compares bits with a slow writer.
func TestHuffWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w := HuffWriter{Buf: make([]byte, 8000)}
	var text bytes.Buffer
	for range 1000 {
		n := uint(r.IntN(33))
		v := uint32(r.Uint64() & (1<<n - 1))
		w.Put(v, n)
		for i := int(n) - 1; i >= 0; i-- {
			text.WriteByte(byte(v >> i & 1))
		}
	}
	w.Pad()
	for text.Len()%8 != 0 {
		text.WriteByte(1)
	}
	var want []byte
	for text.Len() > 0 {
		v := byte(0)
		for _, b := range text.Next(8) {
			v = v<<1 | b
		}
		want = append(want, v)
	}
	require.Equal(t, want, w.Buf[:w.N])
}
