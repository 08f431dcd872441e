package cpu

import (
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
