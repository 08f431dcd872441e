package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// decodeTable returns the table of a random code. Some bits are no code.
func decodeTable(r *rand.Rand, kind HuffKind) *HuffTable {
	var counts [17]uint8
	var vals [256]uint8
	for i := range vals {
		vals[i] = uint8(r.IntN(12))
		if kind == HuffAC {
			vals[i] |= uint8(r.IntN(1<<r.IntN(5))) << 4
		}
	}
	if kind == HuffAC {
		vals[r.IntN(8)] = 0 // a short end of the block
	}
	n, room := 0, 1
	for l := 1; l <= 16; l++ {
		room *= 2
		k := 0
		if most := min(room-1, 256-n, 255); most > 0 && l > 1 {
			k = r.IntN(min(most, 1+most/3) + 1)
		}
		counts[l] = uint8(k)
		n, room = n+k, room-k
	}
	var t HuffTable
	t.Build(&counts, &vals, kind)
	return &t
}

// TestDecode decodes random data with assembly and with Go, in two calls. They
// need not fetch the same bytes ahead, so the first call may stop one MCU
// earlier in one of them.
func TestDecode(t *testing.T) {
	needsVectors(t)
	r := rand.New(rand.NewPCG(63, 64))
	rounds := short.Rounds(t, 1500, 300)
	ended := 0
	for round := range rounds {
		var ac, dc [2]*HuffTable
		for i := range ac {
			ac[i], dc[i] = decodeTable(r, HuffAC), decodeTable(r, HuffDC)
		}
		steps := [][]int{{1}, {1, 1, 1}, {2, 2, 2, 2, 1, 1}, {2, 2, 1, 1}}[r.IntN(4)]
		mcus := 1 + r.IntN(8)
		buf := bytesOf(r, (mcus+1)*len(steps)*HuffBlockBytes)
		first, skip := r.IntN(mcus), r.IntN(8)
		middle := r.IntN(mcus * len(steps) * 15)
		run := func() (reader HuffReader, blocks [][][64]int16, lasts [][]uint8) {
			reader = HuffReader{Buf: buf, MCU: len(steps), X: first, Limit: mcus, Places: []*Places{&NaturalPlaces, &PairedPlaces}[round%3%2]}
			if skip > 0 { // some bits are used
				reader.refill()
				reader.take(uint(skip))
			}
			if round%2 == 0 {
				reader.Marks = make([]uint32, mcus)
			}
			for i, step := range steps {
				n := (mcus-1)*step + 1
				blocks, lasts = append(blocks, make([][64]int16, n)), append(lasts, make([]uint8, n))
				comp := min(i/max(1, len(steps)-2), 2)
				reader.To[i] = HuffTarget{DC: dc[min(comp, 1)], AC: ac[min(comp, 1)], Blocks: blocks[i], Last: lasts[i], Step: step, Comp: comp}
			}
			reader.Stop = min(middle, len(buf)-len(steps)*HuffBlockBytes)
			reader.Decode()
			if reader.X > first && reader.X < mcus {
				ended++
			}
			reader.Stop = len(buf) - len(steps)*HuffBlockBytes
			reader.Decode()
			return reader, blocks, lasts
		}
		got, gotBlocks, gotLasts := run()
		restore := cpu.DisableAll()
		want, wantBlocks, wantLasts := run()
		restore()
		require.Equal(t, want.X, got.X, "round %d", round)
		require.Equal(t, wantBlocks, gotBlocks, "round %d", round)
		require.Equal(t, wantLasts, gotLasts, "round %d", round)
		require.Equal(t, want.Pred, got.Pred, "round %d", round)
		require.Equal(t, want.Marks, got.Marks, "round %d", round)
		require.Equal(t, want.Pos*8-int(want.N), got.Pos*8-int(got.N), "round %d", round)
	}
	require.Greater(t, ended, rounds/8)
}
