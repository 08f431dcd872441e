package kernel

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// pageEnd returns n bytes that end where an inaccessible page starts.
func pageEnd(t *testing.T, n int) []byte {
	page := syscall.Getpagesize()
	whole := (n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, whole+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	require.NoError(t, syscall.Mprotect(m[whole:], syscall.PROT_NONE))
	return m[whole-n : whole : whole]
}

// pageStart returns n bytes that start where an inaccessible page ends.
func pageStart(t *testing.T, n int) []byte {
	page := syscall.Getpagesize()
	m, err := syscall.Mmap(-1, 0, page+n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	require.NoError(t, syscall.Mprotect(m[:page], syscall.PROT_NONE))
	return m[page : page+n : page+n]
}

// TestRowPageEnd checks that nothing outside the slices is accessed.
func TestRowPageEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for size, f := range map[int]rowFunc{8: IDCTRow, 4: IDCTRow4, 2: IDCTRow2, 1: IDCTRow1} {
		for n := 1; n < 8; n++ {
			for _, mem := range []func(*testing.T, int) []byte{pageEnd, pageStart} {
				stride := size*n + 3
				dst := mem(t, (size-1)*stride+size*n)
				blocks := unsafe.Slice((*[64]int16)(unsafe.Pointer(&mem(t, 128*n)[0])), n)
				quant := (*[64]int16)(unsafe.Pointer(&mem(t, 128)[0]))
				last := mem(t, n)
				for _, l := range []int{0, 9, 63} {
					for i := range blocks {
						randomBlock(r, &blocks[i], l, photoValues)
						last[i] = uint8(l)
					}
					f(dst, stride, blocks, quant, last)
				}
			}
		}
	}
}

// TestUpsamplePageEnd checks that nothing outside the slices is accessed.
func TestUpsamplePageEnd(t *testing.T) {
	for n := 3; n < 100; n++ {
		for _, mem := range []func(*testing.T, int) []byte{pageEnd, pageStart} {
			for _, u := range upsamplers {
				u.f(mem(t, u.out*n), mem(t, n), mem(t, n), n)
			}
		}
	}
}

// TestYCCPageEnd checks that nothing outside the slices is accessed.
func TestYCCPageEnd(t *testing.T) {
	for n := 1; n < 100; n++ {
		for _, mem := range []func(*testing.T, int) []byte{pageEnd, pageStart} {
			y, cb, cr := mem(t, n), mem(t, n), mem(t, n)
			YCCToRGB(mem(t, 3*n), y, cb, cr)
		}
	}
}

// TestYUVPageEnd checks that nothing outside the slices is accessed, which end
// with the last sample. In NV21, V starts before U and ends before it.
func TestYUVPageEnd(t *testing.T) {
	for step := 1; step <= 3; step++ {
		for n := 1; n < 130; n++ {
			chroma := yuvSample(n-1, step) + 1
			for _, mem := range []func(*testing.T, int) []byte{pageEnd, pageStart} {
				y := mem(t, n)
				YUV420ToRGB(mem(t, 3*n), y, mem(t, chroma), mem(t, chroma), step)
				if vu := mem(t, chroma+1); step == 2 {
					YUV420ToRGB(mem(t, 3*n), y, vu[1:], vu[:chroma], step)
				}
			}
		}
	}
}

// TestFindWordPageEnd checks that nothing outside the slice is read.
func TestFindWordPageEnd(t *testing.T) {
	for n := 1; n < 400; n++ {
		for _, mem := range []func(*testing.T, int) []byte{pageEnd, pageStart} {
			require.Equal(t, -1, FindWord(mem(t, n), 1), "%d bytes", n)
		}
	}
}
