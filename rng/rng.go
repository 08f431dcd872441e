// Package rng provides the random numbers of training. Its generator is
// counter-based: every number is a pure function of the seed, the epoch, the
// name of the drawing op and the ordinal of the sample. No state is shared,
// advanced or saved, so any process on any platform can compute any number, in
// any order.
//
// The generator is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random
// Numbers: As Easy as 1, 2, 3, SC 2011).
package rng

import (
	"math"
	"math/bits"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Point identifies a sample within a training run.
type Point struct {
	Seed  uint64 // of the training run
	Epoch uint64 // starts at 0
	// Ordinal is the sample's position in the epoch's order, from 0, before
	// samples are distributed among ranks and workers.
	Ordinal uint64
}

// Key is the key of all numbers that one op draws in one epoch.
type Key [2]uint32

// NewKey derives a key from the training's seed, the epoch and the op's path in
// the definition.
func NewKey(seed, epoch uint64, path string) Key {
	h := mix(seed + 0x9e3779b97f4a7c15)
	h = mix(h ^ epoch + 0x9e3779b97f4a7c15)
	for i := range len(path) {
		h = mix(h ^ uint64(path[i]) + 0x9e3779b97f4a7c15)
	}
	return Key{uint32(h), uint32(h >> 32)}
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, OOPSLA 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Stream is the sequence of numbers of one key and ordinal. A copy continues
// independently from the position of the original. A Stream is not safe for
// concurrent use.
type Stream struct {
	key     Key
	ordinal uint64
	block   uint64
	buf     [4]uint32
	left    int // numbers of buf not yet drawn
}

// At returns the stream of the sample with the given ordinal, positioned at its
// start.
func (k Key) At(ordinal uint64) Stream { return Stream{key: k, ordinal: ordinal} }

// Uint32 draws 32 bits.
func (s *Stream) Uint32() uint32 {
	if s.left == 0 {
		s.buf = philox(s.key, [4]uint32{uint32(s.block), uint32(s.block >> 32), uint32(s.ordinal), uint32(s.ordinal >> 32)})
		s.block++
		s.left = 4
	}
	s.left--
	return s.buf[3-s.left]
}

// Uint64 draws 64 bits, the lower half first.
func (s *Stream) Uint64() uint64 {
	lo := s.Uint32()
	return uint64(s.Uint32())<<32 | uint64(lo)
}

// Float64 draws a number from [0, 1) with 53 random bits.
func (s *Stream) Float64() float64 { return float64(float64(s.Uint64()>>11) / (1 << 53)) }

// Uniform draws a number from [a, b). It returns a if b is not greater.
func (s *Stream) Uniform(a, b float64) float64 { return a + float64(s.Float64()*(b-a)) }

// Coin returns true with probability p.
func (s *Stream) Coin(p float64) bool { return s.Float64() < p }

// Normal draws from the normal distribution of mean 0 and standard deviation 1.
// It computes sqrt(-2 log(1-u)) * cos(2 pi v) from two numbers u and v of
// Float64 (Box, Muller: A Note on the Generation of Random Normal Deviates,
// 1958). The absolute value is at most 8.6.
func (s *Stream) Normal() float64 {
	r := math.Sqrt(float64(-2 * exactmath.Log(1-s.Float64())))
	return float64(r * exactmath.Cos2Pi(s.Float64()))
}

// IntN draws an integer from [0, n), uniformly (Lemire: Fast Random Integer
// Generation in an Interval, 2019). It panics if n is less than 1.
func (s *Stream) IntN(n int) int {
	if n < 1 {
		panic("rng: IntN: n is less than 1")
	}
	hi, lo := bits.Mul64(s.Uint64(), uint64(n))
	if lo < uint64(n) {
		for least := -uint64(n) % uint64(n); lo < least; {
			hi, lo = bits.Mul64(s.Uint64(), uint64(n))
		}
	}
	return int(hi)
}

// Shuffle permutes 0 to n-1 with swap (Fisher and Yates, from the end).
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.IntN(i+1))
	}
}

// philox computes ten rounds of the 4x32 bijection.
func philox(k Key, c [4]uint32) [4]uint32 {
	for i := range 10 {
		if i > 0 {
			k[0] += 0x9e3779b9
			k[1] += 0xbb67ae85
		}
		h0, l0 := bits.Mul32(0xd2511f53, c[0])
		h1, l1 := bits.Mul32(0xcd9e8d57, c[2])
		c = [4]uint32{h1 ^ c[1] ^ k[0], l1, h0 ^ c[3] ^ k[1], l0}
	}
	return c
}
