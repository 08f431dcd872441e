package tiff_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/tensor"
)

// dense returns the elements of a tensor.
func dense(p *tensor.Tensor) []byte {
	if p == nil {
		return nil
	}
	return p.Clone().Data
}

// TestAppendTIFF: a window as a TIFF of its own has the samples of the window
// and, decoded as Pillow does, the pixels of the image.
func TestAppendTIFF(t *testing.T) {
	names, err := filepath.Glob("testdata/*.tif")
	require.NoError(t, err)
	more, err := filepath.Glob("../../testdata/images/tiff_*.tif")
	require.NoError(t, err)
	require.NotEmpty(t, more)
	decode := func(data []byte, w codec.Region) ([]byte, error) {
		p, err := codec.Decode(data, nil)
		if err != nil || w.Width == 0 {
			return dense(p), err
		}
		if p, err = p.Slice(0, w.Top, w.Top+w.Height); err == nil {
			p, err = p.Slice(1, w.Left, w.Left+w.Width)
		}
		return dense(p), err
	}
	pillow := 0
	var differ []string
	for _, name := range append(names, more...) {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		r, err := tiff.NewReader(bytes.NewReader(data), int64(len(data)), nil)
		require.NoError(t, err, name)
		i, err := r.Image(0)
		require.NoError(t, err, name)
		f, err := i.Info()
		if err != nil {
			require.ErrorIs(t, err, codec.ErrUnsupported, name)
			continue
		}
		w := codec.Region{Left: f.Width / 3, Top: f.Height / 4, Width: f.Width/2 + 1, Height: f.Height/3 + 1}
		n, err := i.Size(w)
		require.NoError(t, err, name)
		want := make([]byte, n)
		if err := i.Read(want, w); err != nil {
			continue // of the tests of damaged files
		}
		b, err := i.AppendTIFF([]byte("before"), w)
		require.NoError(t, err, name)
		require.Equal(t, "before", string(b[:6]))
		b = b[6:]
		own, err := tiff.NewReader(bytes.NewReader(b), int64(len(b)), nil)
		require.NoError(t, err, name)
		image, err := own.Image(0)
		require.NoError(t, err, name)
		all := codec.Region{Width: w.Width, Height: w.Height}
		got := make([]byte, n)
		require.NoError(t, image.Read(got, all), name)
		require.Equal(t, want, got, name)
		fg, err := image.Info()
		require.NoError(t, err)
		require.Equal(t, [4]any{f.Bands, f.Type, f.Bits, w.Width}, [4]any{fg.Bands, fg.Type, fg.Bits, fg.Width}, name)

		if want, err = decode(data, w); err != nil || f.Planar || strings.Contains(name, "orientation") {
			continue // the window has neither an orientation nor bands apart
		}
		got, err = decode(b, codec.Region{})
		require.NoError(t, err, name)
		if !bytes.Equal(want, got) {
			differ = append(differ, filepath.Base(name))
		}
		pillow++

		// Past the edges.
		b, err = i.AppendTIFF(nil, codec.Region{Left: f.Width - 1, Top: f.Height - 2, Width: 9, Height: 5})
		require.NoError(t, err, name)
		_, err = decode(b, codec.Region{})
		require.NoError(t, err, name)
		_, err = i.AppendTIFF(nil, codec.Region{Left: f.Width, Width: 9, Height: 5})
		require.ErrorContains(t, err, "tiff: window of")
		_, err = i.AppendTIFF(nil, codec.Region{Width: 0, Height: 5})
		require.ErrorContains(t, err, "tiff: window of")
	}
	// Pillow reads these numbers in the wrong byte order, and does not invert
	// gray of one plane.
	require.Equal(t, []string{"f32_pred3_be.tif", "tiff_float_c8_be.tif", "tiff_int16_2_c8_be.tif", "tiff_int32_2_c8_be.tif", "tiff_plane1.tif", "tiff_plane8.tif"}, differ)
	t.Logf("%d files that Pillow reads", pillow)
	require.Greater(t, pillow, 60)
}
