//go:build !js

// Where the runtime's calls of the system do not allocate.

package imagefolder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

// TestAllocs: opening a file allocates the path, the file and what it is said to be.
func TestAllocs(t *testing.T) {
	require.LessOrEqual(t, sourcetest.Allocs(t, New(testdata+"flat")), 12.0)
}
