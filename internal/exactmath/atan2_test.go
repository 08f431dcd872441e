package exactmath

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtan2 compares with package math.
func TestAtan2(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 3.5, -1e-300, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, y := range special {
		for _, x := range special {
			want, got := math.Atan2(y, x), Atan2(y, x)
			if math.IsNaN(want) {
				require.True(t, math.IsNaN(got), "%v %v", y, x)
				continue
			}
			require.InDelta(t, want, got, 4*math.Abs(want)*0x1p-53, "%v %v", y, x)
			// Go 1.26 on s390x returns 0 for results that are too small.
			require.Equal(t, math.Signbit(y), math.Signbit(got), "%v %v", y, x)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		y, x := r.NormFloat64(), r.NormFloat64()
		want := math.Atan2(y, x)
		if got := Atan2(y, x); !(math.Abs(want-got) <= 4*math.Abs(want)*0x1p-53) {
			t.Fatalf("%v %v: got %v, want %v", y, x, got, want)
		}
	}
}
