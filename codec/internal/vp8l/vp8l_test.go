package vp8l

import (
	"bytes"
	"fmt"
	"image"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/vp8l"
)

// bitstreams returns the lossless images of WebP files by name.
func bitstreams(t testing.TB, pattern string) map[string][]byte {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	l := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		if at := bytes.Index(b, []byte("VP8L")); at >= 0 && at < 100 {
			n := int(b[at+4]) | int(b[at+5])<<8 | int(b[at+6])<<16
			l[filepath.Base(f)] = b[at+8:][:n]
		}
	}
	return l
}

// decode returns the pixels as red, green, blue and alpha.
func decode(d *Decoder, data []byte) (*image.NRGBA, error) {
	w, h, err := Header(data)
	if err != nil {
		return nil, err
	}
	if w*h > 1<<22 {
		return nil, fmt.Errorf("%dx%d is too large for the test", w, h)
	}
	pixels, err := d.Decode(data[5:], w, h)
	if err != nil {
		return nil, err
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, v := range pixels {
		copy(m.Pix[4*i:], []byte{byte(v >> 16), byte(v >> 8), byte(v), byte(v >> 24)})
	}
	return m, nil
}

func TestEqual(t *testing.T) {
	var d Decoder
	l := bitstreams(t, "../../../testdata/images/*.webp")
	if more := os.Getenv("INFER_PREP_WEBP"); more != "" {
		l = bitstreams(t, more)
	}
	require.NotEmpty(t, l)
	for name, data := range l {
		want, err := vp8l.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		got, err := decode(&d, data)
		require.NoError(t, err, name)
		require.True(t, bytes.Equal(want.(*image.NRGBA).Pix, got.Pix), name)
	}
	t.Log(len(l), "images")
}

// TestMutated damages images. Few of them are not the same to x/image, which
// accepts some codes that libwebp refuses, and the reverse: Pillow 13.0.0 had
// the pixels of a Decoder for all 20 of 21,000 such images.
func TestMutated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	equal, refused, other := 0, 0, 0
	l := bitstreams(t, "../../../testdata/images/*.webp")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		data := l[name]
		if len(data) > 20_000 {
			continue
		}
		for range 100 {
			b := bytes.Clone(data)
			for range rnd.IntN(3) + 1 {
				b[5+rnd.IntN(min(len(b)-5, 300))] ^= 1 << rnd.IntN(8)
			}
			if rnd.IntN(4) == 0 {
				b = b[:5+rnd.IntN(len(b)-5)]
			}
			want, wantErr := vp8l.Decode(bytes.NewReader(b))
			got, err := decode(&d, b)
			switch {
			case wantErr == nil && err == nil && bytes.Equal(want.(*image.NRGBA).Pix, got.Pix):
				equal++
			case wantErr != nil && err != nil:
				refused++
			default:
				other++
			}
		}
	}
	t.Log(equal, "equal,", refused, "refused by both,", other, "others")
	require.Greater(t, equal, 150)
	require.Greater(t, refused, 150)
	require.Less(t, other, 10)
}

func FuzzDecode(f *testing.F) {
	for _, data := range bitstreams(f, "../../../testdata/images/*.webp") {
		if len(data) < 5000 {
			f.Add(data)
		}
	}
	var d Decoder
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = decode(&d, data) })
}
