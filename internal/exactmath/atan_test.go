package exactmath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtan compares with package math, whose error is below 2 units in the last
// place.
func TestAtan(t *testing.T) {
	require.Zero(t, Atan(0))
	for i := range 20001 {
		x := float64(i-10000) / 10000
		want := math.Atan(x)
		if got := Atan(x); !(math.Abs(want-got) <= 4*math.Abs(want)*0x1p-53) || Atan(-x) != -got {
			t.Fatalf("%v: got %v and %v, want %v", x, got, Atan(-x), want)
		}
	}
	require.Equal(t, math.Pi/4, Atan(1))
}
