package rng

import "math/bits"

// Permutation is a keyed permutation of 0 to n-1 in no memory: a Feistel network
// over an even number of bits, at least those of n-1, walked along its cycles until
// a number is below n (Black, Rogaway: Ciphers with Arbitrary Finite Domains,
// CT-RSA 2002). It may be used by several goroutines.
type Permutation struct {
	n    uint64
	key  Key
	half uint   // bits of each half
	mask uint64 // of a half
}

// rounds of the network: four make it a pseudorandom permutation (Luby and
// Rackoff), six make up for short halves. Halves below leastHalf bits are too
// short for all orders to be equally likely, which a test measures; few numbers
// then walk long, but there are few of them.
const (
	rounds    = 6
	leastHalf = 4
)

// NewPermutation makes the permutation of 0 to n-1 that the key chooses.
func NewPermutation(n uint64, key Key) Permutation {
	b := uint(bits.Len64(max(n, 2) - 1))
	half := max((b+1)/2, leastHalf)
	return Permutation{n: n, key: key, half: half, mask: 1<<half - 1}
}

// At is the i-th number. It panics if i is not below n.
func (p Permutation) At(i uint64) uint64 {
	if i >= p.n {
		panic("rng: permutation: index out of range")
	}
	for {
		l, r := i>>p.half, i&p.mask
		for round := range uint32(rounds) {
			f := philox7(p.key, round, r)
			l, r = r, l^f&p.mask
		}
		if i = l<<p.half | r; i < p.n {
			return i
		}
	}
}

// philox7 is the round function: the 2x32 bijection of the same family, 7 rounds
// of which pass all tests of randomness that its authors know.
func philox7(k Key, round uint32, x uint64) uint64 {
	a, b, key := uint32(x)^k[1], round, k[0]
	for range 7 {
		h, l := bits.Mul32(0xd256d193, a)
		a, b = h^key^b, l
		key += 0x9e3779b9
	}
	return uint64(a) | uint64(b)<<32
}
