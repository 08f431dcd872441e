package heif

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	"github.com/infer-prep/infer-prep/codec/internal/yuv"
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
)

const ext = ".heic"

func need(t testing.TB) {
	l, err := load()
	clibtest.Needs(t, Environment, err)
	t.Logf("libheif %s: %s", l.version, l.path)
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
		p := &picture{colorspace: f.Colorspace, chroma: f.Format, matrix: f.Matrix, full: f.Full}
		size := (f.Depth + 7) / 8
		for i, q := range f.Planes {
			if i == len(f.Planes)-1 && f.Mode == codec.RGBA {
				i = 3
			}
			p.planes[i], p.bits[i] = yuv.Of(q.Data, q.Width*size, q.Width, q.Height, f.Depth), f.Depth
		}
		h := &header{width: dst.Width, height: dst.Height, depth: f.Depth, colorspace: f.Colorspace, chroma: f.Format, alpha: f.Mode == codec.RGBA}
		require.NoError(t, h.check())
		require.NoError(t, p.check(h, &codec.Config{Width: dst.Width, Height: dst.Height, Depth: f.Depth, HasAlpha: h.alpha}))
		require.Equal(t, f.Mode, h.mode())
		p.convert(dst, new(rows))
	})
}

func TestMissing(t *testing.T) {
	_, err := load()
	clibtest.Missing(t, "libheif", "pip install pillow", Environment, err, func(path string) error {
		_, err := open(path)
		return err
	})
}

func TestConcurrent(t *testing.T) {
	need(t)
	codectest.PhoneConcurrent(t, ext)
}
