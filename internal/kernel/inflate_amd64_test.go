//go:build !purego

package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestInflateLayout checks the offsets by which the assembly accesses Inflate.
func TestInflateLayout(t *testing.T) {
	var z Inflate
	require.Equal(t, []uintptr{0, 8, 16, 24, 32, 40, 48, 56, 64}, []uintptr{
		unsafe.Offsetof(z.Bits), unsafe.Offsetof(z.N), unsafe.Offsetof(z.in), unsafe.Offsetof(z.last), unsafe.Offsetof(z.out),
		unsafe.Offsetof(z.full), unsafe.Offsetof(z.base), unsafe.Offsetof(z.lit), unsafe.Offsetof(z.dist),
	})
	require.Equal(t, uintptr(4*4096), unsafe.Offsetof(InflateLit{}.Literals))
}
