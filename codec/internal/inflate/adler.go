package inflate

import "encoding/binary"

// adler is the Adler-32 checksum of RFC 1950.
type adler struct{ a, b uint32 }

func newAdler() adler { return adler{1, 0} }

func (s *adler) value() uint32 { return s.b<<16 | s.a }

const (
	adlerPrime = 65521
	// adlerMost bytes keep b within 32 bits. It is a multiple of 8.
	adlerMost = 5552
)

// add adds bytes, 8 at a time: the sum of the bytes, and that of the bytes
// times 8 to 1, are each the highest of four lanes of 16 bits in a product.
func (s *adler) add(p []byte) {
	const even = 0x00FF00FF00FF00FF
	a, b := s.a, s.b
	for len(p) > 0 {
		q := p[:min(len(p), adlerMost)]
		p = p[len(q):]
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
		a %= adlerPrime
		b %= adlerPrime
	}
	s.a, s.b = a, b
}
