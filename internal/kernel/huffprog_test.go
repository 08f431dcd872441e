package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// refineTable returns the table of a random code, with codes of up to 16 bits
// and, often, bits that are no code.
func refineTable(r *rand.Rand) *HuffTable {
	var counts [17]uint8
	var vals [256]uint8
	for i := range vals {
		vals[i] = uint8(r.IntN(16)<<4 | min(r.IntN(3), 1)) // runs of zeros, values, ends
	}
	n, room := 0, 1
	for l := 1; l <= 16; l++ {
		room *= 2
		most := min(room-1, 256-n, 255)
		k := 0
		if most > 0 && l > 1 {
			k = r.IntN(min(most, 1+most/3) + 1)
		}
		counts[l] = uint8(k)
		n, room = n+k, room-k
	}
	var t HuffTable
	t.Build(&counts, &vals, HuffRefine)
	return &t
}

// TestACRefine decodes random data with assembly and with Go, which need not
// fetch the same bytes ahead.
func TestACRefine(t *testing.T) {
	needsVectors(t)
	r := rand.New(rand.NewPCG(61, 62))
	corrected := 0
	rounds := short.Rounds(t, 3000, 600)
	for round := range rounds {
		table := refineTable(r)
		const blocks = 12
		buf := bytesOf(r, blocks*HuffBlockBytes+HuffBlockBytes)
		if round%3 == 0 { // mostly zeros, or mostly ones
			for i := range buf {
				buf[i] = uint8(0) - uint8(round/3%2)
				if r.IntN(4) == 0 {
					buf[i] = uint8(r.Uint32())
				}
			}
		}
		first := 1 + r.IntN(63)
		band := HuffBand{First: first, Last: first + r.IntN(64-first), Shift: r.IntN(14), EOBRun: max(0, r.IntN(8)-5)}
		if round%2 == 0 {
			band.First, band.Last = 1, 63
		}
		start := make([][64]int16, blocks)
		masks := make([]uint64, blocks)
		share := r.IntN(65)
		for i := range start {
			for k := 1; k < 64; k++ {
				if r.IntN(64) < share {
					v := int16(r.Uint32()) << band.Shift
					if r.IntN(8) > 0 {
						v = int16(r.IntN(7)-3) << band.Shift << 1 // as valid data has them
					}
					if v != 0 {
						start[i][NaturalPlaces.At(uint(k)+1)] = v
						masks[i] |= 1 << k
					}
				}
			}
		}
		skip := r.IntN(8)
		run := func() (HuffReader, HuffBand, [][64]int16) {
			got := append([][64]int16(nil), start...)
			b := band
			b.Masks = append([]uint64(nil), masks...)
			reader := HuffReader{Buf: buf, Stop: len(buf) - HuffBlockBytes, MCU: 1, X: 1, Limit: blocks - 1}
			if skip > 0 { // some bits are used
				reader.refill()
				reader.take(uint(skip))
			}
			reader.To[0] = HuffTarget{AC: table, Blocks: got, Step: 1}
			reader.ACRefine(&b)
			return reader, b, got
		}
		gotReader, gotBand, got := run()
		restore := cpu.DisableAll()
		wantReader, wantBand, want := run()
		restore()
		require.Equal(t, want, got, "round %d", round)
		require.Equal(t, wantBand, gotBand, "round %d", round)
		require.Equal(t, wantReader.X, gotReader.X)
		require.Equal(t, wantReader.Pos*8-int(wantReader.N), gotReader.Pos*8-int(gotReader.N), "round %d", round)
		if want[1] != start[1] {
			corrected++
		}
	}
	require.Greater(t, corrected, rounds/3)
}
