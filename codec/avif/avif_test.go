package avif

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	"github.com/infer-prep/infer-prep/codec/internal/yuv"
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
)

const ext = ".avif"

func need(t testing.TB) {
	l, err := load()
	clibtest.Needs(t, Environment, err)
	t.Logf("libavif %s: %s", l.version, l.path)
}

func TestGoldens(t *testing.T) {
	need(t)
	codectest.Phone(t, ext)
}

func TestHostile(t *testing.T) {
	need(t)
	codectest.PhoneHostile(t, ext, 300)
}

// TestConversions needs no library.
func TestConversions(t *testing.T) {
	codectest.PhoneConversions(t, ext, func(f *codectest.PhonePlanes, dst *codec.Raster) {
		p := &picture{width: dst.Width, height: dst.Height, depth: f.Depth, format: uint32(f.Format), matrix: f.Matrix, full: f.Full}
		size := (f.Depth + 7) / 8
		for i, q := range f.Planes {
			plane := yuv.Of(q.Data, q.Width*size, q.Width, q.Height, f.Depth)
			if i == len(f.Planes)-1 && f.Mode == codec.RGBA {
				p.alpha, p.alphaPlane = true, plane
			} else {
				p.planes[i] = plane
			}
		}
		require.NoError(t, p.check())
		require.True(t, p.complete())
		require.Equal(t, f.Mode, p.mode())
		p.convert(dst, new(rows))
	})
}

func TestLayouts(t *testing.T) {
	for version, want := range map[string]bool{
		"0.11.1": true, "1.0.0": true, "1.4.2": true, "1.5.0": false, "2.0.0": false, "0.12.0": false, "0.9.3": false, "": false, "x": false,
	} {
		_, ok := layoutOf(version)
		require.Equal(t, want, ok, version)
	}
}

func TestMissing(t *testing.T) {
	_, err := load()
	clibtest.Missing(t, "libavif", "pip install pillow", Environment, err, func(path string) error {
		_, err := open(path)
		return err
	})
}

func TestConcurrent(t *testing.T) {
	need(t)
	codectest.PhoneConcurrent(t, ext)
}

// TestBrands: a file of the general brand mif1 is AVIF if it lists that brand.
func TestBrands(t *testing.T) {
	data, err := os.ReadFile("../../testdata/phone/avif_2x2.avif")
	require.NoError(t, err)
	copy(data[8:], "mif1")
	require.Equal(t, "avif", codec.Sniff(data))
	copy(data[16:], bytes.ReplaceAll(data[16:32], []byte("avif"), []byte("heic")))
	require.Empty(t, codec.Sniff(data))
}
