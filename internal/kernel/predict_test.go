package kernel

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

func testAddLeft16In(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(1, 2))
	le := binary.LittleEndian
	for n := 1; n < 10; n++ {
		for pixels := range 40 {
			row := fencedBytes(f, r, 0, 2*n*pixels)
			want := append([]byte{}, row...)
			for i := 2 * n; i < len(want); i += 2 {
				le.PutUint16(want[i:], le.Uint16(want[i:])+le.Uint16(want[i-2*n:]))
			}
			AddLeft16(row, n)
			require.Equal(t, want, row, "%d samples, %d pixels", n, pixels)
			f.check(t, fmt.Sprintf("%d samples, %d pixels", n, pixels))
		}
	}
}

// TestAddLeft16 compares with plain Go, which it runs, too.
func TestAddLeft16(t *testing.T) {
	testAddLeft16In(t, &guard{})
	defer cpu.DisableAll()()
	testAddLeft16In(t, &guard{})
}
