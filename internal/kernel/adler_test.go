package kernel

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAdler compares the checksum, in assembly and in plain Go, with std's.
func TestAdler(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	most := bytes.Repeat([]byte{255}, 3*adlerMost+100)
	for round := range 2000 {
		b := make([]byte, r.IntN(200))
		switch round % 4 {
		case 0:
			b = make([]byte, r.IntN(3*adlerMost))
		case 1:
			b = most[:r.IntN(len(most))]
		}
		if round%4 != 1 {
			for i := range b {
				b[i] = byte(r.Uint32())
			}
		}
		s, plain := NewAdler(), NewAdler()
		for rest := b; ; {
			n := min(len(rest), 1+r.IntN(len(b)+1))
			s.Add(rest[:n])
			for q := rest[:n]; len(q) > 0; {
				m := min(len(q), adlerMost)
				plain.add(q[:m])
				plain.sums[0] %= adlerPrime
				plain.sums[1] %= adlerPrime
				q = q[m:]
			}
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
		require.Equal(t, adler32.Checksum(b), s.Value(), "%d bytes", len(b))
		require.Equal(t, s, plain, "%d bytes", len(b))
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { s := NewAdler(); s.Add(most) }))
}

func BenchmarkAdler(b *testing.B) {
	p := make([]byte, 1<<16)
	b.SetBytes(int64(len(p)))
	for range b.N {
		s := NewAdler()
		s.Add(p)
	}
}
