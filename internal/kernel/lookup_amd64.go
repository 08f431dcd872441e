//go:build !purego

package kernel

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// firstEntries[ch] holds the first entries of the tables of 24 interleaved
// elements of ch channels.
var firstEntries = func() (f [5][24]int32) {
	for ch := 1; ch < len(f); ch++ {
		for i := range f[ch] {
			f[ch][i] = int32(i % ch * 256)
		}
	}
	return f
}()

// lookupHWC processes the first elements in assembly and returns how many.
func lookupHWC[T Word](dst []T, src []uint8, ch int, tables []T) int {
	n, size := len(src), int(unsafe.Sizeof(dst[0]))
	if n < 24 || ch >= len(firstEntries) || size > 4 || !hasSIMD() {
		return 0
	}
	_, _ = dst[n-1], tables[ch*256-1]
	d, t := bytePointer(&dst[0]), bytePointer(&tables[0])
	whole := ch // elements of a pixel
	if n >= lookupWorth && sameTables(unsafe.Slice(t, ch*256*size), 256*size) {
		ch = 1
	}
	if size == 1 && ch == 1 && n >= 4096 {
		if and, xor, ok := bitsOf((*[256]uint8)(unsafe.Pointer(t))); ok {
			n = n / (128 * whole) * (128 * whole)
			bitsAVX2(d, &src[0], n, and, xor)
			return n
		}
	}
	switch {
	case size == 1 && ch == 1 && cpu.Has(cpu.VBMI):
		lookup1VBMI(d, &src[0], n, t)
		return n
	case size == 1 && ch == 3 && cpu.Has(cpu.VBMI):
		lookup3VBMI(d, &src[0], n, t)
		return n
	case size == 1 && ch == 1 && n >= 64*whole:
		n = n / (64 * whole) * (64 * whole)
		lookup1AVX2(d, &src[0], n, t)
		return n
	case n >= lookupWorth && ch == 1 && cpu.Has(cpu.VBMI):
		var split [4 * 256]uint8
		splitTable(split[:], t, size)
		lookupSplit(d, src, size, &split)
		return n
	case n >= lookupWorth && ch == 3 && size == 4 && cpu.Has(cpu.VBMI):
		lookupHWC3x4(d, src, t)
		return n
	}
	n = n / 24 * 24
	switch size {
	case 4:
		lookupHWC4AVX2(d, &src[0], n, t, &firstEntries[ch])
	case 2:
		lookupHWC2AVX2(d, &src[0], n, t, &firstEntries[ch])
	default:
		lookupHWC1AVX2(d, &src[0], n, t, &firstEntries[ch])
	}
	return n
}

// lookupWorth is the number of bytes from which on the preparation of tables
// takes less time than it saves.
const lookupWorth = 512

// lookupChunk is the number of pixels whose planes are held on the stack.
const lookupChunk = 512

// sameTables reports whether tables of size bytes are all equal.
func sameTables(tables []uint8, size int) bool {
	return bytes.Equal(tables[size:], tables[:len(tables)-size])
}

// bitsOf reports whether entry v of a table is v&and ^ xor. It returns eight
// copies of both.
func bitsOf(table *[256]uint8) (and, xor uint64, ok bool) {
	const all = 0x0101010101010101
	and, xor = uint64(table[0]^table[255])*all, uint64(table[0])*all
	for v, values := 0, uint64(0x0706050403020100); v < 256; v, values = v+8, values+8*all {
		if binary.LittleEndian.Uint64(table[v:]) != values&and^xor {
			return 0, 0, false
		}
	}
	return and, xor, true
}

// splitTable separates the bytes of 256 entries of size bytes: byte i of entry
// v becomes split[256*i+v].
func splitTable(split []uint8, table *byte, size int) {
	if size == 4 {
		deinterleave4AVX2(&split[0], 256, table, 256)
		return
	}
	entries := unsafe.Slice(table, 256*size)
	for i := range size {
		for v := range 256 {
			split[i*256+v] = entries[v*size+i]
		}
	}
}

// lookupSplit looks up bytes in a table of splitTable.
func lookupSplit(dst *byte, src []uint8, size int, table *[4 * 256]uint8) {
	switch size {
	case 4:
		lookup4VBMI(dst, &src[0], len(src), &table[0])
	case 2:
		lookup2VBMI(dst, &src[0], len(src), &table[0])
	default:
		lookup1VBMI(dst, &src[0], len(src), &table[0])
	}
}

// lookupHWC3x4 is lookupHWC for whole pixels of three channels and entries of
// four bytes.
func lookupHWC3x4(dst *byte, src []uint8, tables *byte) {
	var split [3][4 * 256]uint8
	for c := range split {
		splitTable(split[c][:], (*byte)(unsafe.Add(unsafe.Pointer(tables), 1024*c)), 4)
	}
	out := unsafe.Slice((*uint32)(unsafe.Pointer(dst)), len(src))
	var in [3 * lookupChunk]uint8
	var planes [3 * lookupChunk]uint32
	for len(src) > 0 {
		n := min(len(src)/3, lookupChunk)
		Deinterleave(in[:], lookupChunk, src[:3*n], 3)
		for c := range 3 {
			lookupSplit(bytePointer(&planes[c*lookupChunk]), in[c*lookupChunk:][:n], 4, &split[c])
		}
		Interleave(out[:3*n], planes[:], lookupChunk, 3)
		src, out = src[3*n:], out[3*n:]
	}
}

// lookupWide is lookupCHW for whole images and long rows: it processes all
// pixels or none.
func lookupWide[T Word](dst []T, plane int, src []uint8, ch int, tables []T) int {
	n, size := len(src)/ch, int(unsafe.Sizeof(dst[0]))
	if ch*n < lookupWorth || plane < 0 || ch != 3 && ch != 4 || size > 4 || !cpu.Has(cpu.VBMI) {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	var split [4][4 * 256]uint8
	for c := range ch {
		splitTable(split[c][:], bytePointer(&tables[c*256]), size)
	}
	var in [4 * lookupChunk]uint8
	for at := 0; at < n; at += lookupChunk {
		k := min(n-at, lookupChunk)
		Deinterleave(in[:], lookupChunk, src[at*ch:][:k*ch], ch)
		for c := range ch {
			lookupSplit(bytePointer(&dst[c*plane+at]), in[c*lookupChunk:][:k], size, &split[c])
		}
	}
	return n
}
