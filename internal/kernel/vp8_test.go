package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// TestVP8Read compares the assembly with Go: random probabilities and data, up
// to the end of the data and beyond.
func TestVP8Read(t *testing.T) {
	needsVectors(t)
	rnd := rand.New(rand.NewPCG(41, 1))
	for round := range short.Rounds(t, 3000, 300) {
		var probs [4]VP8Probs
		most := []int{256, 200, 60}[round%3] // many, some, or few coefficients
		for i := range probs {
			for n := range probs[i] {
				for c := range probs[i][n] {
					for k := range 11 {
						probs[i][n][c][k] = uint8(rnd.IntN(most))
						if round%5 == 0 && rnd.IntN(2) == 0 {
							probs[i][n][c][k] = 255
						}
					}
				}
			}
		}
		var quant [3][2]int32
		for i := range quant {
			quant[i] = [2]int32{4 + rnd.Int32N(310), 4 + rnd.Int32N(440)}
		}
		data := make([]byte, rnd.IntN(3000))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		var r, r2 VP8Reader
		r.Init(data)
		r2.Init(data)
		var above, above2 [16]uint8
		m, m2 := VP8Macroblock{Probs: &probs, Quant: &quant, Above: &above}, VP8Macroblock{Probs: &probs, Quant: &quant, Above: &above2}
		for range 40 {
			m.Y2 = rnd.IntN(2) == 0
			m2.Y2 = m.Y2
			clear(m.Coef[:])
			clear(m2.Coef[:])
			m.Read(&r)
			m2.read(&r2)
			if r.Ended || r2.Ended {
				require.Equal(t, r2.Ended, r.Ended)
				break // all else does not matter then
			}
			require.Equal(t, r2, r)
			require.Equal(t, above2, above)
			m2.Above = m.Above
			require.Equal(t, m2, m)
			m2.Above = &above2
			bit := uint8(rnd.Uint32())
			require.Equal(t, r2.Bit(bit), r.Bit(bit))
		}
	}
}
