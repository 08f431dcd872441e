package all

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	"github.com/infer-prep/infer-prep/internal/short"
)

// collector puts the rows of a region together.
type collector struct {
	t      *testing.T
	region codec.Region
	line   int
	next   int
	pix    []byte
}

func (c *collector) Rows(y, n int, pix []byte) {
	require.Equal(c.t, c.next, y, "the next row")
	require.Len(c.t, pix, n*c.line)
	c.next += n
	c.pix = append(c.pix, pix...)
}

// TestDecodeRowsEqualsDecode cuts regions of all kinds out of every test image,
// as rows and out of the whole image, JPEG at every scale.
func TestDecodeRowsEqualsDecode(t *testing.T) {
	files, err := filepath.Glob("../../testdata/images/*")
	require.NoError(t, err)
	extremes, err := filepath.Glob("../../testdata/extremes/*")
	require.NoError(t, err)
	require.Len(t, extremes, 171)
	files = append(files, extremes...)
	var whole, rows codec.Decoder
	decoded := map[codec.Scale]int{}
	step := short.Step(t, 4)
	for i, f := range files {
		if i%step != 0 {
			continue
		}
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		for scale := codec.ScaleFull; scale <= codec.ScaleEighth; scale++ {
			o := codec.Options{}
			o.Color = codec.Color((i + int(scale)) % 5)
			o.Orientation = codec.Orientation(i / 5 % 2)
			o.Scale = scale
			decoded[scale] += requireRegions(t, &whole, &rows, f, data, &o)
		}
	}
	require.Greater(t, decoded[codec.ScaleFull], 2000/step)
	for scale := codec.ScaleHalf; scale <= codec.ScaleEighth; scale++ {
		if step == 1 {
			require.Equal(t, 5*(168+171), decoded[scale], "regions of images at the scale %v", scale)
		}
	}
}

// requireRegions compares regions of an image with the whole, and says how
// many.
func requireRegions(t *testing.T, whole, rows *codec.Decoder, f string, data []byte, o *codec.Options) (decoded int) {
	info, err := codectest.Config(whole, data, o)
	if err != nil {
		require.ErrorIs(t, err, codec.ErrUnsupported)
		return 0
	}
	want := make([]byte, info.Size())
	_, wantErr := codectest.Decode(whole, want, data, o)
	w, h, n := info.OutWidth, info.OutHeight, info.Channels
	for _, r := range []codec.Region{
		{Width: w, Height: h},
		{Left: w / 3, Top: h / 4, Width: (w + 2) / 3, Height: (h + 1) / 2},
		{Left: w - 1, Top: h - 1, Width: 1, Height: 1},
		{Left: w / 2, Top: 0, Width: w - w/2, Height: 1},
		{Left: 0, Top: h / 2, Width: (w + 1) / 2, Height: h - h/2},
	} {
		c := &collector{t: t, region: r, line: r.Width * n, next: r.Top}
		got, err := codectest.DecodeRows(rows, c, r, data, o)
		if wantErr != nil {
			require.Error(t, err, f)
			require.Equal(t, wantErr.Error(), err.Error(), f)
			continue
		}
		require.NoError(t, err, f)
		require.Equal(t, info, got, f)
		require.Equal(t, r.Top+r.Height, c.next, "%s: rows given", f)
		for y := range r.Height {
			at := ((r.Top+y)*w + r.Left) * n
			require.Equal(t, want[at:at+c.line], c.pix[y*c.line:][:c.line], "%s at the scale %v: row %d of %+v", f, o.Scale, y, r)
		}
		decoded++
	}
	for _, r := range []codec.Region{{}, {Left: -1, Width: 2, Height: 1}, {Left: w, Width: 1, Height: 1}, {Width: w + 1, Height: 1}, {Top: 1, Width: 1, Height: h}} {
		_, err := codectest.DecodeRows(rows, &collector{t: t}, r, data, o)
		require.ErrorContains(t, err, "region", f)
	}
	return decoded
}
