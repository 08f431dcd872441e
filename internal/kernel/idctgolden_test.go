package kernel

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// TestIDCTGolden compares transformed blocks with libjpeg-turbo's, at full
// size, a half, a quarter and an eighth. testdata/gen/codecs/idct_reduced.py
// computes and describes the file.
func TestIDCTGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/idct_reduced.bin")
	require.NoError(t, err)
	take := func(n int) []byte {
		require.GreaterOrEqual(t, len(data), n)
		b := data[:n]
		data = data[n:]
		return b
	}
	words := func(dst *[64]int16) {
		b := take(128)
		for i := range dst {
			dst[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
		}
	}
	records := 0
	for ; len(data) > 0; records++ {
		var quant [64]int16
		words(&quant)
		n := int(binary.LittleEndian.Uint16(take(2)))
		blocks, last := make([][64]int16, n), make([]uint8, n)
		for i := range blocks {
			words(&blocks[i])
			for k, at := range zigzag {
				if blocks[i][at] != 0 {
					last[i] = uint8(k)
				}
			}
		}
		for _, f := range []struct {
			size  int
			row   rowFunc
			block func(dst []byte, stride int, coef, quant *[64]int16)
		}{{8, IDCTRow, IDCT}, {4, IDCTRow4, IDCT4}, {2, IDCTRow2, IDCT2}, {1, IDCTRow1, IDCT1}} {
			want := take(n * f.size * f.size)
			stride := n * f.size
			same := func(way string, got []byte) {
				for b := range n {
					for y := range f.size {
						for x := range f.size {
							w, g := want[(b*f.size+y)*f.size+x], got[y*stride+b*f.size+x]
							if g != w {
								t.Fatalf("record %d, %s of %dx%d, block %d with last %d, at (%d, %d): got %d, want %d",
									records, way, f.size, f.size, b, last[b], x, y, g, w)
							}
						}
					}
				}
			}
			got := make([]byte, len(want))
			f.row(got, stride, blocks, &quant, last)
			same("row", got)
			restore512 := cpu.Disable(cpu.AVX512)
			clear(got)
			f.row(got, stride, blocks, &quant, last)
			same("row without AVX-512", got)
			restore := cpu.DisableAll()
			clear(got)
			f.row(got, stride, blocks, &quant, last)
			restore()
			restore512()
			same("row without assembly", got)
			clear(got)
			for i := range blocks {
				f.block(got[i*f.size:], stride, &blocks[i], &quant)
			}
			same("block", got)
		}
	}
	require.Equal(t, 4, records)
}
