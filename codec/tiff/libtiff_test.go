//go:build !small

package tiff_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/tiff"
)

// retag changes the entry of a tag of a file of testdata/images: its number,
// type, count and value. Values below 0 stay.
func retag(t *testing.T, name string, tag, to, typ int, count, value int64) []byte {
	b, err := os.ReadFile("../../testdata/images/" + name)
	require.NoError(t, err)
	order := binary.ByteOrder(binary.LittleEndian)
	if b[0] == 'M' {
		order = binary.BigEndian
	}
	at := int(order.Uint32(b[4:]))
	for n := int(order.Uint16(b[at:])); n > 0; n-- {
		e := b[at+2+12*(n-1):][:12]
		if int(order.Uint16(e)) != tag {
			continue
		}
		if to >= 0 {
			order.PutUint16(e, uint16(to))
		}
		if typ >= 0 {
			order.PutUint16(e[2:], uint16(typ))
		}
		if count >= 0 {
			order.PutUint32(e[4:], uint32(count))
		}
		if value >= 0 {
			order.PutUint32(e[8:], uint32(value))
		}
		return b
	}
	t.Fatalf("%s: no tag %d", name, tag)
	return nil
}

// TestLibtiff has changes of directories that parity/mutations.py found: Pillow
// 13.0.0 refuses these, because libtiff does.
func TestLibtiff(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		kind error
		text string
	}{
		"bits without values":     {retag(t, "tiff_group3_black.tif", 258, -1, -1, 0, -1), codec.ErrFormat, "a tag of a wrong type or number"},
		"bits behind the end":     {retag(t, "tiff_group4_black.tif", 258, -1, -1, 100, 1<<20), codec.ErrFormat, ""},
		"format of unknown type":  {retag(t, "tiff_int16_2_c8_le.tif", 339, -1, 255, -1, -1), codec.ErrFormat, "a tag of a wrong type or number"},
		"sizes of unknown type":   {retag(t, "tiff_rgb16_assoc_le.tif", 279, -1, 0, -1, -1), codec.ErrFormat, "a tag of a wrong type or number"},
		"extras of unknown type":  {retag(t, "tiff_rgb16_alpha_le.tif", 338, -1, 0, -1, -1), codec.ErrFormat, "a tag of a wrong type or number"},
		"extras behind the end":   {retag(t, "tiff_rgb16_alpha_be.tif", 338, -1, -1, 4, 1<<17), codec.ErrFormat, "a tag of a wrong type or number"},
		"samples without a value": {retag(t, "tiff_int32_1_c8_le.tif", 277, -1, -1, 0, -1), codec.ErrFormat, "a tag of a wrong type or number"},
		"short palette":           {retag(t, "tiff_p4_le.tif", 258, -1, -1, -1, 2), codec.ErrFormat, "a palette of 48 numbers, want 12"},
		"large strips":            {retag(t, "tiff_rgb16_c32773_le.tif", 278, -1, 4, -1, 1<<31), codec.ErrLimit, "want at most 2 GiB"},
		"gray inverted, reversed": {retag(t, "tiff_fill8_le.tif", 259, 65535, -1, -1, -1), codec.ErrFormat, "which Pillow does not unpack"},
	} {
		_, err := codec.Decode(c.data, nil)
		require.ErrorIs(t, err, c.kind, name)
		require.ErrorContains(t, err, c.text, name)
	}
	// All rows, for Pillow and libtiff.
	_, err := codec.Decode(retag(t, "tiff_rgb16_c32773_le.tif", 278, -1, 4, -1, math.MaxUint32), nil)
	require.NoError(t, err)
	// Only integers are orientations.
	info, err := codec.DecodeConfig(retag(t, "tiff_orientation7.tif", 274, -1, 11, -1, -1), nil)
	require.NoError(t, err)
	require.Equal(t, 1, info.Orientation)
	// Missing rows have the palette's first colour.
	x, err := codec.Decode(retag(t, "tiff_pa.tif", 278, -1, -1, -1, 4), nil)
	require.NoError(t, err)
	last := x.Data[len(x.Data)-3:]
	require.NotEqual(t, []byte{0, 0, 0}, last)
}
