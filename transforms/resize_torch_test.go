package transforms

import (
	"encoding/json"
	"hash/crc32"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestResizeTorchUint8 compares 3,000 resizes of noise with torch's, by their
// checksums, and 1,000 with those of torch without AVX2.
// testdata/gen/ops/resize.py makes the same noise.
func TestResizeTorchUint8(t *testing.T) {
	compareChecksums(t, TorchUint8, 3000)
	compareChecksums(t, TorchUint8NoAVX2, 1000)
}

func compareChecksums(t *testing.T, backend Backend, rows int) {
	b, err := os.ReadFile("testdata/resize/" + backend.String() + ".json")
	require.NoError(t, err)
	var golden struct {
		Filters []Interpolation
		// Height, width, output height and width, channels, filter, antialias,
		// CRC-32.
		Rows [][8]int64
	}
	require.NoError(t, json.Unmarshal(b, &golden))
	require.Len(t, golden.Rows, rows)
	c := newContext()
	for k, row := range golden.Rows {
		x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.CHW, int(row[0]), int(row[1]), int(row[4])))
		require.NoError(t, err)
		for i := range x.Data {
			v := uint8((uint64(k+i) * 0x9E3779B97F4A7C15) >> 56)
			if k%7 == 0 {
				v = v >> 7 * 255
			}
			x.Data[i] = v
		}
		op := sampling{golden.Filters[row[5]], backend, row[6] == 1}.resize(int(row[2]), int(row[3]))
		y, err := run(c, op, x)
		require.NoError(t, err)
		require.Equal(t, uint32(row[7]), crc32.ChecksumIEEE(y[0].Data), "%v row %d: %v", backend, k, row)
	}
}
