package kernel

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// findPlain is FindWord with a loop over words.
func findPlain(b []byte, w uint32) int {
	for i := 0; i+4 <= len(b); i += 4 {
		if binary.LittleEndian.Uint32(b[i:]) == w {
			return i
		}
	}
	return -1
}

// TestFindWord tests every length and start with the word at every position,
// including positions that do not count.
func TestFindWord(t *testing.T) {
	const w = 0xced7230a
	// require.Equal takes longer than the search.
	same := func(t *testing.T, b []byte, want int) {
		t.Helper()
		if got := FindWord(b, w); got != want {
			t.Fatalf("%x: the word at %d, want %d", b, got, want)
		}
	}
	test := func(t *testing.T) {
		step := short.Step(t, 7)
		mem := make([]byte, 600)
		for n := 0; n < 520; n += step {
			for start := range 3 {
				b := mem[start : start+n : start+n]
				clear(mem)
				binary.LittleEndian.PutUint32(mem[start+n:], w) // directly behind b
				same(t, b, -1)
				for at := 0; at+4 <= n; at += 1 + at%7 {
					clear(b)
					binary.LittleEndian.PutUint32(b[at:], w)
					same(t, b, findPlain(b, w))
					if at+8 <= n {
						binary.LittleEndian.PutUint32(b[n-4:], w)
						same(t, b, findPlain(b, w))
					}
				}
			}
		}
		// These words differ from w in one bit. The next ones differ from 0 by
		// 1.
		b := make([]byte, 256)
		for bit := range 32 {
			for at := 0; at < len(b); at += 4 {
				binary.LittleEndian.PutUint32(b[at:], w^1<<bit)
			}
			require.Equal(t, -1, FindWord(b, w))
		}
		for at := 0; at < len(b); at += 4 {
			binary.LittleEndian.PutUint32(b[at:], 1)
		}
		require.Equal(t, -1, FindWord(b, 0))
		require.Equal(t, 0, FindWord(b, 1))
	}
	if cpu.Any() {
		t.Run("fast", test)
	}
	t.Run("plain", func(t *testing.T) {
		defer cpu.DisableAll()()
		test(t)
	})
}

func BenchmarkFindWord(b *testing.B) {
	for _, n := range []int{3000, 107 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				FindWord(x, 1)
			}
		})
	}
}
