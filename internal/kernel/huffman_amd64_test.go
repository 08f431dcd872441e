//go:build !purego

package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestHuffmanLayout checks the offsets by which the assembly accesses the
// structs.
func TestHuffmanLayout(t *testing.T) {
	var r HuffReader
	require.Equal(t, []uintptr{0, 24, 32, 40, 48, 56, 856, 864, 880, 888, 896, 920}, []uintptr{
		unsafe.Offsetof(r.Buf), unsafe.Offsetof(r.Pos), unsafe.Offsetof(r.Stop), unsafe.Offsetof(r.Acc), unsafe.Offsetof(r.N),
		unsafe.Offsetof(r.To), unsafe.Offsetof(r.MCU), unsafe.Offsetof(r.Pred), unsafe.Offsetof(r.X), unsafe.Offsetof(r.Limit), unsafe.Offsetof(r.Marks), unsafe.Offsetof(r.Places),
	})
	var to HuffTarget
	require.Equal(t, []uintptr{0, 8, 16, 40, 64, 72, 80}, []uintptr{
		unsafe.Offsetof(to.DC), unsafe.Offsetof(to.AC), unsafe.Offsetof(to.Blocks), unsafe.Offsetof(to.Last), unsafe.Offsetof(to.Step), unsafe.Offsetof(to.Comp), unsafe.Sizeof(to),
	})
	var table HuffTable
	require.Equal(t, []uintptr{0, 8192, 8260, 8328}, []uintptr{
		unsafe.Offsetof(table.Look), unsafe.Offsetof(table.Max), unsafe.Offsetof(table.Offset), unsafe.Offsetof(table.Vals),
	})
}

// TestHuffBandLayout checks the offsets by which the assembly accesses a band.
func TestHuffBandLayout(t *testing.T) {
	var b HuffBand
	require.Equal(t, []uintptr{0, 8, 16, 24, 32}, []uintptr{
		unsafe.Offsetof(b.First), unsafe.Offsetof(b.Last), unsafe.Offsetof(b.Shift), unsafe.Offsetof(b.EOBRun), unsafe.Offsetof(b.Masks),
	})
}
