package memory_test

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/memory"
	"github.com/infer-prep/infer-prep/codec/pixels"
)

const width, height = 7, 5

// layouts are the ways in which the tests lay pixels out.
var layouts = map[string]func(size int) memory.Image{
	"dense":   func(n int) memory.Image { return memory.Image{Row: width * n, Pixel: n, Sample: 1} },
	"padded":  func(n int) memory.Image { return memory.Image{Row: width*n + 9, Pixel: n, Sample: 1} },
	"wide":    func(n int) memory.Image { return memory.Image{Row: width * (n + 2), Pixel: n + 2, Sample: 1} },
	"planes":  func(n int) memory.Image { return memory.Image{Row: width, Pixel: 1, Sample: width * height} },
	"columns": func(n int) memory.Image { return memory.Image{Row: n, Pixel: n * height, Sample: 1} },
	"bgr":     func(n int) memory.Image { return memory.Image{Row: width * n, Pixel: n, Sample: -1, Offset: n - 1} },
	"turned": func(n int) memory.Image {
		return memory.Image{Row: -width * n, Pixel: -n, Sample: 1, Offset: width*n*height - n}
	},
}

// laidOut fills an image of a layout with pixels, no two of which are equal.
// It returns the same pixels in the form of package pixels, too.
func laidOut(mode codec.Mode, layout func(int) memory.Image) (memory.Image, []byte) {
	i := layout(mode.Size())
	i.Width, i.Height, i.Mode, i.Data = width, height, mode, bytes.Repeat([]byte{0xEE}, 400)
	dense := pixels.Header{Width: width, Height: height, Mode: mode}.Append(nil)
	for y := range height {
		for x := range width {
			for c := range mode.Size() {
				v := byte(y*61 + x*7 + c*101)
				i.Data[i.Offset+y*i.Row+x*i.Pixel+c*i.Sample] = v
				dense = append(dense, v)
			}
		}
	}
	return i, dense
}

type rows struct{ pix []byte }

func (r *rows) Rows(_, _ int, pix []byte) { r.pix = append(r.pix, pix...) }

// TestLayouts compares with the same pixels in a row, under the policies that
// treat modes unlike.
func TestLayouts(t *testing.T) {
	for name, layout := range layouts {
		for _, mode := range []codec.Mode{codec.L, codec.LA, codec.RGB, codec.RGBA} {
			i, dense := laidOut(mode, layout)
			for _, o := range []codec.Options{{}, {Alpha: codec.AlphaWhite}, {Color: codec.ToGray}, {Color: codec.ToBGR}} {
				want, err := codec.Decode(dense, &o)
				require.NoError(t, err)
				b, done, err := memory.Lend(i)
				require.NoError(t, err)
				got, err := codec.Decode(b, &o)
				require.NoError(t, err)
				require.Equal(t, want, got, "%s %v", name, mode)

				region := codec.Region{Left: 2, Top: 1, Width: 4, Height: 3}
				var d codec.Decoder
				var r [2]rows
				for k, data := range [][]byte{b, dense} {
					image, err := d.Open(data, &o)
					require.NoError(t, err)
					require.NoError(t, image.DecodeRows(&r[k], region))
				}
				require.Equal(t, r[1].pix, r[0].pix, "%s %v", name, mode)
				done()
			}
		}
	}
}

// TestInPlace: dense rows are the image's own memory, and reading them
// allocates nothing.
func TestInPlace(t *testing.T) {
	i, _ := laidOut(codec.RGB, layouts["padded"])
	b, done, err := memory.Lend(i)
	require.NoError(t, err)
	defer done()
	var d codec.Decoder
	image, err := d.Open(b, nil)
	require.NoError(t, err)
	seen := sink(func(y int, pix []byte) { require.Same(t, &i.Data[y*i.Row], &pix[0]) })
	require.NoError(t, image.DecodeRows(seen, codec.Region{Width: width, Height: height}))
	none := sink(func(int, []byte) {})
	require.Zero(t, testing.AllocsPerRun(10, func() {
		image, err := d.Open(b, nil)
		if err != nil || image.DecodeRows(none, codec.Region{Width: width, Height: height}) != nil {
			panic("no rows")
		}
	}))
}

type sink func(y int, pix []byte)

func (s sink) Rows(y, _ int, pix []byte) { s(y, pix) }

// TestNames: only the name itself, and only before done, names an image.
func TestNames(t *testing.T) {
	i, _ := laidOut(codec.RGB, layouts["dense"])
	b, done, err := memory.Lend(i)
	require.NoError(t, err)
	_, err = codec.Decode(bytes.Clone(b), nil)
	require.ErrorIs(t, err, codec.ErrFormat)
	require.ErrorContains(t, err, "nobody lends")
	_, err = codec.Decode(b, &codec.Options{Refuse: codec.RefuseGray})
	require.NoError(t, err)
	_, err = codec.Decode(b, &codec.Options{Limits: codec.Limits{Pixels: width*height - 1}})
	require.ErrorIs(t, err, codec.ErrPixels)
	done()
	done()
	_, err = codec.Decode(b, nil)
	require.ErrorContains(t, err, "nobody lends")
}

func TestInvalid(t *testing.T) {
	good, _ := laidOut(codec.RGB, layouts["dense"])
	for text, change := range map[string]func(*memory.Image){
		"0x5 pixels, want 1":         func(i *memory.Image) { i.Width = 0 },
		"16777217 pixels, want 1":    func(i *memory.Image) { i.Height = 1<<24 + 1 },
		"mode CMYK, want L":          func(i *memory.Image) { i.Mode = codec.CMYK },
		"outside of 104 bytes":       func(i *memory.Image) { i.Data = i.Data[:width*height*3-1] },
		"outside of 0 bytes":         func(i *memory.Image) { i.Data = nil },
		"from byte -1 lead outside":  func(i *memory.Image) { i.Offset = -1 },
		"strides -21, 3 and 1 of":    func(i *memory.Image) { i.Row = -21 },
		"2147483647, 3 and 1 of 7":   func(i *memory.Image) { i.Row = math.MaxInt32 },
		"a sample stride of -922337": func(i *memory.Image) { i.Sample = math.MinInt },
	} {
		i := good
		if change(&i); strconv.IntSize == 32 && i.Sample == math.MinInt {
			continue // every stride of 32 bits is valid by itself
		}
		_, _, err := memory.Lend(i)
		require.ErrorContains(t, err, text)
		var e *codec.Error
		require.True(t, errors.As(err, &e))
	}
}

// FuzzLend reads images of any strides: every one is an error, or all of its
// pixels are read.
func FuzzLend(f *testing.F) {
	f.Add(7, 5, uint8(codec.RGB), 0, 21, 3, 1)
	f.Add(7, 5, uint8(codec.RGBA), 399, -28, -4, -1)
	f.Add(1<<24, 1<<24, uint8(codec.L), 0, 0, 0, 0)
	f.Fuzz(func(t *testing.T, w, h int, mode uint8, offset, row, pixel, sample int) {
		i := memory.Image{Width: w, Height: h, Mode: codec.Mode(mode), Data: make([]byte, 400), Offset: offset, Row: row, Pixel: pixel, Sample: sample}
		b, done, err := memory.Lend(i)
		if err != nil {
			return
		}
		defer done()
		if int64(w)*int64(h) > 1<<20 {
			return
		}
		_, err = codec.Decode(b, nil)
		require.NoError(t, err)
	})
}
