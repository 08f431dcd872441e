package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// encodeScene writes an image with flat, smooth and noisy parts.
func encodeScene(t testing.TB, width, height, channels int, o EncodeOptions) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	pix := make([]uint8, width*height*channels)
	for y := range height {
		for x := range width {
			for c := range channels {
				v := 128
				switch (x/40 + y/24) % 4 {
				case 1:
					v = (x*3 + y*(c+1)) & 0xFF
				case 2:
					v = (x*y/16+40*c)&0x7F + r.IntN(64)
				case 3:
					v = r.IntN(256)
				}
				pix[(y*width+x)*channels+c] = uint8(v)
			}
		}
	}
	img, err := tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, height, width, channels), pix)
	require.NoError(t, err)
	b, err := Encode(nil, img, o)
	require.NoError(t, err)
	return b
}

// TestPiecesEqualSerial compares scans decoded in pieces with the same scans
// decoded by one goroutine.
func TestPiecesEqualSerial(t *testing.T) {
	needsThreads(t)
	p := newPair()
	p.several.bands = newBands()
	pieces := &p.several.bands.pieces
	settled, files, n := 0, 0, 0
	step := short.Step(t, 5)
	for _, size := range [][2]int{{331, 257}, {64, 700}, {900, 40}} {
		for _, o := range []EncodeOptions{
			{Quality: 75}, {Quality: 98, Chroma: Chroma444}, {Quality: 30, Chroma: Chroma422},
			{Quality: 90, Optimize: true}, {Quality: 5, Chroma: Chroma444, Optimize: true},
		} {
			for _, channels := range []int{1, 3} {
				if n++; n%step != 0 {
					continue
				}
				files++
				data := encodeScene(t, size[0], size[1], channels, o)
				for i, length := range []int{40, 333, 1500, 4000} {
					pieces.size = length
					d := codec.Options{Scale: codec.Scale(max(0, n+i-4) % 4)}
					p.require(t, data, d, 2+i, "%v, %+v, %d channels, pieces of %d bytes", size, o, channels, length)
					settled += pieces.settled
				}
			}
		}
	}
	require.Greater(t, p.entered, files)
	require.Greater(t, settled, 20*files)
}

// TestPiecesStray: with the same code for all components, an MCU that is
// guessed at another component's block stays wrong.
func TestPiecesStray(t *testing.T) {
	needsThreads(t)
	p := newPair()
	p.several.bands = newBands()
	for _, f := range []string{"22 11 11", "11 11 11 11", "11"} {
		for i, length := range []int{40, 333, 2000} {
			p.several.bands.pieces.size = length
			p.require(t, randomJPEG(313, 217, f, 0, 6, 0), codec.Options{}, 2+i, "%s, pieces of %d bytes", f, length)
		}
	}
	require.Positive(t, p.entered)
}

// TestPiecesDamage damages files in many ways: in pieces and without they are
// accepted or refused with the same words and have the same pixels.
func TestPiecesDamage(t *testing.T) {
	needsThreads(t)
	r := rand.New(rand.NewPCG(5, 6))
	p := newPair()
	p.several.bands = newBands()
	var files [][]byte
	for _, o := range []EncodeOptions{{Quality: 75}, {Quality: 97, Chroma: Chroma444}, {Quality: 85, Optimize: true}} {
		files = append(files, encodeScene(t, 313, 517, 3, o))
	}
	accepted := 0
	n := short.Rounds(t, 200, 40)
	for i := range n {
		data := bytes.Clone(files[r.IntN(len(files))])
		for range 1 << r.IntN(5) {
			switch at := 700 + r.IntN(len(data)-702); r.IntN(8) {
			case 0: // a marker or a stuffed zero
				data[at], data[at+1] = 0xFF, []byte{0, 0xFF, 0xD0, 0xD9, 0x01}[r.IntN(5)]
			case 1:
				data = append(data[:at], data[min(at+r.IntN(200), len(data)-600):]...)
			case 2: // fewer MCUs than announced, or more
				data = append(data[:at:at], data[max(600, at-r.IntN(2000)):]...)
			default:
				if data[at-1] != 0xFF && data[at] != 0xFF && data[at+1] != 0xFF {
					data[at] ^= 1 << r.IntN(7)
				}
			}
		}
		p.several.bands.pieces.size = []int{300, 2000, 9000}[r.IntN(3)]
		if p.require(t, data, codec.Options{}, 2+r.IntN(3), "damage %d", i) == nil {
			accepted++
		}
	}
	require.Greater(t, p.entered, n/4)
	require.Greater(t, accepted, n/4)
}

// TestPiecesMemory compares the limit with what pieces need.
func TestPiecesMemory(t *testing.T) {
	needsThreads(t)
	data := encodeScene(t, 1200, 900, 3, EncodeOptions{Quality: 90})
	d := newDecoder()
	o := codec.Options{Workers: 2}
	var r codec.Raster
	for range 3 {
		require.NoError(t, d.decodeData(&r, data, &o))
	}
	b := d.bands
	require.Equal(t, b.jobs, b.given)
	require.Greater(t, b.jobs, 3, fmt.Sprint(len(data)))
	require.Less(t, len(b.pieces.pool.free)*segment, 4*b.used*pieceBlocks)
	require.Less(t, testing.AllocsPerRun(5, func() { _ = d.decodeData(&r, data, &o) }), float64(4*b.n))

	o.Limits.Bytes = d.need + 1<<20
	b.given = 0
	require.NoError(t, d.decodeData(&r, data, &o))
	require.Zero(t, b.given, "went beyond the limit")
}

// FuzzPieces mutates valid files: it flips bits of two bytes. In pieces and
// without, they have the same errors and pixels.
func FuzzPieces(f *testing.F) {
	for channels := 1; channels <= 3; channels += 2 {
		b := encodeImage(f, 150, 120, channels, 0)
		for _, o := range []EncodeOptions{{Quality: 95}, {Quality: 98, Chroma: Chroma444, Optimize: true}} {
			data, err := Encode(nil, b, o)
			require.NoError(f, err)
			f.Add(data, uint16(0), uint16(0), byte(0), uint16(50))
			f.Add(data, uint16(len(data)/2), uint16(len(data)/3), byte(4), uint16(700))
		}
	}
	p := newPair()
	p.several.bands = newBands()
	f.Fuzz(func(t *testing.T, data []byte, first, second uint16, flip byte, size uint16) {
		if len(data) == 0 {
			return
		}
		data = bytes.Clone(data)
		data[int(first)%len(data)] ^= flip
		data[int(second)%len(data)] ^= flip
		p.several.bands.pieces.size = 40 + int(size)
		o := codec.Options{Limits: codec.Limits{Pixels: 1 << 16, Bytes: 64 << 20, Scans: 30}}
		_ = p.require(t, data, o, 2, "fuzz")
	})
}
