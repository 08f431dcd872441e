package bmp

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	_ "github.com/infer-prep/infer-prep/codec/png" // of icons
)

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }
func FuzzDIB(f *testing.F)    { codectest.Fuzz(f, nameDIB) }
func FuzzICO(f *testing.F)    { codectest.Fuzz(f, nameICO) }

// TestPixels compares the unpackers of several bytes at a time, which must
// leave what follows the row as it is.
func TestPixels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for w := range 20 {
		for n, fast := range map[int]unpacker{3: bgr, 4: bgrx} {
			for _, more := range []int{0, 8} {
				src := make([]byte, n*w+more)
				for i := range src {
					src[i] = byte(rnd.Uint32())
				}
				want, got := bytes.Repeat([]byte{0xA5}, 3*w+more), bytes.Repeat([]byte{0xA5}, 3*w+more)
				channels(n, 2, 1, 0)(want, src, w)
				fast(got, src, w)
				require.Equal(t, want, got)
			}
		}
	}
}
