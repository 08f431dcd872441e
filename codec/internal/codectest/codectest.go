// Package codectest holds tests and helpers that the image formats share.
package codectest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// Config opens data and returns its description.
func Config(d *codec.Decoder, data []byte, o *codec.Options) (codec.Info, error) {
	i, err := d.Open(data, o)
	if err != nil {
		return codec.Info{}, err
	}
	return i.Info(), nil
}

// Decode opens data and decodes it into dst.
func Decode(d *codec.Decoder, dst, data []byte, o *codec.Options) (codec.Info, error) {
	i, err := d.Open(data, o)
	if err == nil {
		err = i.Decode(dst)
	}
	if err != nil {
		return codec.Info{}, err
	}
	return i.Info(), nil
}

// DecodeRows opens data and decodes a region.
func DecodeRows(d *codec.Decoder, sink codec.RowSink, region codec.Region, data []byte, o *codec.Options) (codec.Info, error) {
	i, err := d.Open(data, o)
	if err == nil {
		err = i.DecodeRows(sink, region)
	}
	if err != nil {
		return codec.Info{}, err
	}
	return i.Info(), nil
}

// Fuzz seeds f with the format's files in testdata. It checks that hostile
// input neither panics nor exceeds the limits, that errors are of type
// *codec.Error, and that a used decoder returns the same as a new one.
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
			_, err = Decode(&d, dst, data, &o)
			_, err2 := Decode(&used, dst2, data, &o)
			require.Equal(t, err, err2)
			require.NotErrorIs(t, err, codec.ErrInternal)
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
