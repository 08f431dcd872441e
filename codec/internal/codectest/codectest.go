// Package codectest holds the tests that every image format shares.
package codectest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// Fuzz seeds f with the format's files in testdata and checks that hostile
// input neither panics nor passes the limits, that errors are *codec.Error, and
// that a decoder gives the same after other images as a new one.
func Fuzz(f *testing.F, format string) {
	const root = "../../testdata/"
	for _, dir := range []string{"images/", "damaged/"} {
		names, err := filepath.Glob(root + dir + format + "_*")
		require.NoError(f, err)
		require.NotEmpty(f, names)
		for _, p := range names {
			b, err := os.ReadFile(p)
			require.NoError(f, err)
			if len(b) < 20000 {
				f.Add(b)
			}
		}
	}
	var used codec.Decoder
	f.Fuzz(func(t *testing.T, data []byte) {
		o := codec.Options{Limits: codec.Limits{Pixels: 1 << 16, Bytes: 1 << 21}, Orientation: codec.OrientationApply}
		info, err := codec.DecodeConfig(data, &o)
		if err == nil {
			require.LessOrEqual(t, info.Width*info.Height, 1<<16)
			dst, dst2 := make([]byte, info.Size()), make([]byte, info.Size())
			var d codec.Decoder
			_, err = d.Decode(dst, data, &o)
			_, err2 := used.Decode(dst2, data, &o)
			require.Equal(t, err, err2)
			if err == nil {
				require.Equal(t, dst, dst2)
			}
		}
		if err != nil {
			var e *codec.Error
			require.ErrorAs(t, err, &e)
		}
	})
}
