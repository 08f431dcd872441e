package vp8

import (
	"bytes"
	"encoding/binary"
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	xvp8 "golang.org/x/image/vp8"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// frame returns the lossy image of a WebP file, nil if it has none.
func frame(file []byte) []byte {
	at := bytes.Index(file, []byte("VP8 "))
	if at < 0 {
		return nil
	}
	size := int(binary.LittleEndian.Uint32(file[at+4:]))
	return file[at+8:][:min(size, len(file)-at-8)]
}

// planes collects the rows of an image.
type planes struct{ img *image.YCbCr }

func (p planes) Row(y int, luma []byte, c *kernel.VP8Chroma420) {
	m := p.img
	copy(m.Y[y*m.YStride:], luma)
	copy(m.Cb[y/2*m.CStride:], c.UNear)
	copy(m.Cr[y/2*m.CStride:], c.VNear)
}

func decode(d *Decoder, data []byte) (*image.YCbCr, error) {
	h, err := ParseHeader(data)
	if err != nil {
		return nil, err
	}
	p := planes{image.NewYCbCr(image.Rect(0, 0, h.Width, h.Height), image.YCbCrSubsampleRatio420)}
	return p.img, d.Decode(data, p)
}

// oracle decodes with golang.org/x/image and returns dense planes.
func oracle(data []byte) (*image.YCbCr, error) {
	v := xvp8.NewDecoder()
	v.Init(bytes.NewReader(data), len(data))
	h, err := v.DecodeFrameHeader()
	if err != nil {
		return nil, err
	}
	m, err := v.DecodeFrame()
	if err != nil {
		return nil, err
	}
	to := image.NewYCbCr(image.Rect(0, 0, h.Width, h.Height), image.YCbCrSubsampleRatio420)
	for y := range h.Height {
		copy(to.Y[y*to.YStride:][:h.Width], m.Y[y*m.YStride:])
		copy(to.Cb[y/2*to.CStride:][:to.CStride], m.Cb[y/2*m.CStride:])
		copy(to.Cr[y/2*to.CStride:][:to.CStride], m.Cr[y/2*m.CStride:])
	}
	return to, nil
}

// files returns the frames of testdata.
func files(t testing.TB) map[string][]byte {
	names, err := filepath.Glob("../../../testdata/*/webp_*")
	require.NoError(t, err)
	list := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		if f := frame(b); f != nil {
			list[filepath.Base(name)] = f
		}
	}
	require.NotEmpty(t, list)
	return list
}

func TestFiles(t *testing.T) {
	var d Decoder
	for name, data := range files(t) {
		want, wantErr := oracle(data)
		got, err := decode(&d, data)
		if name == "webp_zero.webp" {
			require.Error(t, err) // no pixels
			continue
		}
		require.Equal(t, wantErr != nil, err != nil, "%s: %v, %v", name, wantErr, err)
		if err == nil {
			require.Equal(t, want, got, name)
		}
	}
}
