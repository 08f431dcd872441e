package vp8l

import (
	"encoding/binary"
	"io"

	"github.com/infer-prep/infer-prep/codec/internal/prefix"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// reader reads bits, the lowest one of a byte first. After the end it reads
// zeros.
type reader struct {
	kernel.VP8LReader
	over int // valid bits after the end
}

// fill makes the bits at least 56.
func (r *reader) fill() {
	if p := r.Pos; p+8 <= len(r.In) {
		r.Bits |= binary.LittleEndian.Uint64(r.In[p:]) << (r.N & 63)
		r.Pos = p + (63-r.N)>>3
		r.N |= 56
		return
	}
	r.slow()
}

func (r *reader) slow() {
	r.Bits &= 1<<r.N - 1
	for ; r.N < 56; r.N += 8 {
		if r.Pos == len(r.In) {
			r.over += 8
			continue
		}
		r.Bits |= uint64(r.In[r.Pos]) << r.N
		r.Pos++
	}
}

// ended returns an error if bits after the end were read.
func (r *reader) ended() error {
	if r.over > r.N {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// read returns the next k bits. The caller has called fill for them.
func (r *reader) read(k uint) uint {
	v := uint(r.Bits) & (1<<k - 1)
	r.skip(k)
	return v
}

func (r *reader) skip(k uint) {
	r.Bits >>= k & 63
	r.N -= int(k)
}

// symbol reads a symbol with a table. It needs 15 bits.
func (r *reader) symbol(table []uint32) uint32 {
	e := table[r.Bits&(1<<first-1)]
	if e&prefix.Sub != 0 {
		e = table[e>>16+uint32(r.Bits>>first)&(1<<(e>>8&15)-1)]
	}
	r.Bits >>= e & 63
	r.N -= int(e & 63)
	return e >> 16
}

// value reads the rest of a length or a distance, at least 1. It needs 18 bits.
func (r *reader) value(symbol uint32) int {
	if symbol < 4 {
		return int(symbol) + 1
	}
	extra := uint(symbol-2) >> 1
	return (2+int(symbol&1))<<extra + int(r.read(extra)) + 1
}
