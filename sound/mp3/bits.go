package mp3

import "encoding/binary"

// spareBytes are zeros behind the data of a bitReader. Scale factors or a pair
// that begin at the end of the data read less than 24 bytes of them.
const spareBytes = 32

// bitReader reads bits of data that has spareBytes zeros behind it.
type bitReader struct {
	data []byte
	pos  int // in bits
}

// peek returns the next n bits, 1 to 32.
func (r *bitReader) peek(n int) uint32 {
	at := r.pos >> 3
	return uint32(binary.BigEndian.Uint64(r.data[at:at+8]) << (r.pos & 7) >> (64 - n))
}

// bits reads n bits, 0 to 32.
func (r *bitReader) bits(n int) int {
	if n == 0 {
		return 0
	}
	v := r.peek(n)
	r.pos += n
	return int(v)
}
