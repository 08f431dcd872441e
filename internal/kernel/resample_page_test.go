//go:build linux

package kernel

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// beforeNothing returns n bytes that end where an inaccessible page starts.
func beforeNothing(t *testing.T, n int) []uint8 {
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(b)) })
	require.NoError(t, syscall.Mprotect(b[size:], syscall.PROT_NONE))
	return b[size-n : size : size]
}

// TestResampleReads checks that no pass reads or writes beyond its slices. Go's
// own checks do that where the passes are Go.
func TestResampleReads(t *testing.T) {
	needsVectors(t)
	levels(t, func(t *testing.T) {
		const most = 9 * 600 * 4
		step := short.Step(t, 9)
		from, to := beforeNothing(t, most), beforeNothing(t, most)
		copy(from, noise(1, most))
		var taps Taps
		for _, fill := range tables {
			for out := 1; out <= 64; out += step {
				for i, in := range []int{1, 2, 3, 4, 5, 6, 7, 8, max(1, out/2), out, out*25/16 + 1, out*2 + 1, out * 9} {
					fill(&taps, in, out, 0, out)
					for ch := 1; ch <= 4; ch++ {
						rows := 1 + (out+i)%9
						src, dst := from[most-rows*in*ch:], to[most-rows*out*ch:]
						want := make([]uint8, len(dst))
						taps.horizontalGo(want, src, rows, in, ch, 0)
						taps.Horizontal(dst, src, rows, in, ch)
						require.Equal(t, want, dst)
					}
				}
			}
			for line := 1; line < 300; line += step {
				in, out := 1+line%13, 1+line%7
				fill(&taps, in, out, 0, out)
				src, dst := from[most-in*line:], to[most-out*line:]
				taps.Vertical(dst, src, line)
				want := make([]uint8, line)
				for y, s := range taps.Start {
					taps.verticalGo(want, src[int(s)*line:], line, y)
					require.Equal(t, want, dst[y*line:][:line])
				}
			}
		}
	})
}
