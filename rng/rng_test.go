package rng

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// The known answers are from the generator's authors (Random123 1.14,
// kat_vectors, philox4x32 10).
func TestKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		ctr  [4]uint32
		key  Key
		want [4]uint32
	}{
		{[4]uint32{}, Key{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, Key{0xffffffff, 0xffffffff}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Key{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		require.Equal(t, c.want, philox(c.key, c.ctr))
	}
}

func TestStreamIsAFunction(t *testing.T) {
	a, b := NewKey(1, 2, "map").At(7), NewKey(1, 2, "map").At(7)
	for range 100 {
		require.Equal(t, a.Uint64(), b.Uint64())
	}
	seen := map[uint64]bool{}
	for _, k := range []Key{NewKey(1, 2, "map"), NewKey(2, 1, "map"), NewKey(1, 2, "map2"), NewKey(1, 3, "map"), NewKey(1, 2, "")} {
		for o := range uint64(100) {
			s := k.At(o)
			v := s.Uint64()
			require.False(t, seen[v])
			seen[v] = true
		}
	}
}

func TestDistributions(t *testing.T) {
	s := NewKey(5, 0, "test").At(0)
	const n = 200_000
	var counts [7]int
	sum, squares := 0.0, 0.0
	for range n {
		counts[s.IntN(7)]++
		v := s.Float64()
		require.True(t, v >= 0 && v < 1)
		sum, squares = sum+v, squares+v*v
	}
	// The bounds are five standard deviations.
	for _, c := range counts {
		require.InDelta(t, n/7.0, c, 5*math.Sqrt(n*6.0/49))
	}
	require.InDelta(t, 0.5, sum/n, 5*math.Sqrt(1/12.0/n))
	require.InDelta(t, 1/3.0, squares/n, 5*math.Sqrt(4/45.0/n))
}

func TestPermutationIsOne(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 5, 7, 16, 17, 100, 255, 256, 257, 1000, 4097} {
		p := NewPermutation(n, NewKey(n, 1, "shuffle"))
		seen := make([]bool, n)
		for i := range n {
			v := p.At(i)
			require.Less(t, v, n)
			require.False(t, seen[v])
			seen[v] = true
		}
	}
	big := NewPermutation(1<<40+3, NewKey(1, 1, ""))
	require.Less(t, big.At(1<<40), uint64(1<<40+3))
}

// TestPermutationIsEven checks, over many keys, that each number appears at
// each position and each triple comes first equally often.
func TestPermutationIsEven(t *testing.T) {
	// Fewer keys do not reach each of the 336 orders of 8 and the 1,716 of 13.
	keys := short.Rounds(t, 20_000, 2_000)
	for _, n := range []uint64{3, 5, 8, 13} {
		if n >= 8 && keys < 20_000 {
			break
		}
		places := make([]int, n*n)
		orders := map[[3]uint64]int{}
		for k := range uint64(keys) {
			p := NewPermutation(n, NewKey(k, 0, "even"))
			for i := range n {
				places[i*n+p.At(i)]++
			}
			orders[[3]uint64{p.At(0), p.At(1), p.At(2)}]++
		}
		chi := 0.0
		want := float64(keys) / float64(n)
		for _, c := range places {
			d := float64(c) - want
			chi += d * d / want
		}
		free := float64((n - 1) * (n - 1))
		require.Less(t, chi, free+6*math.Sqrt(2*free)+6, "places of %d: chi squared %v", n, chi)
		kinds := float64(n * (n - 1) * (n - 2))
		require.Len(t, orders, int(kinds))
		chi = 0
		for _, c := range orders {
			want := float64(keys) / kinds
			d := float64(c) - want
			chi += d * d / want
		}
		require.Less(t, chi, kinds+6*math.Sqrt(2*kinds)+6, "orders of %d: chi squared %v of %v", n, chi, kinds)
	}
}

func BenchmarkPermutation(b *testing.B) {
	p := NewPermutation(10_000_000, NewKey(1, 2, "shuffle"))
	for i := range b.N {
		p.At(uint64(i) % 10_000_000)
	}
}

func TestNormal(t *testing.T) {
	s := NewKey(6, 0, "normal").At(0)
	const n = 400_000
	sums := [5]float64{}
	within := [3]int{}
	for range n {
		v := s.Normal()
		p := 1.0
		for i := range sums {
			sums[i] += p
			p *= v
		}
		for i := range within {
			if math.Abs(v) < float64(i+1) {
				within[i]++
			}
		}
	}
	// The moments must lie within five standard deviations of their estimates.
	for i, want := range []float64{1, 0, 1, 0, 3} {
		variance := []float64{0, 1, 2, 15, 96}[i]
		require.InDelta(t, want, sums[i]/n, 5*math.Sqrt(variance/n), "moment %d", i)
	}
	for i, p := range []float64{0.682689492137086, 0.954499736103642, 0.997300203936740} {
		require.InDelta(t, p, float64(within[i])/n, 5*math.Sqrt(p*(1-p)/n))
	}
}
