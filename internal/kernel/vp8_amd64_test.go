//go:build !purego

package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestVP8Layout checks the offsets by which the assembly accesses the structs.
func TestVP8Layout(t *testing.T) {
	var r VP8Reader
	require.Equal(t, []uintptr{0, 24, 32, 40, 48, 56}, []uintptr{
		unsafe.Offsetof(r.Buf), unsafe.Offsetof(r.Pos), unsafe.Offsetof(r.Value), unsafe.Offsetof(r.Range), unsafe.Offsetof(r.Bits), unsafe.Offsetof(r.Ended),
	})
	var m VP8Macroblock
	require.Equal(t, []uintptr{0, 8, 16, 24, 40, 48, 56, 88}, []uintptr{
		unsafe.Offsetof(m.Probs), unsafe.Offsetof(m.Quant), unsafe.Offsetof(m.Above), unsafe.Offsetof(m.Left),
		unsafe.Offsetof(m.Y2), unsafe.Offsetof(m.Bits), unsafe.Offsetof(m.Count), unsafe.Offsetof(m.Coef),
	})
	require.EqualValues(t, 17*3*12*8, unsafe.Sizeof(m.Probs[0]))
	require.EqualValues(t, 8, unsafe.Sizeof(m.Quant[0]))
}
