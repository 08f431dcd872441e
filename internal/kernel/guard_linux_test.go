package kernel

import (
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// pages is memory that ends at an inaccessible page.
type pages [8][]uint8

const pagesLen = 1 << 20

func newPages(t *testing.T) *pages {
	p := &pages{}
	size := syscall.Getpagesize()
	for i := range p {
		b, err := syscall.Mmap(-1, 0, pagesLen+size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, syscall.Munmap(b)) })
		require.NoError(t, syscall.Mprotect(b[pagesLen:], syscall.PROT_NONE))
		p[i] = b[:pagesLen]
	}
	return p
}

func (p *pages) bytes(place, n int) []uint8 { return p[place][pagesLen-n:] }

func (p *pages) check(*testing.T, string) {}

// TestPageEnds checks that no function reads or writes beyond its slices. Go's
// own checks do that where all kernels are Go.
func TestPageEnds(t *testing.T) {
	needsVectors(t)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	p := newPages(t)
	t.Run("pixels", func(t *testing.T) { testPixelsIn(t, p) })
	t.Run("flip", func(t *testing.T) { testFlipIn(t, p) })
	t.Run("rows", func(t *testing.T) { testRowsIn(t, p) })
	t.Run("blur", func(t *testing.T) { testBlurIn(t, p) })
	t.Run("normalize", func(t *testing.T) { testNormalizeIn(t, p) })
	t.Run("linear", func(t *testing.T) { testLinearIn(t, p) })
	t.Run("quantize", func(t *testing.T) { testQuantizeIn(t, p) })
	t.Run("color", func(t *testing.T) { testColorIn(t, p) })
	t.Run("rearrange", func(t *testing.T) { testRearrangeIn(t, p) })
	t.Run("vp8l", func(t *testing.T) { testVP8LIn(t, p) })
	t.Run("palette", func(t *testing.T) { testLookupRGBIn(t, p) })
	t.Run("png filters", func(t *testing.T) { testPNGUnfilterIn(t, p) })
	t.Run("cv", func(t *testing.T) { testCVIn(t, p) })
	t.Run("cv rows", func(t *testing.T) { testCVRowsIn(t, p) })
	t.Run("pick", func(t *testing.T) { testPickIn(t, p) })
	t.Run("warps", func(t *testing.T) { testWarpsIn(t, p) })
	t.Run("yuv", func(t *testing.T) { testYUVIn(t, p) })
	t.Run("vp8 to rgb", func(t *testing.T) { testVP8ToRGBIn(t, p) })
	t.Run("fdct", func(t *testing.T) { testFDCTIn(t, p) })
	t.Run("rgb to ycc", func(t *testing.T) { testRGBToYCCIn(t, p) })
	t.Run("downsample", func(t *testing.T) { testDownsampleIn(t, p) })
	t.Run("huffman row", func(t *testing.T) { testHuffRowIn(t, p) })
	t.Run("left of 16 bits", func(t *testing.T) { testAddLeft16In(t, p) })
}
