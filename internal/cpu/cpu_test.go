package cpu

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDisable(t *testing.T) {
	was := Has(AVX2)
	restore := Disable(AVX2)
	require.False(t, Has(AVX2))
	restore()
	require.Equal(t, was, Has(AVX2))
}

func TestDisableAll(t *testing.T) {
	was := has
	restore := DisableAll()
	for f := range count {
		require.False(t, Has(f))
	}
	require.False(t, Any())
	restore()
	require.Equal(t, was, has)
	require.Equal(t, slices.Contains(has[:], true), Any())
}
