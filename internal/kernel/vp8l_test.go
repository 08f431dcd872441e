package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// pixelsOf fills memory with random pixels. Few of their bytes are far from
// their neighbours', so that predictors choose in every way.
func pixelsOf(f fence, r *rand.Rand, place, n int) []uint32 {
	p := fenced[uint32](f, place, n)
	v := r.Uint32()
	for i := range p {
		if r.IntN(4) == 0 {
			v = r.Uint32()
		}
		p[i] = VP8LAdd(v, r.Uint32()&0x03030303)
	}
	return p
}

// vp8lPlain returns what f makes of a copy of the pixels without assembly.
func vp8lPlain(pixels []uint32, f func([]uint32)) []uint32 {
	defer cpu.DisableAll()()
	p := slices.Clone(pixels)
	f(p)
	return p
}

func testVP8LIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(51, 52))
	for n := range 45 {
		for mode := range uint32(16) {
			for x := 1; x <= min(n, 20); x += 3 {
				up, row := pixelsOf(f, r, 0, n+1), pixelsOf(f, r, 1, n)
				want := vp8lPlain(row, func(row []uint32) { VP8LPredict(mode, row, up, x) })
				VP8LPredict(mode, row, up, x)
				require.Equal(t, want, row, "predictor %d of pixels %d to %d", mode, x, n)
				f.check(t, "predicted")
			}
		}
		for range 20 {
			a, b, c := int8(r.Uint32()), int8(r.Uint32()), int8(r.Uint32())
			colors := func(p []uint32) { VP8LAddColors(p, a, b, c) }
			p := pixelsOf(f, r, 2, n)
			want := vp8lPlain(p, colors)
			colors(p)
			require.Equal(t, want, p, "%d pixels, factors %d, %d, %d", n, a, b, c)
			f.check(t, "colours")
			want = vp8lPlain(p, VP8LAddGreen)
			VP8LAddGreen(p)
			require.Equal(t, want, p, "%d pixels, green", n)
			f.check(t, "green")
		}
		p, dst := pixelsOf(f, r, 3, n), f.bytes(4, 3*n)
		want := make([]uint8, 0, 3*n)
		for _, v := range p {
			want = append(want, uint8(v>>16), uint8(v>>8), uint8(v))
		}
		ARGBToRGB(dst, p)
		require.Equal(t, want, append(make([]uint8, 0, 3*n), dst...), "%d pixels", n)
		f.check(t, "colours written")
	}
}

func TestVP8L(t *testing.T) {
	needsVectors(t)
	testVP8LIn(t, &guard{})
}

// TestVP8LPredictors compares the predictors with literal values.
func TestVP8LPredictors(t *testing.T) {
	// The pixels above to the left, above and above to the right, and to the
	// left, of which the predictors are RFC 9649's.
	const corner, top, topRight, left = 0x10203040, 0x11FF3050, 0x20304050, 0x08403060
	for mode, want := range []uint32{
		0xFF000000, left, top, topRight, corner, 0x129B3454, 0x0C303050, 0x0C9F3058, 0x108F3048, 0x18973850, 0x12633450, top, 0x09FF3070, 0x0ADE3064,
	} {
		row := []uint32{left, 0}
		VP8LPredict(uint32(mode), row, []uint32{corner, top, topRight}, 1)
		require.Equal(t, fmt.Sprintf("%08x", want), fmt.Sprintf("%08x", row[1]), "predictor %d", mode)
	}
}
