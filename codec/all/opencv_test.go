package all

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// unlikeOpenCV reports whether a file of testdata/damaged that OpenCV reads may
// be refused as damaged, not as unsupported. libtiff keeps what it has.
func unlikeOpenCV(name string) bool {
	for _, prefix := range []string{"png_long_stream.", "png_apng_short.", "png_pieces", "pnm_", "tiff_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// TestOpenCV decodes all files as OpenCV's readers: no file has other pixels,
// none is accepted that they refuse, and those that only they accept are
// unsupported by name.
func TestOpenCV(t *testing.T) {
	b, err := os.ReadFile(testdata + "golden/opencv.json")
	require.NoError(t, err)
	var g struct{ Images, Damaged map[string][]*string }
	require.NoError(t, json.Unmarshal(b, &g))
	var d codec.Decoder
	for folder, files := range map[string]map[string][]*string{"images": g.Images, "damaged": g.Damaged} {
		require.NotEmpty(t, files)
		accepted, unsupported := map[codec.Damage]int{}, 0
		for _, name := range slices.Sorted(maps.Keys(files)) {
			data := read(t, folder, name)
			for i, damage := range []codec.Damage{codec.DamageImread, codec.DamageImdecode} {
				o := codec.Options{
					Color: codec.ToBGR, Gray16: codec.Gray16High, Refuse: codec.RefuseCMYK,
					Orientation: codec.OrientationApply, Damage: damage,
				}
				want := files[name][min(i, len(files[name])-1)]
				got, err := decodeAs(&d, data, o)
				switch {
				case err == nil:
					require.NotNil(t, want, "%s %v: accepted", name, damage)
					require.Equal(t, *want, got, "%s %v", name, damage)
					accepted[damage]++
				case want != nil:
					require.True(t, errors.Is(err, codec.ErrUnsupported) || unlikeOpenCV(name), "%s %v: %v", name, damage, err)
					unsupported++
				}
			}
		}
		t.Logf("%s: %d files, imread %d, imdecode %d equal; %d refused that OpenCV reads", folder, len(files),
			accepted[codec.DamageImread], accepted[codec.DamageImdecode], unsupported)
		require.Greater(t, accepted[codec.DamageImread], len(files)/2)
	}
}

func decodeAs(d *codec.Decoder, data []byte, o codec.Options) (string, error) {
	i, err := d.Open(data, &o)
	if err != nil {
		return "", err
	}
	info := i.Info()
	dst := make([]byte, info.Size())
	if err := i.Decode(dst); err != nil {
		return "", err
	}
	return fmt.Sprintf("%dx%d %s", info.OutWidth, info.OutHeight, digest(dst)[:16]), nil
}

// TestOpenCVColors checks which colours the policies of OpenCV's readers make.
func TestOpenCVColors(t *testing.T) {
	var d codec.Decoder
	for _, c := range []struct {
		name  string
		color codec.Color
		ok    bool
	}{
		{"jpeg_base_420.jpg", codec.ToLuma, true},
		{"jpeg_base_420.jpg", codec.ToGray, false}, // of RGB, by Pillow's rule
		{"jpeg_gray.jpg", codec.ToGray, true},
		{"png_gray16.png", codec.ToLuma, true},
		{"png_rgb8.png", codec.ToLuma, false},
		{"png_p8.png", codec.ToLuma, false},
		{"png_rgba8.png", codec.ToRGBA, false},
	} {
		for _, damage := range []codec.Damage{codec.DamageImread, codec.DamageImdecode} {
			_, err := decodeAs(&d, read(t, "images", c.name), codec.Options{Color: c.color, Damage: damage})
			if c.ok {
				require.NoError(t, err, "%s %v", c.name, c.color)
			} else {
				require.ErrorIs(t, err, codec.ErrUnsupported, "%s %v", c.name, c.color)
			}
		}
	}
}

// TestOpenCVChecksums checks which PNG chunks may have a wrong checksum: it
// removes eXIf, and OpenCV does not look at that of acTL.
func TestOpenCVChecksums(t *testing.T) {
	var d codec.Decoder
	o := codec.Options{Color: codec.ToBGR, Orientation: codec.OrientationApply, Damage: codec.DamageImread}
	spoilt := func(file, chunk string) []byte {
		b := read(t, "images", file)
		i := bytes.Index(b, []byte(chunk))
		require.Positive(t, i)
		n := int(binary.BigEndian.Uint32(b[i-4:]))
		b[i+4+n] ^= 1
		return b
	}
	upright, err := decodeAs(&d, read(t, "images", "png_exif6.png"), o)
	require.NoError(t, err)
	require.Contains(t, upright, "11x19 ")
	plain, err := decodeAs(&d, spoilt("png_exif6.png", "eXIf"), o)
	require.NoError(t, err)
	require.Contains(t, plain, "19x11 ")
	_, err = decodeAs(&d, spoilt("png_apng_default.png", "acTL"), o)
	require.Error(t, err)
	_, err = decodeAs(&d, spoilt("png_rgb8.png", "IDAT"), o)
	require.ErrorIs(t, err, codec.ErrFormat)
}
