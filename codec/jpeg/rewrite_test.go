package jpeg

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	stdjpeg "image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
)

// TestRewriteGoldens rewrites the images of the goldens. Both our decoder and
// the standard library's find the same pixels before and after.
func TestRewriteGoldens(t *testing.T) {
	g := readGoldens(t)
	var r Rewriter
	rewritten, refused, compared := 0, 0, 0
	step := short.Step(t, 4)
	for i, name := range names(g.Images) {
		if i%step != 0 {
			continue
		}
		data := read(t, "images", name)
		out, err := r.Rewrite([]byte("x"), data, codec.Limits{})
		if err != nil {
			require.Equal(t, "x", string(out))
			var e *codec.Error
			require.ErrorAs(t, err, &e, name)
			refused++
			continue
		}
		rewritten++
		out = out[1:]
		for _, o := range []codec.Options{{}, {Color: codec.ToLuma}, {Scale: codec.ScaleQuarter}} {
			var a, b codec.Raster
			require.NoError(t, newDecoder().decodeData(&a, data, &o))
			require.NoError(t, newDecoder().decodeData(&b, out, &o))
			requireSame(t, &a, &b, name)
		}
		if a, err := stdjpeg.Decode(bytes.NewReader(data)); err == nil {
			b, err := stdjpeg.Decode(bytes.NewReader(out))
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(rgba(a), rgba(b)), name)
			compared++
		}
		again, err := r.Rewrite(nil, out, codec.Limits{})
		require.NoError(t, err, name)
		require.Equal(t, out, again, name)
	}
	require.Greater(t, rewritten, 3*refused)
	require.Greater(t, compared, rewritten/2)
}

// rgba returns the pixels of m without padding.
func rgba(m image.Image) []byte {
	d := image.NewRGBA(m.Bounds())
	draw.Draw(d, d.Bounds(), m, image.Point{}, draw.Src)
	return d.Pix
}

// TestRewriteSegments: segments and the bytes after the image stay, codes fit a
// look-up, and a restart segment is a row.
func TestRewriteSegments(t *testing.T) {
	data := encodeScene(t, 131, 77, 3, EncodeOptions{Quality: 90, Progressive: true})
	comment := []byte{0xFF, mCOM, 0, 7, 'h', 'e', 'l', 'l', 'o'}
	data = append(append(bytes.Clone(data[:2]), comment...), data[2:]...)
	data = append(data, "after"...)
	var r Rewriter
	out, err := r.Rewrite(nil, data, codec.Limits{})
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(out, append([]byte{0xFF, mSOI}, comment...)))
	require.True(t, bytes.HasSuffix(out, []byte("\xff\xd9after")))
	require.Zero(t, bytes.Count(out, []byte{0xFF, 0xC2}))
	require.Equal(t, 4, bytes.Count(out, []byte{0xFF, mRST0})+bytes.Count(out, []byte{0xFF, mRST0 + 1})+
		bytes.Count(out, []byte{0xFF, mRST0 + 2})+bytes.Count(out, []byte{0xFF, mRST0 + 3}))
	at := bytes.Index(out, []byte{0xFF, mDRI})
	require.Equal(t, uint16(9), binary.BigEndian.Uint16(out[at+4:]))
	var d codec.Raster
	dec := newDecoder()
	require.NoError(t, dec.decodeData(&d, out, &codec.Options{}))
	for i := range 2 {
		require.Equal(t, make([]uint8, 16-rewriteDC), dec.head.dcSpec[i].bits[rewriteDC+1:])
		require.Equal(t, make([]uint8, 16-rewriteAC), dec.head.acSpec[i].bits[rewriteAC+1:])
	}
}

// TestRewriteRefused: files whose pixels could change, and damaged ones, are
// errors.
func TestRewriteRefused(t *testing.T) {
	var r Rewriter
	data := encodeScene(t, 50, 40, 3, EncodeOptions{Quality: 90})
	_, err := r.Rewrite(nil, data[:len(data)-20], codec.Limits{})
	require.ErrorIs(t, err, codec.ErrFormat)
	_, err = r.Rewrite(nil, data, codec.Limits{Pixels: 100})
	require.ErrorIs(t, err, codec.ErrLimit)
	for _, name := range []string{"jpeg_lossless_psv4.jpg", "jpeg_partial_dc_only_2x2.jpg"} {
		_, err = r.Rewrite(nil, read(t, "images", name), codec.Limits{})
		require.ErrorIs(t, err, codec.ErrUnsupported, name)
	}
	_, err = r.Rewrite(nil, nil, codec.Limits{})
	require.Error(t, err)
}

// FuzzRewrite rewrites anything: a rewritten file has the pixels of before.
func FuzzRewrite(f *testing.F) {
	for _, name := range []string{"jpeg_arith.jpg", "jpeg_restart_1.jpg", "jpeg_multiscan.jpg", "jpeg_cmyk.jpg", "jpeg_exif_mm_6.jpg"} {
		f.Add(read(f, "images", name), uint(0), byte(0))
	}
	for name := range extremes(f) {
		if data := read(f, "extremes", name); len(data) < 8000 {
			f.Add(data, uint(len(data)/2), byte(1))
		}
	}
	var r Rewriter
	limits := codec.Limits{Pixels: 1 << 18, Bytes: 4 << 20, Scans: 30}
	f.Fuzz(func(t *testing.T, data []byte, at uint, flip byte) {
		if len(data) == 0 {
			return
		}
		data = bytes.Clone(data)
		data[at%uint(len(data))] ^= flip
		out, err := r.Rewrite(nil, data, limits)
		if err != nil {
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			return
		}
		var a, b codec.Raster
		require.NoError(t, newDecoder().decodeData(&a, data, &codec.Options{Limits: limits}))
		require.NoError(t, newDecoder().decodeData(&b, out, &codec.Options{Limits: limits}))
		requireSame(t, &a, &b, "fuzz")
	})
}
