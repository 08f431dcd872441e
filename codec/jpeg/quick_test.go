package jpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// TestQuickEqualsCareful decodes a file of more than one piece of 64 KiB, whole
// and damaged in many ways, with the quick decoder and assembly, and without
// both: they take or refuse it with the same words, and give the same pixels.
// Without AVX-512, the quick decoder's coefficients are in paired order.
func TestQuickEqualsCareful(t *testing.T) {
	defer cpu.Disable(cpu.AVX512)()
	whole, err := os.ReadFile("../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	damage := []func(b []byte) []byte{
		func(b []byte) []byte { return b },
		func(b []byte) []byte { return b[:r.IntN(len(b))] },
		func(b []byte) []byte { return b[:65536-600+r.IntN(1200)] },
		func(b []byte) []byte { return b[:len(b)-r.IntN(700)] },
		func(b []byte) []byte { b[700+r.IntN(len(b)-700)] ^= 1 << r.IntN(8); return b },
		func(b []byte) []byte { b[65536-300+r.IntN(600)] ^= 1 << r.IntN(8); return b },
		func(b []byte) []byte { // a marker or a stuffed zero where there was none
			i := 700 + r.IntN(len(b)-702)
			b[i], b[i+1] = 0xFF, []byte{0, 0xFF, 0xD0, 0xD9, 0x01}[r.IntN(5)]
			return b
		},
		func(b []byte) []byte { i := 700 + r.IntN(len(b)-900); return append(b[:i:i], b[i+r.IntN(200):]...) },
	}
	quick, careful := newDecoder(), newDecoder()
	careful.ent.quick.off = true
	var entered, accepted int
	n := short.Rounds(t, 160, 32)
	for i := range n {
		data := damage[i%len(damage)](bytes.Clone(whole))
		var got, want codec.Raster
		o := codec.Options{}
		errQuick := quick.decodeData(&got, data, &o)
		if quick.ent.quick.huff.Buf != nil {
			entered++
		}
		restore := cpu.DisableAll()
		errCareful := careful.decodeData(&want, data, &o)
		restore()
		require.Equal(t, fmt.Sprint(errCareful), fmt.Sprint(errQuick), "damage %d", i)
		if errQuick == nil {
			accepted++
			require.True(t, bytes.Equal(want.Pix, got.Pix), "damage %d: other pixels", i)
		}
	}
	require.Nil(t, careful.ent.quick.huff.Buf, "the careful decoder went the quick way")
	require.Greater(t, entered, n*15/16)
	require.Greater(t, accepted, n*3/8)
}

// noise is a source of samples: the bytes of first, then random ones.
type noise struct {
	first []byte
	rest  *rand.Rand
}

func newNoise(seed uint64, first []byte) *noise {
	return &noise{first: first, rest: rand.New(rand.NewPCG(seed, 4))}
}

func (n *noise) next() uint8 {
	if len(n.first) == 0 {
		return uint8(n.rest.Uint32())
	}
	v := n.first[0]
	n.first = n.first[1:]
	return v
}

// encodeNoise encodes noise with the standard library, as gray or as 4:2:0.
func encodeNoise(t *testing.T, n *noise, width, height, quality int, gray bool) []byte {
	t.Helper()
	var m image.Image
	bounds := image.Rect(0, 0, width, height)
	if gray {
		g := image.NewGray(bounds)
		for i := range g.Pix {
			g.Pix[i] = n.next()
		}
		m = g
	} else {
		c := image.NewRGBA(bounds)
		for y := range height {
			for x := range width {
				c.SetRGBA(x, y, color.RGBA{R: n.next(), G: n.next(), B: n.next(), A: 255})
			}
		}
		m = c
	}
	var b bytes.Buffer
	require.NoError(t, stdjpeg.Encode(&b, m, &stdjpeg.Options{Quality: quality}))
	return b.Bytes()
}

// TestQuickExtremes decodes 3,234 noise images of the lowest and the highest
// qualities with and without the quick decoder. Their blocks take up to 150
// bytes, so that the quick decoder fetches padding before the last MCU ends.
func TestQuickExtremes(t *testing.T) {
	source := newNoise(3, nil)
	quick, careful := newDecoder(), newDecoder()
	careful.ent.quick.off = true
	entered := 0
	for _, quality := range []int{1, 95, 96, 97, 98, 99, 100} {
		for width := 1; width <= 33; width++ {
			for _, height := range []int{1, 7, 8, 9, 16, 17, 33} {
				for _, gray := range []bool{false, true} {
					data := encodeNoise(t, source, width, height, quality, gray)
					var got, want codec.Raster
					o := codec.Options{}
					quick.ent.quick.huff.Buf = nil
					err := quick.decodeData(&got, data, &o)
					if quick.ent.quick.huff.Buf != nil {
						entered++
					}
					require.NoError(t, err)
					require.NoError(t, careful.decodeData(&want, data, &o))
					require.True(t, bytes.Equal(want.Pix, got.Pix), "quality %d, %dx%d, gray %v", quality, width, height, gray)
				}
			}
		}
	}
	require.Greater(t, entered, 1200)
}
