package heif

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	"github.com/infer-prep/infer-prep/codec/internal/yuv"
	"github.com/infer-prep/infer-prep/internal/clib"
)

const ext = ".heic"

// need skips a test where the library is missing, and says why. If the variable
// names the library, the test fails.
func need(t testing.TB) {
	l, err := load()
	if err != nil {
		require.Empty(t, os.Getenv(Environment), "%v", err)
		t.Skipf("%v", err)
	}
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

// TestMissing: the error of a missing library says which, where to get it, and
// the name of the variable.
func TestMissing(t *testing.T) {
	if !clib.Supported {
		_, err := load()
		require.ErrorIs(t, err, clib.ErrUnsupported)
		return
	}
	for _, path := range []string{"", "libheif-none.so"} {
		_, err := open(path)
		require.ErrorContains(t, err, "libheif, which decodes")
		require.ErrorContains(t, err, "pip install pillow")
		require.ErrorContains(t, err, Environment)
	}
	_, err := open("/none/libheif.so")
	require.ErrorContains(t, err, "/none/libheif.so")
}

func TestConcurrent(t *testing.T) {
	need(t)
	codectest.PhoneConcurrent(t, ext)
}
