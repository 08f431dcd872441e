package rng

import "math/bits"

// Permutation is a keyed permutation of 0 to n-1 that needs no table. It is a
// Feistel network over an even number of bits, at least those of n-1. At
// follows the network's cycle until it reaches a number below n (Black,
// Rogaway: Ciphers with Arbitrary Finite Domains, CT-RSA 2002). A Permutation
// is safe for concurrent use.
type Permutation struct {
	n    uint64
	key  Key
	half uint   // bits of each half
	mask uint64 // covers one half
}

// Four rounds make the network a pseudorandom permutation (Luby and Rackoff);
// six compensate for short halves. With halves below leastHalf bits the orders
// are not equally likely, as TestPermutationIsEven measures. Small n then take
// more steps per number, but have few numbers.
const (
	rounds    = 6
	leastHalf = 4
)

// NewPermutation returns the permutation of 0 to n-1 that key selects.
func NewPermutation(n uint64, key Key) Permutation {
	b := uint(bits.Len64(max(n, 2) - 1))
	half := max((b+1)/2, leastHalf)
	return Permutation{n: n, key: key, half: half, mask: 1<<half - 1}
}

// At returns the i-th number. It panics unless i is below n.
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

// philox7 is the round function: the 2x32 bijection of the same family. Its
// authors found that 7 rounds pass all tests of randomness.
func philox7(k Key, round uint32, x uint64) uint64 {
	a, b, key := uint32(x)^k[1], round, k[0]
	for range 7 {
		h, l := bits.Mul32(0xd256d193, a)
		a, b = h^key^b, l
		key += 0x9e3779b9
	}
	return uint64(a) | uint64(b)<<32
}
