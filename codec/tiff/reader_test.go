package tiff_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/codec/tiff"
	_ "github.com/infer-prep/infer-prep/codec/webp"
)

// golden is an image of testdata/golden.json, which
// testdata/gen/codecs/tiff_windows.py describes.
type golden struct {
	Reader               string
	Width, Height, Bands int
	Type                 string
	Transform            []float64
	EPSG                 int
	NoData               *string
	Names                []string
	Scales, Offsets      []float64
	Windows              [][]any
}

func goldens(t testing.TB) map[string][]golden {
	b, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var g map[string][]golden
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g)
	return g
}

// digest returns the first digits of the SHA-256 of samples of a size in bytes,
// in little-endian order.
func digest(b []byte, size int) string {
	b = bytes.Clone(b)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		for i := 0; i < len(b); i += size {
			slices.Reverse(b[i : i+size])
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:16]
}

// open returns the first image of a file. nil options are the defaults.
func open(t testing.TB, r io.ReaderAt, size int, o *tiff.Options) *tiff.Image {
	t.Helper()
	file, err := tiff.NewReader(r, int64(size), o)
	require.NoError(t, err)
	i, err := file.Image(0)
	require.NoError(t, err)
	return i
}

// images returns an image and its overviews.
func images(t testing.TB, r *tiff.Reader) []*tiff.Image {
	first, err := r.Image(0)
	require.NoError(t, err)
	list, err := r.Overviews(0)
	require.NoError(t, err)
	return append([]*tiff.Image{first}, list...)
}

// TestWindows compares windows of files of GDAL and tifffile with what these
// read, with one goroutine and with several.
func TestWindows(t *testing.T) {
	for name, want := range goldens(t) {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		for _, workers := range []int{1, 3} {
			r, err := tiff.NewReader(bytes.NewReader(data), int64(len(data)), &tiff.Options{Workers: workers})
			require.NoError(t, err, name)
			list := images(t, r)
			require.Len(t, list, len(want), name)
			for k, w := range want {
				i := list[k]
				f, err := i.Info()
				require.NoError(t, err, name)
				require.Equal(t, []any{w.Width, w.Height, w.Bands, w.Type, k > 0}, []any{f.Width, f.Height, f.Bands, f.Type, f.Reduced}, "%s %d", name, k)
				for _, v := range w.Windows {
					region := codec.Region{Left: int(v[0].(float64)), Top: int(v[1].(float64)), Width: int(v[2].(float64)), Height: int(v[3].(float64))}
					n, err := i.Size(region)
					require.NoError(t, err, name)
					dst := make([]byte, n)
					require.NoError(t, i.Read(dst, region), name)
					require.Equal(t, v[4], digest(dst, n/region.Width/region.Height/f.Bands), "%s %d: window %+v", name, k, region)
				}
			}
		}
	}
}

// TestGeo compares the tags of GeoTIFF and GDAL with what rasterio reads.
func TestGeo(t *testing.T) {
	for name, want := range goldens(t) {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		r, err := tiff.NewReader(bytes.NewReader(data), int64(len(data)), nil)
		require.NoError(t, err)
		for k, i := range images(t, r) {
			w := want[k]
			if w.Reader != "rasterio" {
				continue
			}
			g, err := i.Geo()
			require.NoError(t, err, name)
			require.Equal(t, w.Transform != nil, g.HasTransform, name)
			if g.HasTransform {
				require.Equal(t, w.Transform, g.Transform[:], "%s %d", name, k)
			}
			require.Equal(t, w.EPSG, g.EPSG, name)
			require.Equal(t, w.NoData != nil, g.HasNoData, name)
			if w.NoData != nil {
				v, err := strconv.ParseFloat(*w.NoData, 64)
				require.NoError(t, err)
				require.Equal(t, math.Float64bits(v), math.Float64bits(g.NoData), name)
			}
			if k > 0 { // rasterio shows no bands of overviews
				base, err := images(t, r)[0].Geo()
				require.NoError(t, err)
				require.Equal(t, base.Bands, g.Bands)
				continue
			}
			for b := range w.Names {
				require.Equal(t, tiff.Band{Name: w.Names[b], Scale: w.Scales[b], Offset: w.Offsets[b]}, g.Bands[b], "%s %d band %d", name, k, b)
			}
		}
	}
}

// TestImages reads images in order, and past the last one.
func TestImages(t *testing.T) {
	data, err := os.ReadFile("testdata/u16_deflate_tiled.tif")
	require.NoError(t, err)
	r, err := tiff.NewReader(bytes.NewReader(data), int64(len(data)), nil)
	require.NoError(t, err)
	for n, width := range []int{70, 35, 18} {
		i, err := r.Image(n)
		require.NoError(t, err)
		f, err := i.Info()
		require.NoError(t, err)
		require.Equal(t, width, f.Width)
	}
	_, err = r.Image(3)
	require.Equal(t, io.EOF, err)
	_, err = r.Image(-1)
	require.ErrorContains(t, err, "image -1: want 0 or more")
}

// TestJPEGAsPillow decodes JPEG in TIFF through package codec. Pillow 13.0.0
// gives the same pixels as tifffile for these files.
func TestJPEGAsPillow(t *testing.T) {
	for _, name := range []string{"jpeg_420.tif", "jpeg_420_strips.tif", "jpeg_rgb.tif", "jpeg_gray_planar.tif", "jpeg_tables.tif"} {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		x, err := codec.Decode(data, nil)
		require.NoError(t, err, name)
		require.Equal(t, goldens(t)[name][0].Windows[0][4], digest(x.Data, 1), name)
	}
}
