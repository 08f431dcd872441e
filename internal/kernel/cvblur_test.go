package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReflect101(t *testing.T) {
	var got []int
	for i := -5; i < 8; i++ {
		got = append(got, Reflect101(i, 3))
	}
	require.Equal(t, []int{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}, got)
	require.Zero(t, Reflect101(-7, 1))
}
