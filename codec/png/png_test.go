package png

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }

func TestStrict(t *testing.T) {
	o := codec.DefaultOptions()
	o.Damage = codec.DamageStrict
	for name, ok := range map[string]bool{
		"png_rgb8.png": true, "png_apng.png": true, "png_exif_after.png": true, "png_p8_interlaced.png": true,
		"png_no_iend.png": false, "png_bad_idat_crc.png": false, "png_no_adler.png": false,
		"png_short_stream.png": false, "png_long_stream.png": false,
	} {
		data, err := os.ReadFile("../../testdata/images/" + name)
		require.NoError(t, err)
		_, err = codec.Decode(data, &o)
		if ok {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, codec.ErrFormat, name)
		}
	}
}

// TestSteadyState: of ours nothing is allocated. compress/zlib makes its
// checksum anew for every image; stored blocks are used because compress/flate
// makes the link tables of long Huffman codes anew for every block.
func TestSteadyState(t *testing.T) {
	data, err := os.ReadFile("../../testdata/images/png_stored.png")
	require.NoError(t, err)
	for _, o := range []codec.Options{{}, {Color: codec.ToGray}, {Color: codec.ToRGBA}} {
		var d codec.Decoder
		info, err := d.Config(data, &o)
		require.NoError(t, err)
		dst := make([]byte, info.Size())
		n := testing.AllocsPerRun(50, func() {
			_, err = d.Decode(dst, data, &o)
		})
		require.NoError(t, err)
		require.LessOrEqual(t, n, 1.0, o.Color)
	}
}
