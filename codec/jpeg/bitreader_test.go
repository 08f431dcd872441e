package jpeg

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHasFF(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		v := r.Uint64()
		want := false
		for i := range 8 {
			want = want || byte(v>>(8*i)) == 0xFF
		}
		require.Equal(t, want, hasFF(v), "%016x", v)
	}
	require.False(t, hasFF(0xFEFEFEFEFEFEFEFE))
	require.True(t, hasFF(0xFF00000000000000))
}
