//go:build unix

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInterruptions is the command in small.
func TestInterruptions(t *testing.T) {
	t.Chdir("../..")
	s := &settings{count: 300, stops: 4, seed: 1, dir: t.TempDir()}
	require.NoError(t, s.run(t.Context()))
	left, err := os.ReadDir(s.dir)
	require.ErrorIs(t, err, os.ErrNotExist, "%v", left)
}
