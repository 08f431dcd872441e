//go:build !purego

package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestEncodeLayout checks the offsets by which the assembly accesses the
// structs.
func TestEncodeLayout(t *testing.T) {
	var d Divisors
	require.Equal(t, []uintptr{0, 128, 256}, []uintptr{unsafe.Offsetof(d.add), unsafe.Offsetof(d.recip), unsafe.Offsetof(d.scale)})
	var w HuffWriter
	require.Equal(t, []uintptr{0, 24, 32, 40, 48, 56, 776, 784, 800, 808, 816}, []uintptr{
		unsafe.Offsetof(w.Buf), unsafe.Offsetof(w.N), unsafe.Offsetof(w.acc), unsafe.Offsetof(w.bits), unsafe.Offsetof(w.Codes), unsafe.Offsetof(w.From),
		unsafe.Offsetof(w.MCU), unsafe.Offsetof(w.Pred), unsafe.Offsetof(w.X), unsafe.Offsetof(w.Limit), unsafe.Offsetof(w.stop),
	})
	var s HuffSource
	require.Equal(t, []uintptr{0, 24, 48, 56, 64, 72}, []uintptr{
		unsafe.Offsetof(s.Blocks), unsafe.Offsetof(s.Masks), unsafe.Offsetof(s.Step), unsafe.Offsetof(s.Comp), unsafe.Offsetof(s.Table), unsafe.Sizeof(s),
	})
}
