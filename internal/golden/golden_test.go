package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestDiff changes a tensor and reads what the digest says of it.
func TestDiff(t *testing.T) {
	x, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 2, 17, 1))
	require.NoError(t, err)
	v := tensor.View[float32](x)
	for i := range v {
		v[i] = float32(i) / 3
	}
	var b strings.Builder
	require.NoError(t, tensor.WriteRaw(&b, x))
	sum := sha256.Sum256([]byte(b.String()))
	d := Digest{DType: "float32", Shape: []int{2, 17, 1}, SHA256: hex.EncodeToString(sum[:])}
	for i := range 16 {
		d.Values = append(d.Values, float64(v[i*len(v)/17]))
	}
	require.Empty(t, d.Diff(x))
	rounded := d
	rounded.Values = []float64{0, 3.66667}
	require.Empty(t, rounded.Diff(x))

	v[4] += 1e-6 // the sample of index 2
	require.Equal(t, "float32 [2 17 1]: other bytes than the reference's; 1 of 16 sampled values differ\n"+
		"  at [0 4 0]: got 1.3333343267440796, want 1.3333333730697632", d.Diff(x))
	require.Contains(t, rounded.Diff(x), "0 of 2 sampled values differ")
	v[11] = 5
	require.Contains(t, rounded.Diff(x), "at [0 11 0]: got 5, want 3.66667")

	d.Shape = []int{34}
	require.Equal(t, "got float32 [2 17 1], want float32 [34]", d.Diff(x))
}
