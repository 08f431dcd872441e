package all

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// unlikeTorchCodec lists refused files that TorchCodec reads, by how their
// names begin. They have pixels from memory behind a colour table, a frame that
// leaves the screen, 3.6 billion pixels, or data or a cut chunk after the last
// row.
var unlikeTorchCodec = []string{
	"gif_short_table.gif", "gif_short_table_transparent.gif", "gif_beyond.gif", "gif_huge.gif",
	"png_long_stream.png", "png_idat_header.png", "png_pieces",
}

// TestTorchCodec decodes all files as TorchCodec's decode_image. Accepted files
// have its pixels, and files that it refuses are refused. Files that it returns
// as one image are accepted, except those of unlikeTorchCodec.
func TestTorchCodec(t *testing.T) {
	b, err := os.ReadFile(testdata + "golden/torchcodec.json")
	require.NoError(t, err)
	var g struct{ Images, Damaged map[string]*string }
	require.NoError(t, json.Unmarshal(b, &g))
	var d codec.Decoder
	o := codec.Options{Orientation: codec.OrientationApply, Damage: codec.DamageTorchCodec}
	for folder, files := range map[string]map[string]*string{"images": g.Images, "damaged": g.Damaged} {
		require.NotEmpty(t, files)
		accepted := 0
		for _, name := range slices.Sorted(maps.Keys(files)) {
			want := files[name]
			got, err := decodeAs(&d, read(t, folder, name), o)
			switch {
			case err == nil:
				require.NotNil(t, want, "%s: accepted", name)
				require.Equal(t, *want, got, name)
				accepted++
			case want == nil || slices.ContainsFunc(unlikeTorchCodec, func(p string) bool { return strings.HasPrefix(name, p) }):
			default:
				require.True(t, errors.Is(err, codec.ErrUnsupported) && strings.HasSuffix(*want, "frames"), "%s: %v", name, err)
			}
		}
		t.Logf("%s: %d of %d files are equal, the others are refused", folder, accepted, len(files))
		require.Greater(t, accepted, len(files)/3)
	}
}

// TestTorchCodecColors checks which colours the policy makes.
func TestTorchCodecColors(t *testing.T) {
	var d codec.Decoder
	o := codec.Options{Damage: codec.DamageTorchCodec}
	for _, name := range []string{"jpeg_base_420.jpg", "png_gray16.png", "webp_alpha_16x16.webp", "gif_8bit_transparent.gif"} {
		data := read(t, "images", name)
		o.Color, o.Alpha = codec.ToBGR, codec.AlphaDrop
		_, err := decodeAs(&d, data, o)
		require.NoError(t, err, name)
		for _, c := range []codec.Color{codec.ToGray, codec.ToLuma, codec.ToRGBA} {
			o.Color = c
			_, err := decodeAs(&d, data, o)
			require.ErrorIs(t, err, codec.ErrUnsupported, "%s %v", name, c)
		}
		o.Color, o.Alpha = codec.ToRGB, codec.AlphaWhite
		_, err = decodeAs(&d, data, o)
		require.ErrorIs(t, err, codec.ErrUnsupported, name)
	}
}
