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

func testCopyRowsIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, n := range []int{1, 127, 128, 129, 255, 256, 700} {
		for _, rows := range []int{0, 1, 2, 5} {
			for turn := range 2 {
				name := fmt.Sprintf("%d rows of %d bytes, %d", rows, n, turn)
				src, dst := f.bytes(0, rows*(n+3)), f.bytes(1, rows*(n+5))
				copy(src, bytesOf(r, len(src)))
				copy(dst, bytesOf(r, len(dst)))
				want := append([]uint8(nil), dst...)
				in, out := Rows{src, 3, n + 3}, Rows{dst, 5, n + 5}
				if turn == 1 {
					out.At, out.Step = len(dst)-n, -out.Step
				}
				for y := range rows {
					copy(want[out.At+y*out.Step:][:n], src[in.At+y*in.Step:])
				}
				CopyRows(out, in, n, rows)
				require.Equal(t, want, append([]uint8(nil), dst...), name)
				f.check(t, name)
			}
		}
	}
}

func testRowsIn(t *testing.T, f fence) {
	testTransposeIn(t, f)
	testCopyRowsIn(t, f)
}

func TestRows(t *testing.T) {
	levels(t, func(t *testing.T) { testRowsIn(t, &guard{}) })
}
