//go:build !js

// System calls allocate on js.

package pcam

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

func TestAllocs(t *testing.T) {
	require.Zero(t, sourcetest.Allocs(t, New(settest.Dir+"pcam")))
	require.Zero(t, sourcetest.Allocs(t, val(settest.Dir+"pcam")))
}
