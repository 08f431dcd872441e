//go:build !small

package tiff_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	_ "github.com/infer-prep/infer-prep/codec/tiff"
)

var moreOld = flag.String("oldjpeg", "", "a file of testdata/gen/codecs/tiff_old_jpeg.py N to compare with, too")

// TestOldJPEG compares old JPEG with Pillow, and damages it.
func TestOldJPEG(t *testing.T) {
	type file struct {
		Kind, RGB, Error string
		File             []byte
		Size             [2]int
	}
	var all []file
	for _, name := range []string{"testdata/old_jpeg.json", *moreOld} {
		if name == "" {
			continue
		}
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		var l []file
		require.NoError(t, json.Unmarshal(b, &l))
		all = append(all, l...)
	}
	equal, refused := map[string]int{}, map[string]int{}
	for i, f := range all {
		x, err := codec.Decode(f.File, nil)
		if f.Error != "" {
			require.Error(t, err, "file %d, %s: %s", i, f.Kind, f.Error)
			refused["by both"]++
			continue
		}
		if err != nil {
			require.ErrorIs(t, err, codec.ErrUnsupported, "file %d, %s", i, f.Kind)
			refused[err.Error()]++
			continue
		}
		require.Equal(t, f.Size, [2]int{x.Desc.Shape.At(1), x.Desc.Shape.At(0)})
		sum := sha256.Sum256(x.Data)
		require.Equal(t, f.RGB, hex.EncodeToString(sum[:8]), "file %d, %s", i, f.Kind)
		equal[f.Kind]++
	}
	require.Len(t, equal, 4)
	t.Logf("equal: %v; refused: %v", equal, refused)
	var d codec.Decoder
	for _, f := range all[:8] {
		for n := 0; n < len(f.File); n += 1 + len(f.File)/60 {
			b := append([]byte{}, f.File...)
			b[n] ^= 0xFF
			for _, data := range [][]byte{b, f.File[:n]} {
				i, err := d.Open(data, &codec.Options{Limits: codec.Limits{Pixels: 1 << 16, Bytes: 1 << 20}})
				if err == nil {
					info := i.Info()
					err = i.Decode(make([]byte, info.Size()))
				}
				var e *codec.Error
				if err != nil {
					require.ErrorAs(t, err, &e)
					require.NotErrorIs(t, err, codec.ErrInternal)
				}
			}
		}
	}
}
