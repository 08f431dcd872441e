package datagraph_test

import (
	"bytes"
	"image"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// TestRegionOfTIFF crops directly after decoding, with a plan that keeps the
// tiles of the window and with one that keeps all. Then it damages another
// tile, which decode_native does not read. Decode refuses the image, as Pillow.
func TestRegionOfTIFF(t *testing.T) {
	for _, c := range []struct {
		file   string
		decode x.Op
		window image.Rectangle // in tiles, of 16 x 32 pixels
	}{
		{"u16_deflate_tiled.tif", x.NewDecodeNative(tensor.Uint16, 4), image.Rect(18, 5, 40, 30)},
		{"i16_planar_13.tif", x.NewDecodeNative(tensor.Int16, 13), image.Rect(0, 0, 9, 9)},
		{"jpeg_420.tif", x.NewDecode(), image.Rect(33, 2, 60, 30)},
		{"jpeg_420.tif", x.NewDecodeNative(tensor.Uint8, 3), image.Rect(33, 2, 60, 30)},
	} {
		data, err := os.ReadFile("../codec/tiff/testdata/" + c.file)
		require.NoError(t, err)
		w := c.window
		g := datagraph.New(c.decode, x.NewCrop(w.Min.Y, w.Min.X, w.Dy(), w.Dx()), x.NewHorizontalFlip())
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		run := func(p *datagraph.Plan, data []byte) ([]byte, error) {
			out, err := p.NewRunner().Run(tensor.FromBytes(data))
			if err != nil {
				return nil, err
			}
			return out[0].Data, nil
		}
		want, err := run(p.Unfused(), data)
		require.NoError(t, err, c.file)
		got, err := run(p, data)
		require.NoError(t, err, c.file)
		require.Equal(t, want, got, c.file)

		// A byte of the last tile.
		r, err := tiff.NewReader(bytes.NewReader(data), int64(len(data)), nil)
		require.NoError(t, err)
		i, err := r.Image(0)
		require.NoError(t, err)
		f, err := i.Info()
		require.NoError(t, err)
		bad := damageTile(t, data, i, codec.Region{Left: f.Width - 1, Top: f.Height - 1, Width: 1, Height: 1})
		_, err = run(p.Unfused(), bad)
		require.Error(t, err, c.file)
		got, err = run(p, bad)
		if _, pillow := c.decode.(*x.Decode); pillow {
			require.Error(t, err, c.file)
			continue
		}
		require.NoError(t, err, c.file)
		require.Equal(t, want, got, c.file)
	}
}

// damageTile returns data with a tile damaged: that of the last pixel. It tries
// every byte from the end.
func damageTile(t *testing.T, data []byte, i *tiff.Image, last codec.Region) []byte {
	for at := len(data) - 64; at > 16; at -= 16 {
		bad := bytes.Clone(data)
		copy(bad[at:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
		r, err := tiff.NewReader(bytes.NewReader(bad), int64(len(bad)), nil)
		if err != nil {
			continue
		}
		k, err := r.Image(0)
		if err != nil {
			continue
		}
		if _, err := k.Tensor(codec.Region{Width: 1, Height: 1}); err != nil {
			continue
		}
		if _, err := k.Tensor(last); err != nil {
			return bad
		}
	}
	t.Fatal("no damage found")
	return nil
}

// TestRegionCutDeclines: windows that leave the image are those of the separate
// steps.
func TestRegionCutDeclines(t *testing.T) {
	data, err := os.ReadFile("../codec/tiff/testdata/u16_deflate_tiled.tif")
	require.NoError(t, err)
	for _, op := range []x.Op{x.NewCrop(-3, 60, 20, 20), x.NewCenterCrop(60, 20), x.NewCenterCrop(20, 60), x.NewVerticalFlip()} {
		g := datagraph.New(x.NewDecodeNative(tensor.Uint16, 4), op)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		want, err := p.Unfused().NewRunner().Run(tensor.FromBytes(data))
		require.NoError(t, err)
		got, err := p.NewRunner().Run(tensor.FromBytes(data))
		require.NoError(t, err)
		require.Equal(t, want[0].Data, got[0].Data)
	}
}
