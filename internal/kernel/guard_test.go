package kernel

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// fence supplies memory for tests of kernels and detects accesses outside it.
// The memory of a place is valid until the next request for the same place.
type fence interface {
	bytes(place, n int) []uint8
	check(t *testing.T, what string)
}

// guard surrounds the memory with bytes that must not change.
type guard struct {
	all  [8][]uint8
	used [8][2]int
	turn int
}

const guardLen = 64

// needsVectors skips a test that compares vector instructions with Go where no
// kernel uses them: it would compare Go with itself.
func needsVectors(t *testing.T) {
	t.Helper()
	if !cpu.Any() {
		t.Skip("no kernel uses vector instructions here")
	}
}

func (g *guard) bytes(place, n int) []uint8 {
	g.turn++
	from := guardLen + g.turn%8*8
	if len(g.all[place]) < from+n+guardLen {
		g.all[place] = make([]uint8, from+n+guardLen)
	}
	all := g.all[place]
	for i := range all {
		all[i] = 0xA5
	}
	g.used[place] = [2]int{from, from + n}
	return all[from : from+n : from+n]
}

func (g *guard) check(t *testing.T, what string) {
	for place, all := range g.all {
		for i, v := range all {
			if (i < g.used[place][0] || i >= g.used[place][1]) && v != 0xA5 {
				require.Failf(t, "written outside", "%s: memory %d, at %d of %d to %d", what, place, i, g.used[place][0], g.used[place][1])
			}
		}
	}
}

// fenced returns n elements of the memory.
func fenced[T Word](f fence, place, n int) []T {
	var z T
	b := f.bytes(place, n*int(unsafe.Sizeof(z)))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}
