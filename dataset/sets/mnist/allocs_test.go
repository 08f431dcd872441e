//go:build !js

// System calls allocate on js.

package mnist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

func TestAllocs(t *testing.T) {
	require.Zero(t, sourcetest.Allocs(t, &MNIST{testdata + "mnist", "all"}))
}
