//go:build !js

// System calls allocate on js.

package cifar100

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

func TestAllocs(t *testing.T) { require.Zero(t, sourcetest.Allocs(t, New(testdata))) }
