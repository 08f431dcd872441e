package modelbundle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/modelbundle"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestClasses checks that package device has the same names in the same order.
func TestClasses(t *testing.T) {
	for i, name := range []string{modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate} {
		require.Equal(t, name, (device.Exact - device.Class(i)).String())
	}
}
