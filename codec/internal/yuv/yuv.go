// Package yuv reads planes that libraries of C decoded.
package yuv

import (
	"encoding/binary"
	"hash"
	"math"
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/clib"
)

// Plane is a plane of samples of 8 bits, or of 9 to 16 bits in two bytes, in
// the machine's order. The zero Plane has no samples.
type Plane struct {
	Width, Height int
	deep          bool // two bytes a sample
	stride        int  // bytes from one row to the next
	data          []byte
}

// At returns the plane of width x height samples of depth bits at address p of
// C memory, with stride bytes from one row to the next. It is valid as long as
// that memory. At returns the zero Plane if p is 0 or rows would overlap.
func At(p uintptr, stride, width, height, depth int) Plane {
	size := 1
	if depth > 8 {
		size = 2
	}
	if p == 0 || width < 1 || height < 1 || stride < width*size || stride > math.MaxInt/height {
		return Plane{}
	}
	return Of(unsafe.Slice((*byte)(clib.At(p)), stride*(height-1)+width*size), stride, width, height, depth)
}

// Of returns the plane of width x height samples of depth bits in data, which
// must hold them, with stride bytes from one row to the next.
func Of(data []byte, stride, width, height, depth int) Plane {
	return Plane{width, height, depth > 8, stride, data}
}

// Empty reports whether the plane has no samples.
func (p *Plane) Empty() bool { return len(p.data) == 0 }

// Row fills dst, of Width samples, with row y. It shifts each sample right by
// shift bits.
func (p *Plane) Row(dst []uint16, y int, shift uint) {
	row := p.data[y*p.stride:]
	if p.deep {
		row = row[:2*len(dst)]
		for i := range dst {
			dst[i] = binary.NativeEndian.Uint16(row[2*i:]) >> shift
		}
		return
	}
	for i, v := range row[:len(dst)] {
		dst[i] = uint16(v) >> shift
	}
}

// Hash writes the samples to h, rows one after the other: a byte each, or two,
// the low one first.
func (p *Plane) Hash(h hash.Hash) {
	if p.Empty() {
		return
	}
	row := make([]uint16, p.Width)
	b := make([]byte, 0, 2*p.Width)
	for y := range p.Height {
		p.Row(row, y, 0)
		b = b[:0]
		for _, v := range row {
			if b = append(b, byte(v)); p.deep {
				b = append(b, byte(v>>8))
			}
		}
		h.Write(b)
	}
}
