package tiff

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }

// TestLZMAHeaders: damaged headers of the first strip, which begins at byte 8,
// are errors, as in liblzma.
func TestLZMAHeaders(t *testing.T) {
	data, err := os.ReadFile("../../testdata/damaged/tiff_lzma.tif")
	require.NoError(t, err)
	_, err = codec.Decode(data, nil)
	require.NoError(t, err)
	for at, msg := range map[int]string{8: "unexpected EOF", 8 + 7: "the stream's header", 8 + 9: "the stream's header", 8 + 14: "the block's header"} {
		data[at] ^= 1
		_, err := codec.Decode(data, nil)
		require.ErrorIs(t, err, codec.ErrFormat, at)
		require.ErrorContains(t, err, msg, at)
		data[at] ^= 1
	}
}
