package exif

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrientation(t *testing.T) {
	le := "II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	be := "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x04\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x00"
	for _, c := range []struct {
		in    string
		want  int
		found bool
	}{
		{le, 6, true}, {be, 8, true}, {"Exif\x00\x00" + le, 6, true}, {"Exif\x00\x00Exif\x00\x00" + be, 8, true},
		{strings.Replace(le, "\x06\x00", "\x09\x00", 1), 1, true},
		{strings.Replace(le, "\x03\x00\x01", "\x01\x00\x01", 1), 1, true}, // a BYTE
		{strings.Replace(le, "\x12\x01", "\x13\x01", 1), 1, false},
		{le[:20], 1, false}, {"", 1, false}, {"II*\x00\xff\xff\xff\xff", 1, false},
	} {
		got, found := Orientation([]byte(c.in))
		require.Equal(t, c.want, got, "%q", c.in)
		require.Equal(t, c.found, found, "%q", c.in)
	}
	require.Equal(t, 3, XMPOrientation([]byte(`<a tiff:Orientation="x"/><tiff:Orientation>3</tiff:Orientation>`)))
	require.Equal(t, 1, XMPOrientation([]byte(`tiff:Orientation="`)))
}

// TestLibraries compares with the orientation that OpenCV and TorchCodec apply
// to JPEG, PNG and WebP with a block.
func TestLibraries(t *testing.T) {
	t.Run("opencv", func(t *testing.T) { library(t, OpenCV) })
	t.Run("torchcodec", func(t *testing.T) { library(t, TorchCodec) })
}

func library(t *testing.T, orientation func([]byte) int) {
	b, err := os.ReadFile("../../../testdata/golden" + strings.TrimPrefix(t.Name(), "TestLibraries") + ".json")
	require.NoError(t, err)
	var g struct {
		Exif []struct {
			Name   string
			Block  string
			Turned []bool
		}
	}
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g.Exif)
	for _, c := range g.Exif {
		block, err := hex.DecodeString(c.Block)
		require.NoError(t, err)
		for i, turned := range c.Turned {
			if c.Name == "XX" && i == 1 {
				continue // package png drops it, as libpng does
			}
			require.Equal(t, turned, orientation(block) == 6, c.Name)
		}
		for n := range block {
			orientation(block[:n])
		}
	}
}

func FuzzLibraries(f *testing.F) {
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, o := range []int{OpenCV(b), TorchCodec(b)} {
			if o < 1 || o > 8 {
				t.Error(o)
			}
		}
	})
}
