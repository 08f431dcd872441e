package mobile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec/pixels"
)

const decodeRGB = `{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
	"steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "rgb", "alpha": "drop",
	"gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}`

// yuvCase is a golden of testdata/gen/codecs/yuv.py.
type yuvCase struct {
	Layout             string
	Width, Height, Pad int
	Seed               uint32
	Crop               []int
	Rotation           int
	SHA256             string
}

func (c *yuvCase) noise(n int, seed uint32) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	return b
}

// frame returns the description and the planes of a golden, which a camera
// gives in this form.
func (c *yuvCase) frame() (f *Frame, y, u, v []byte) {
	cw, ch := (c.Width+1)/2, (c.Height+1)/2
	f = &Frame{Width: c.Width, Height: c.Height, RowStride: c.Width + c.Pad, ChromaRowStride: 2*cw + c.Pad, ChromaPixelStride: 2, Rotation: c.Rotation}
	if c.Layout == "I420" {
		f.ChromaRowStride, f.ChromaPixelStride = cw+c.Pad, 1
	}
	if c.Crop != nil {
		f.CropLeft, f.CropTop, f.CropRight, f.CropBottom = c.Crop[0], c.Crop[1], c.Crop[2], c.Crop[3]
	}
	y = c.noise(f.RowStride*c.Height, c.Seed)
	u, v = c.noise(f.ChromaRowStride*ch, c.Seed+1), c.noise(f.ChromaRowStride*ch, c.Seed+2)
	switch c.Layout {
	case "NV12":
		v = u[1:]
	case "NV21":
		v, u = u, u[1:]
	}
	return f, y, u, v
}

// TestYUV420 compares camera frames with libyuv, through RunYUV420 and RunInto.
func TestYUV420(t *testing.T) {
	b, err := os.ReadFile("../testdata/golden/yuv.json")
	require.NoError(t, err)
	var goldens struct{ Cases []yuvCase }
	require.NoError(t, json.Unmarshal(b, &goldens))
	require.Greater(t, len(goldens.Cases), 800)
	p, err := OpenGraph([]byte(decodeRGB))
	require.NoError(t, err)
	in, out := NewInput(), NewResult()
	for _, c := range goldens.Cases {
		f, y, u, v := c.frame()
		r, err := p.RunYUV420(y, u, v, f)
		require.NoError(t, err, "%+v", c)
		d := sha256.Sum256(r.Data(0))
		require.Equal(t, c.SHA256, hex.EncodeToString(d[:]), "%+v", c)

		require.NoError(t, in.SetYUV420(&Buffer{y}, &Buffer{u}, &Buffer{v}, f))
		require.NoError(t, p.RunInto(in, out))
		require.Equal(t, r.Data(0), out.Data(0))
		require.Equal(t, []int{r.Dim(0, 0), r.Dim(0, 1), 3}, []int{out.Dim(0, 0), out.Dim(0, 1), out.Dim(0, 2)})
	}
}

// TestRGBA compares a bitmap with a file of the same pixels.
func TestRGBA(t *testing.T) {
	file, err := os.ReadFile("../testdata/images/png_rgba8.png")
	require.NoError(t, err)
	rgba, err := OpenGraph([]byte(`{"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
		"steps": [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {"color": "rgba", "alpha": "drop",
		"gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}}], "outputs": ["image"]}`))
	require.NoError(t, err)
	r, err := rgba.RunJPEG(file)
	require.NoError(t, err)
	f := &Frame{Width: r.Dim(0, 1), Height: r.Dim(0, 0)}
	again, err := rgba.RunRGBA(r.Data(0), f)
	require.NoError(t, err)
	require.Equal(t, r.Data(0), again.Data(0))
	p, err := OpenGraph([]byte(decodeRGB))
	require.NoError(t, err)
	want, err := p.RunJPEG(file)
	require.NoError(t, err)
	in := NewInput()
	require.NoError(t, in.SetRGBA(&Buffer{r.Data(0)}, f))
	out := NewResult()
	require.NoError(t, p.RunInto(in, out))
	require.Equal(t, want.Data(0), out.Data(0))
	require.Equal(t, pixels.HeaderSize+4*f.Width*f.Height, len(in.encoded))
}

func TestFrameErrors(t *testing.T) {
	p, err := OpenGraph([]byte(decodeRGB))
	require.NoError(t, err)
	for _, c := range []struct {
		pixels []byte
		f      *Frame
		want   string
	}{
		{nil, nil, "frame is null"},
		{nil, &Frame{}, "0x0 pixels"},
		{nil, &Frame{Width: 1, Height: 1}, "plane 0 has 0 bytes"},
		{make([]byte, 4), &Frame{Width: 1, Height: 1, Rotation: 1}, "rotation of 1 degrees"},
		{make([]byte, 4), &Frame{Width: 1, Height: 1, CropRight: 2, CropBottom: 1}, "crop (0,0)-(2,1)"},
	} {
		_, err := p.RunRGBA(c.pixels, c.f)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, "input", Code(err))
		_, err = p.RunYUV420(c.pixels, nil, nil, c.f)
		require.Equal(t, "input", Code(err))
	}
	in := NewInput()
	require.NoError(t, in.SetEncoded([]byte("x")))
	require.Error(t, in.SetRGBA(nil, &Frame{Width: 1, Height: 1}))
	require.Error(t, in.SetRGBA(&Buffer{}, &Frame{Width: 1, Height: 1}))
	require.Error(t, in.SetYUV420(&Buffer{make([]byte, 1)}, nil, nil, &Frame{Width: 1, Height: 1}))
}
