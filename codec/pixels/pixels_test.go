package pixels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/pixels"
	_ "github.com/infer-prep/infer-prep/codec/png"
)

// pixelsOf returns w x h pixels of step bytes, no two of which are equal.
func pixelsOf(h pixels.Header) []byte {
	b := h.Append(nil)
	step := h.Step
	if step == 0 {
		step = h.Mode.Size()
	}
	for i := range h.Width * h.Height * step {
		b = append(b, byte(i*7+i>>8))
	}
	return b
}

func TestModes(t *testing.T) {
	for _, m := range []codec.Mode{codec.L, codec.LA, codec.RGB, codec.RGBA} {
		for step := m.Size(); step <= 4; step++ {
			b := pixelsOf(pixels.Header{Width: 5, Height: 3, Mode: m, Step: step})
			for _, color := range []codec.Color{codec.ToRGB, codec.ToGray} {
				got, err := codec.Decode(b, &codec.Options{Color: color})
				require.NoError(t, err)
				// The same pixels without the bytes in between.
				dense := pixels.Header{Width: 5, Height: 3, Mode: m}.Append(nil)
				for at := pixels.HeaderSize; at < len(b); at += step {
					dense = append(dense, b[at:at+m.Size()]...)
				}
				want, err := codec.Decode(dense, &codec.Options{Color: color})
				require.NoError(t, err)
				require.Equal(t, want.Data, got.Data, "%v step %d", m, step)
				if m == codec.RGB && color == codec.ToRGB {
					require.Equal(t, dense[pixels.HeaderSize:], got.Data)
				}
			}
		}
	}
}

// rows collects what a RowSink receives.
type rows struct{ pix []byte }

func (r *rows) Rows(_, _ int, pix []byte) { r.pix = append(r.pix, pix...) }

func TestRows(t *testing.T) {
	for _, step := range []int{3, 4} {
		b := pixelsOf(pixels.Header{Width: 7, Height: 6, Mode: codec.RGB, Step: step})
		whole, err := codec.Decode(b, nil)
		require.NoError(t, err)
		var d codec.Decoder
		i, err := d.Open(b, nil)
		require.NoError(t, err)
		var r rows
		require.NoError(t, i.DecodeRows(&r, codec.Region{Left: 2, Top: 1, Width: 4, Height: 3}))
		var want []byte
		for y := 1; y < 4; y++ {
			want = append(want, whole.Data[(y*7+2)*3:][:12]...)
		}
		require.Equal(t, want, r.pix)
	}
}

// TestLikeFile compares with PNG files of the same pixels: transparency, and
// every orientation.
func TestLikeFile(t *testing.T) {
	decode := func(b []byte, o codec.Options) []byte {
		out, err := codec.Decode(b, &o)
		require.NoError(t, err)
		return out.Data
	}
	names, err := filepath.Glob("../../testdata/images/png_exif[2-8].png")
	require.NoError(t, err)
	require.Len(t, names, 7)
	for _, name := range append(names, "../../testdata/images/png_rgba8.png", "../../testdata/images/png_rgb8.png") {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		info, err := codec.DecodeConfig(file, nil)
		require.NoError(t, err)
		h := pixels.Header{Width: info.Width, Height: info.Height, Mode: codec.RGBA, Orientation: info.Orientation}
		if !info.HasAlpha {
			h.Mode, h.Step = codec.RGB, 4
		}
		raw := append(h.Append(nil), decode(file, codec.Options{Color: codec.ToRGBA})...)
		for _, o := range []codec.Options{
			{}, {Orientation: codec.OrientationApply}, {Alpha: codec.AlphaWhite}, {Color: codec.ToRGBA}, {Color: codec.ToGray}, {Color: codec.ToBGR},
		} {
			require.Equal(t, decode(file, o), decode(raw, o), "%s %+v", name, o)
		}
	}
}

func TestBad(t *testing.T) {
	good := pixelsOf(pixels.Header{Width: 4, Height: 2, Mode: codec.RGB})
	change := func(at int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = v
		return b
	}
	for want, b := range map[string][]byte{
		"the header has 24":  good[:20],
		"want 1 to 16777216": change(11, 255),
		"0x2 pixels":         change(8, 0),
		"mode 3":             change(16, 3),
		"mode 9":             change(16, 9),
		"2 bytes from pixel": change(17, 2),
		"5 bytes from pixel": change(17, 5),
		"orientation 9":      change(18, 9),
		"a byte 1, want 0":   change(23, 1),
		"chroma 0x13":        change(19, 0x13),
		"want mode RGB":      func() []byte { b := change(19, 0x22); b[16] = byte(codec.L); return b }(),
		"this kind have 12":  func() []byte { b := change(19, 0x22); return b[:len(b)-1] }(),
		"offset 24":          good[:len(good)-1],
		"25 bytes of pixels": append(append([]byte(nil), good...), 0),
	} {
		_, err := codec.Decode(b, nil)
		require.ErrorIs(t, err, codec.ErrFormat, want)
		require.ErrorContains(t, err, want)
	}
	_, err := codec.Decode(good, &codec.Options{Limits: codec.Limits{Pixels: 7}})
	require.ErrorIs(t, err, codec.ErrLimit)
}

func FuzzDecode(f *testing.F) {
	for _, m := range []codec.Mode{codec.L, codec.LA, codec.RGB, codec.RGBA} {
		f.Add(pixelsOf(pixels.Header{Width: 3, Height: 2, Mode: m}))
		f.Add(pixelsOf(pixels.Header{Width: 2, Height: 2, Mode: m, Step: 4, Orientation: 6}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := &codec.Options{Limits: codec.Limits{Pixels: 1 << 20}, Orientation: codec.OrientationApply}
		out, err := codec.Decode(b, o)
		var e *codec.Error
		if err != nil {
			require.ErrorAs(t, err, &e)
			require.NotErrorIs(t, err, codec.ErrInternal)
			return
		}
		require.Equal(t, out.Len()*1, int64(len(out.Data)), fmt.Sprint(out.Desc))
	})
}
