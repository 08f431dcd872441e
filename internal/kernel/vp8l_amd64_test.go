//go:build !purego

package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestVP8LLayout checks the offsets by which the assembly accesses the struct.
func TestVP8LLayout(t *testing.T) {
	var r VP8LReader
	require.Equal(t, []uintptr{0, 24, 32, 40}, []uintptr{unsafe.Offsetof(r.In), unsafe.Offsetof(r.Pos), unsafe.Offsetof(r.Bits), unsafe.Offsetof(r.N)})
}
