//go:build !purego

package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestLZWLayout checks the offsets by which the assembly accesses the struct.
func TestLZWLayout(t *testing.T) {
	var z LZW
	require.Equal(t, []uintptr{0, 40952, 51192, 92144, 92152, 92160, 92168, 92176, 92184, 92192, 92200, 92208, 92216, 92224, 92232}, []uintptr{
		unsafe.Offsetof(z.First), unsafe.Offsetof(z.Length), unsafe.Offsetof(z.Start),
		unsafe.Offsetof(z.in), unsafe.Offsetof(z.inEnd), unsafe.Offsetof(z.out), unsafe.Offsetof(z.outEnd), unsafe.Offsetof(z.most),
		unsafe.Offsetof(z.Bit), unsafe.Offsetof(z.N), unsafe.Offsetof(z.Width), unsafe.Offsetof(z.Free), unsafe.Offsetof(z.Clear),
		unsafe.Offsetof(z.Last), unsafe.Offsetof(z.LastLen),
	})
}
