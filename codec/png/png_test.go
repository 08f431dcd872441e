package png

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }

// TestStrict: what Pillow accepts and the specification does not. codec/all has
// the whole images.
func TestStrict(t *testing.T) {
	o := codec.Options{}
	o.Damage = codec.DamageStrict
	for _, c := range []struct{ name, msg string }{
		{"bad_idat_crc", "checksum of chunk IDAT"},
		{"long_stream", "does not end with the image"},
		{"no_adler", "are left"},
		{"no_iend", "the file ends where a chunk is wanted"},
		{"short_stream", "ends at row 6 of 11"},
	} {
		data, err := os.ReadFile("../../testdata/damaged/png_" + c.name + ".png")
		require.NoError(t, err)
		_, err = codec.Decode(data, &o)
		require.ErrorIs(t, err, codec.ErrFormat, c.name)
		require.ErrorContains(t, err, c.msg, c.name)
	}
}

// TestUnfed: the pixels are complete where the image data ends, but Pillow asks
// for another piece before it decodes the last row.
func TestUnfed(t *testing.T) {
	data, err := os.ReadFile("../../testdata/damaged/png_pieces1_p2_twice1.png")
	require.NoError(t, err)
	_, err = codec.Decode(data, nil)
	require.NoError(t, err)
	copy(data[345+4:], "IDQT") // a chunk that is not image data
	_, err = codec.Decode(data, nil)
	require.ErrorIs(t, err, codec.ErrFormat)
	require.ErrorContains(t, err, "Pillow wants more")
}

// TestSteadyState: of ours nothing is allocated. compress/zlib makes its
// checksum anew for every image; stored blocks are used because compress/flate
// makes the link tables of long Huffman codes anew for every block.
func TestSteadyState(t *testing.T) {
	data, err := os.ReadFile("../../testdata/images/png_stored.png")
	require.NoError(t, err)
	for _, o := range []codec.Options{{}, {Color: codec.ToGray}, {Color: codec.ToRGBA}} {
		var d codec.Decoder
		info, err := codectest.Config(&d, data, &o)
		require.NoError(t, err)
		dst := make([]byte, info.Size())
		n := testing.AllocsPerRun(50, func() {
			_, err = codectest.Decode(&d, dst, data, &o)
		})
		require.NoError(t, err)
		require.LessOrEqual(t, n, 1.0, o.Color)
	}
}

// TestTextMemory: Pillow refuses 64 MiB of texts and one byte.
func TestTextMemory(t *testing.T) {
	data, err := os.ReadFile("../../testdata/damaged/png_text_mib.png")
	require.NoError(t, err)
	const start = 33 // behind IHDR
	n := 12 + int(binary.BigEndian.Uint32(data[start:]))
	text := data[start : start+n]
	texts := func(n int) []byte {
		return slices.Concat(data[:start], bytes.Repeat(text, n), data[start:])
	}
	_, err = codec.DecodeConfig(texts(63), &codec.Options{})
	require.NoError(t, err)
	_, err = codec.DecodeConfig(texts(64), &codec.Options{})
	require.ErrorIs(t, err, codec.ErrLimit)
	require.ErrorContains(t, err, "67108864 bytes")
}
