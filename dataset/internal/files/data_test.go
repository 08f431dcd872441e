package files

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeys(t *testing.T) {
	const n = 12_345
	k := NewKeys("a b", n)
	for i := range int64(n) {
		require.Equal(t, fmt.Sprint("a b:", i), k.At(i))
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = k.At(12_000) }))
}
