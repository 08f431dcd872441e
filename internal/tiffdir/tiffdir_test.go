package tiffdir

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppend compares directories at place 16 with bytes written by hand: tags
// in order, values of up to an offset's size in the tag, others behind.
func TestAppend(t *testing.T) {
	for _, c := range []struct {
		d    Directory
		want string
	}{
		{Directory{Order: binary.BigEndian}, `0003
			0100 0004 00000001 00000280
			0102 0003 00000003 0000003a
			a481 0002 00000002 37000000
			00000048 0008 0008 0008 0000 000000000000`},
		{Directory{Order: binary.LittleEndian, Big: true}, `0300000000000000
			0001 0400 0100000000000000 8002000000000000
			0201 0300 0300000000000000 0800 0800 0800 0000
			81a4 0200 0200000000000000 3700000000000000
			6000000000000000 00000000`},
	} {
		d := c.d
		d.Short(258, 8, 8, 8)
		d.Text(0xa481, "7")
		d.Long(256, 1)
		d.Long(256, 640) // replaces 1
		b := d.Append([]byte{1}, 16, false)
		want, err := hex.DecodeString("01" + strings.Join(strings.Fields(c.want), ""))
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(b))
		require.Equal(t, 16+len(b)-1, d.End(16))
		b = d.Append(nil, 16, true)
		require.Len(t, b, len(want)-1)
	}
}
