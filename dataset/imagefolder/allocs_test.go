//go:build !js

// System calls allocate on js.

package imagefolder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

// TestAllocs bounds the allocations of opening a file: its path, the file and
// its FileInfo, which an os.Root finds folder by folder.
func TestAllocs(t *testing.T) {
	require.LessOrEqual(t, sourcetest.Allocs(t, New(testdata+"flat")), 20.0)
}
