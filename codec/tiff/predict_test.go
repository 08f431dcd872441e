package tiff

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddLeft16(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 10; n++ {
		for pixels := range 40 {
			row := make([]byte, 2*n*pixels)
			for i := range row {
				row[i] = byte(r.Uint32())
			}
			want := append([]byte{}, row...)
			for i := 2 * n; i < len(want); i += 2 {
				binary.LittleEndian.PutUint16(want[i:], binary.LittleEndian.Uint16(want[i:])+binary.LittleEndian.Uint16(want[i-2*n:]))
			}
			addLeft16(row, n)
			require.Equal(t, want, row, "%d samples, %d pixels", n, pixels)
		}
	}
}
