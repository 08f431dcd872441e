//go:build !js

// System calls allocate on js.

package lsun

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

// TestAllocs: a row allocates its key.
func TestAllocs(t *testing.T) {
	require.LessOrEqual(t, sourcetest.Allocs(t, &LSUN{settest.Dir + "lsun", []string{"bedroom_train"}}), 2.0)
}
