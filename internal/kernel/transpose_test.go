package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func testTransposeIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, px := range []int{1, 2, 3, 4, 6} {
		for _, size := range [][2]int{{1, 1}, {1, 9}, {5, 8}, {6, 8}, {7, 9}, {8, 7}, {8, 16}, {9, 13}, {13, 71}, {70, 64}, {66, 135}} {
			h, w := size[0], size[1]
			for turn := range 4 {
				name := fmt.Sprintf("%d x %d pixels of %d bytes, %d", h, w, px, turn)
				src := f.bytes(0, h*w*px)
				copy(src, bytesOf(r, len(src)))
				dst := f.bytes(1, h*w*px)
				in, out := Rows{src, 0, h * px}, Rows{dst, 0, w * px}
				if turn&1 != 0 {
					in.At, in.Step = (w-1)*h*px, -in.Step
				}
				if turn&2 != 0 {
					out.At, out.Step = (h-1)*w*px, -out.Step
				}
				want := make([]uint8, len(dst))
				for y := range h {
					for x := range w {
						copy(want[out.At+y*out.Step+x*px:][:px], src[in.At+x*in.Step+y*px:])
					}
				}
				Transpose(out, in, h, w, px)
				require.Equal(t, want, dst, name)
				f.check(t, name)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	levels(t, func(t *testing.T) { testTransposeIn(t, &guard{}) })
}
