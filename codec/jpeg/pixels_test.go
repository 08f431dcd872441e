package jpeg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/pixels"
)

// sampleSink keeps the samples of all components: the rows that a row of pixels
// is made of are still in the rings when the sink receives it.
type sampleSink struct {
	d      *decoder
	planes [3][]byte
}

func (s *sampleSink) Rows(y, n int, _ []byte) {
	for i := range s.d.head.comps {
		p := &s.d.out.comp[i]
		for row := y / p.vExp; row < min((y+n+p.vExp-1)/p.vExp, p.dh); row++ {
			if len(s.planes[i]) == row*p.dw {
				s.planes[i] = append(s.planes[i], p.row(row)[:p.dw]...)
			}
		}
	}
}

// rowSink keeps what it receives.
type rowSink struct{ pix []byte }

func (s *rowSink) Rows(_, _ int, pix []byte) { s.pix = append(s.pix, pix...) }

// TestPixels passes the samples of files to package pixels, which makes the
// same pixels of them.
func TestPixels(t *testing.T) {
	chroma := map[string]pixels.Chroma{
		"baseline 4:4:4": pixels.Chroma444, "baseline 4:2:2": pixels.Chroma422, "baseline 4:2:0": pixels.Chroma420, "baseline 4:4:0": pixels.Chroma440,
		"progressive 4:4:4": pixels.Chroma444, "progressive 4:2:2": pixels.Chroma422, "progressive 4:2:0": pixels.Chroma420, "progressive 4:4:0": pixels.Chroma440,
	}
	files := map[pixels.Chroma]int{}
	g := readGoldens(t)
	for _, name := range names(g.Images) {
		file := read(t, "images", name)
		d := newDecoder()
		info, err := d.Open(file, &codec.Options{Limits: codec.NoLimits()})
		require.NoError(t, err)
		h := pixels.Header{Width: info.Width, Height: info.Height, Mode: codec.RGB, Chroma: chroma[info.Variant]}
		if h.Chroma == 0 {
			continue
		}
		files[h.Chroma]++
		s := &sampleSink{d: d}
		_, err = d.DecodeRows(s, codec.Region{Width: info.Width, Height: info.Height})
		require.NoError(t, err)
		raw := h.Append(nil)
		for _, p := range s.planes {
			raw = append(raw, p...)
		}
		for _, color := range []codec.Color{codec.ToRGB, codec.ToLuma, codec.ToGray} {
			o := &codec.Options{Color: color, Limits: codec.NoLimits()}
			want, err := codec.Decode(file, o)
			require.NoError(t, err)
			got, err := codec.Decode(raw, o)
			require.NoError(t, err, name)
			require.Equal(t, want.Data, got.Data, "%s color %d", name, color)

			var both codec.Decoder
			var a, b rowSink
			region := codec.Region{Left: info.Width / 3, Top: info.Height / 3, Width: (info.Width + 1) / 2, Height: (info.Height + 1) / 2}
			i, err := both.Open(file, o)
			require.NoError(t, err)
			require.NoError(t, i.DecodeRows(&a, region))
			i, err = both.Open(raw, o)
			require.NoError(t, err)
			require.NoError(t, i.DecodeRows(&b, region))
			require.Equal(t, a.pix, b.pix, "%s color %d, rows", name, color)
		}
	}
	for _, c := range chroma {
		require.GreaterOrEqual(t, files[c], 10, "files of chroma %#02x", int(c))
	}
}
