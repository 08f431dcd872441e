package cog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/tensor"
)

// value is the sample of a band at (x, y).
func value(t tensor.DType, x, y, band int) float64 {
	v := float64((x*7+y*13+band*50)%200 + x/100)
	if t == tensor.Float32 {
		v = v/7 - 3
	}
	return float64(float32(v))
}

// fill fills a tile with values.
func fill(m *Image) Fill {
	size := m.DType.Size()
	return func(x, y int, dst []byte) error {
		for j := range Tile {
			for i := range Tile {
				for b := range m.Bands {
					p := dst[((j*Tile+i)*m.Bands+b)*size:]
					switch v := value(m.DType, x*Tile+i, y*Tile+j, b); m.DType {
					case tensor.Uint8:
						p[0] = uint8(v)
					case tensor.Uint16:
						binary.NativeEndian.PutUint16(p, uint16(v))
					default:
						binary.NativeEndian.PutUint32(p, math.Float32bits(float32(v)))
					}
				}
			}
		}
		return nil
	}
}

// TestWrite reads files back: TIFF and BigTIFF.
func TestWrite(t *testing.T) {
	geo := tiff.Geo{
		Transform: [6]float64{399960, 10, 0, 5300040, 0, -10}, HasTransform: true,
		Keys: tiff.GeoKeys{Directory: []uint16{1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3072, 0, 1, 32633}, Doubles: []float64{1.5}, ASCII: "WGS 84|"},
	}
	for _, classic := range []int64{math.MaxUint32, 0} {
		for _, m := range []Image{
			{Width: 1100, Height: 530, Bands: 1, DType: tensor.Uint8, Classes: true, Geo: geo},
			{Width: 513, Height: 700, Bands: 3, DType: tensor.Uint16, NoData: 40, HasNoData: true},
			{Width: 512, Height: 1025, Bands: 2, DType: tensor.Float32, NoData: math.NaN(), HasNoData: true, Geo: tiff.Geo{Transform: [6]float64{1, 2, 0.5, 3, 0.25, -4}, HasTransform: true}},
			{Width: 5, Height: 3, Bands: 9, DType: tensor.Float32},
		} {
			m.Temp, m.Workers = t.TempDir(), 3
			var b, again bytes.Buffer
			require.NoError(t, m.write(context.Background(), &b, fill(&m), classic))
			if m.Classes {
				require.NoError(t, m.write(context.Background(), &again, fill(&m), classic))
				require.Equal(t, b.Bytes(), again.Bytes(), "whatever the order of the workers")
			}
			left, err := os.ReadDir(m.Temp)
			require.NoError(t, err)
			require.Empty(t, left)
			require.Equal(t, map[bool]byte{true: 42, false: 43}[classic > 0], b.Bytes()[2])

			r, err := tiff.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
			require.NoError(t, err)
			image, err := r.Image(0)
			require.NoError(t, err)
			info, err := image.Info()
			require.NoError(t, err)
			require.Equal(t, [5]any{m.Width, m.Height, m.Bands, m.DType, Tile}, [5]any{info.Width, info.Height, info.Bands, info.DType, info.BlockWidth})
			p, err := image.Tensor(codec.Region{Width: m.Width, Height: m.Height})
			require.NoError(t, err)
			differ := 0
			for y := range m.Height {
				for x := range m.Width {
					for b := range m.Bands {
						c := &writer{Image: &m}
						if value(m.DType, x, y, b) != c.sample(p.Data[(y*m.Width+x)*m.Bands*m.DType.Size():], b) {
							differ++
						}
					}
				}
			}
			require.Zero(t, differ)
			g, err := image.Geo()
			require.NoError(t, err)
			require.Equal(t, m.Geo.HasTransform, g.HasTransform)
			require.Equal(t, m.Geo.Transform, g.Transform)
			require.Equal(t, m.HasNoData, g.HasNoData)
			if len(m.Geo.Keys.Directory) > 0 {
				require.Equal(t, 32633, g.EPSG)
				require.Equal(t, m.Geo.Keys.Doubles, g.Keys.Doubles)
				require.Equal(t, m.Geo.Keys.ASCII, g.Keys.ASCII)
				require.Equal(t, uint16(rasterIsArea), g.Keys.Directory[11], "the transform is that of areas")
			}
			overviews, err := r.Overviews(0)
			require.NoError(t, err)
			w, h := m.Width, m.Height
			for _, o := range overviews {
				w, h = (w+1)/2, (h+1)/2
				f, err := o.Info()
				require.NoError(t, err)
				require.Equal(t, [2]int{w, h}, [2]int{f.Width, f.Height})
			}
			require.True(t, w <= Tile && h <= Tile && (len(overviews) == 0 || max(2*w, 2*h) > Tile))
		}
	}
}

// TestMean: means are of the pixels that have data, of up to four.
func TestMean(t *testing.T) {
	m := &Image{Width: 1025, Height: 1025, Bands: 1, DType: tensor.Uint8, NoData: 9, HasNoData: true}
	c := &writer{Image: m, pixel: 1}
	src, dst := make([]byte, Tile*Tile), make([]byte, Tile*Tile)
	copy(src, []byte{1, 2, 9, 9, 5})
	copy(src[Tile:], []byte{3, 5, 9, 9, 6})
	copy(src[2*Tile:], []byte{9, 4, 7, 9, 8})
	c.reduce(dst, src, 0, 0, 5, 3)
	require.Equal(t, []byte{3, 9, 6}, dst[:3])
	require.Equal(t, []byte{4, 7, 8}, dst[Tile:][:3])
	m.Classes = true
	c.reduce(dst, src, 256, 0, 5, 3)
	require.Equal(t, []byte{1, 9, 5}, dst[256:][:3])
}

// TestWriteErrors: errors of fill and of the context end the writing, and no
// temporary file is left.
func TestWriteErrors(t *testing.T) {
	m := &Image{Width: 2000, Height: 2000, Bands: 1, DType: tensor.Uint8, Temp: t.TempDir()}
	var b bytes.Buffer
	broken := errors.New("broken")
	n := 0
	err := m.Write(context.Background(), &b, func(x, y int, dst []byte) error {
		if n++; n == 7 {
			return broken
		}
		return nil
	})
	require.ErrorIs(t, err, broken)
	ctx, stop := context.WithCancel(context.Background())
	err = m.Write(ctx, &b, func(x, y int, dst []byte) error { stop(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, b.Len())
	left, err := os.ReadDir(m.Temp)
	require.NoError(t, err)
	require.Empty(t, left)

	for want, m := range map[string]Image{
		"cog: image of 0x5 pixels: want 1 to 1073741824 on both sides": {Height: 5, Bands: 1, DType: tensor.Uint8},
		"cog: 65 bands: want 1 to 64":                                  {Width: 1, Height: 1, Bands: 65, DType: tensor.Uint8},
		"cog: samples of int32: want uint8, uint16 or float32":         {Width: 1, Height: 1, Bands: 1, DType: tensor.Int32},
		"cog: image of 1073741824x1073741824 pixels: want at most 67108864 tiles": {
			Width: MaxSide, Height: MaxSide, Bands: 1, DType: tensor.Uint8},
	} {
		require.EqualError(t, m.Write(context.Background(), &b, nil), want)
	}
}
