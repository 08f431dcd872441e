package vp8

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	xvp8 "golang.org/x/image/vp8"

	"github.com/infer-prep/infer-prep/internal/cpu"
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

// TestPlain compares vector instructions with Go.
func TestPlain(t *testing.T) {
	if !cpu.Any() {
		t.Skip("no kernel uses vector instructions here")
	}
	var d Decoder
	for name, data := range files(t) {
		got, err := decode(&d, data)
		restore := cpu.DisableAll()
		want, wantErr := decode(&d, data)
		restore()
		require.Equal(t, wantErr, err, name)
		require.Equal(t, want, got, name)
	}
}

// TestCut cuts a frame. Only the last bytes may be missing: what they hold may
// be no part of the image.
func TestCut(t *testing.T) {
	var d Decoder
	data := files(t)["webp_lossy_37x23.webp"]
	want, err := decode(&d, data)
	require.NoError(t, err)
	for n := range len(data) {
		got, err := decode(&d, data[:n])
		if n < len(data)-4 {
			require.Error(t, err, n)
		}
		if err == nil {
			require.Equal(t, want, got, n)
		}
	}
}

func TestMemory(t *testing.T) {
	data := files(t)["webp_lossy_37x23.webp"]
	var d Decoder
	_, err := decode(&d, data)
	require.NoError(t, err)
	n := cap(d.row) * int(unsafe.Sizeof(macroblock{}))
	for _, p := range d.planes {
		n += cap(p.pix) + cap(p.saved) + cap(p.other)
	}
	require.Equal(t, n, Memory(37))
}

func TestParseHeader(t *testing.T) {
	good := []byte{0x10, 1, 0, 0x9d, 1, 0x2a, 3, 0x40, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0}
	h, err := ParseHeader(good)
	require.NoError(t, err)
	require.Equal(t, Header{3, 2, 8}, h)
	for _, c := range []struct {
		at    int
		value byte
		err   string
	}{
		{0, 0x11, "not a key frame"}, {0, 0x18, "unknown profile"}, {0, 0, "not a visible frame"},
		{4, 2, "not a VP8 signature"}, {6, 0, "no pixels"}, {8, 0, "no pixels"}, {1, 2, "unexpected EOF"},
	} {
		bad := bytes.Clone(good)
		bad[c.at] = c.value
		_, err := ParseHeader(bad)
		require.EqualError(t, err, c.err)
	}
	_, err = ParseHeader(good[:9])
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// FuzzDecode checks that hostile data does not panic, and that a used decoder
// and one without vector instructions return the same.
func FuzzDecode(f *testing.F) {
	for _, data := range files(f) {
		if len(data) < 5000 {
			f.Add(data)
		}
	}
	var used Decoder
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := ParseHeader(data); err != nil || h.Width*h.Height > 1<<14 {
			return
		}
		want, wantErr := decode(new(Decoder), data)
		got, err := decode(&used, data)
		require.Equal(t, wantErr, err)
		if err == nil {
			require.Equal(t, want, got)
		}
		restore := cpu.DisableAll()
		got, err = decode(&used, data)
		restore()
		require.Equal(t, wantErr, err)
		if err == nil {
			require.Equal(t, want, got)
		}
	})
}
