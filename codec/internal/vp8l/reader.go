package vp8l

import (
	"encoding/binary"
	"io"

	"github.com/infer-prep/infer-prep/codec/internal/prefix"
)

// reader reads bits, the lowest one of a byte first. After the end it reads
// zeros.
type reader struct {
	in   []byte
	pos  int // of the next byte of in
	bits uint64
	n    int // bits that are valid
	over int // bits of them after the end
}

// fill makes the bits at least 56.
func (r *reader) fill() {
	if p := r.pos; p+8 <= len(r.in) {
		r.bits |= binary.LittleEndian.Uint64(r.in[p:]) << (r.n & 63)
		r.pos = p + (63-r.n)>>3
		r.n |= 56
		return
	}
	r.slow()
}

func (r *reader) slow() {
	r.bits &= 1<<r.n - 1
	for ; r.n < 56; r.n += 8 {
		if r.pos == len(r.in) {
			r.over += 8
			continue
		}
		r.bits |= uint64(r.in[r.pos]) << r.n
		r.pos++
	}
}

// ended returns an error if bits after the end were read.
func (r *reader) ended() error {
	if r.over > r.n {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// read returns the next k bits. The caller has called fill for them.
func (r *reader) read(k uint) uint {
	v := uint(r.bits) & (1<<k - 1)
	r.skip(k)
	return v
}

func (r *reader) skip(k uint) {
	r.bits >>= k & 63
	r.n -= int(k)
}

// symbol reads a symbol with a table. It needs 15 bits.
func (r *reader) symbol(table []uint32) uint32 {
	e := table[r.bits&(1<<first-1)]
	if e&prefix.Sub != 0 {
		e = table[e>>16+uint32(r.bits>>first)&(1<<(e>>8&15)-1)]
	}
	r.bits >>= e & 63
	r.n -= int(e & 63)
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
