package kernel

import "encoding/binary"

// Adler is the Adler-32 checksum of RFC 1950. NewAdler returns that of no
// bytes.
type Adler struct{ sums [2]uint32 }

// NewAdler returns the checksum of no bytes.
func NewAdler() Adler { return Adler{[2]uint32{1, 0}} }

// Value returns the checksum.
func (s *Adler) Value() uint32 { return s.sums[1]<<16 | s.sums[0] }

const (
	adlerPrime = 65521
	// adlerMost bytes keep the second sum within 32 bits, if both are reduced.
	adlerMost = 5552
)

// Add adds bytes.
func (s *Adler) Add(p []byte) {
	for len(p) > 0 {
		q := p[:min(len(p), adlerMost)]
		p = p[len(q):]
		s.add(q[adlerRow(q, &s.sums):])
		s.sums[0] %= adlerPrime
		s.sums[1] %= adlerPrime
	}
}

// add adds bytes without a reduction, 8 at a time: the sum of the bytes, and
// that of the bytes times 8 to 1, are each the highest of four lanes of 16 bits
// in a product.
func (s *Adler) add(q []byte) {
	const even = 0x00FF00FF00FF00FF
	a, b := s.sums[0], s.sums[1]
	for len(q) >= 8 {
		v := binary.LittleEndian.Uint64(q)
		q = q[8:]
		x, y := v&even, v>>8&even
		b += 8*a + uint32((x*0x0008000600040002+y*0x0007000500030001)>>48)
		a += uint32((x + y) * 0x0001000100010001 >> 48)
	}
	for _, v := range q {
		a += uint32(v)
		b += a
	}
	s.sums[0], s.sums[1] = a, b
}
