// Package jpegli encodes JPEG files with jpegli, the encoder of the authors of
// libjxl. At the same file size it keeps more detail than libjpeg. It is for
// packing only: package codec/jpeg decodes, to the pixels that models were
// trained on. Importing it registers the encoder "jpegli", which package pack
// and the command line know by that name:
//
//	import _ "github.com/infer-prep/infer-prep/codec/jpegli"
//
// It is a module of its own, so that jpegli and the runtime of WebAssembly are
// no dependencies of the main one.
//
// The same image gives the same bytes on every platform.
// github.com/gen2brain/jpegli v0.4.2 runs jpegli as WebAssembly with SIMD under
// wazero. On arm64, and with the build tag wasm2go, it runs Go code translated
// from that WebAssembly, without SIMD. A test compares both with one digest.
package jpegli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"sync"

	"github.com/gen2brain/jpegli"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	codec.RegisterEncoder(codec.Encoder{
		Name: "jpegli", Version: Version, Chroma: []codec.Chroma{codec.Chroma420, codec.Chroma422, codec.Chroma444},
		New: func() codec.FormatEncoder { return encoder{} },
	})
}

// Version names the encoder's version. Other versions may write other bytes.
const Version = "github.com/gen2brain/jpegli v0.4.2"

const (
	// MaxSide is the largest width and height in pixels: the largest multiple
	// of 8 below 65500, which is libjpeg's JPEG_MAX_DIMENSION.
	MaxSide = 65496
	// MaxPixels is the largest number of pixels of an image. jpegli needs up to
	// 20 bytes for each and has 4 GiB of memory.
	MaxPixels = 1 << 27
)

// defaultQuality is that of OpenCV, and of package pack.
const defaultQuality = 95

var ratios = [...]image.YCbCrSubsampleRatio{
	codec.ChromaDefault: image.YCbCrSubsampleRatio420, codec.Chroma420: image.YCbCrSubsampleRatio420,
	codec.Chroma422: image.YCbCrSubsampleRatio422, codec.Chroma444: image.YCbCrSubsampleRatio444,
}

// ErrEncode reports that jpegli failed on a valid image.
var ErrEncode = errors.New("not encoded")

// pixels holds buffers for images in jpegli's input layout.
var pixels = sync.Pool{New: func() any { return new([]byte) }}

// encoder is Encode for package codec.
type encoder struct{}

func (encoder) Encode(dst []byte, t *tensor.Tensor, o codec.EncodeOptions) ([]byte, error) {
	return Encode(dst, t, o)
}

// Encode encodes t, a uint8 HWC image of one channel (gray) or three (RGB), and
// appends the JPEG file to dst. It always writes baseline JPEG, with Huffman
// tables and adaptive quantization computed for the image. The default quality
// is 95 on libjpeg's scale, and the default chroma 4:2:0; 4:4:0 and 4:1:1 are
// errors. It is safe for concurrent use; each call has a WebAssembly memory of
// its own.
//
// Images larger than MaxSide or MaxPixels return codec.ErrLimit. If jpegli
// fails or traps, Encode returns ErrEncode. On error, b is dst.
func Encode(dst []byte, t *tensor.Tensor, o codec.EncodeOptions) (b []byte, err error) {
	defer func() {
		if err != nil {
			b, err = dst, fmt.Errorf("jpegli: %w", err)
		}
	}()
	if t.DType != tensor.Uint8 || !t.IsImage() || t.Layout != tensor.HWC || t.Channels() != 1 && t.Channels() != 3 {
		return nil, fmt.Errorf("%v, want a uint8 HWC image of 1 or 3 channels", t.Desc)
	}
	if o.Quality < 0 || o.Quality > 100 || o.Chroma > codec.Chroma444 {
		return nil, fmt.Errorf("quality %d, chroma %v, want 1 to 100, and 420, 422 or 444", o.Quality, o.Chroma)
	}
	if o.Quality == 0 {
		o.Quality = defaultQuality
	}
	h, w := t.Height(), t.Width()
	if h < 1 || w < 1 || h > MaxSide || w > MaxSide || int64(h)*int64(w) > MaxPixels {
		return nil, fmt.Errorf("%w: %d x %d pixels, want sides of 1 to %d and at most %d pixels", codec.ErrLimit, w, h, MaxSide, MaxPixels)
	}
	if !t.Dense() {
		t = t.Clone()
	}
	p := pixels.Get().(*[]byte)
	defer pixels.Put(p)
	scratch := func(n int) []byte {
		if cap(*p) < n {
			*p = make([]byte, n)
		}
		return (*p)[:n]
	}
	var m image.Image
	if t.Channels() == 1 {
		// v0.4.2 reads gray images in whole 8x8 blocks, even beyond the end of
		// a row or of the image. The buffer therefore has whole blocks, and
		// setSize writes the real size into the file.
		bw, bh := (w+7)&^7, (h+7)&^7
		gray := scratch(bw * bh)
		for y := range bh {
			row := gray[y*bw:][:bw]
			n := copy(row, t.Data[min(y, h-1)*w:][:w])
			for x := n; x < bw; x++ {
				row[x] = row[w-1]
			}
		}
		m = &image.Gray{Pix: gray, Stride: bw, Rect: image.Rect(0, 0, bw, bh)}
	} else {
		rgba := scratch(4 * h * w)
		rgb := t.Data[:3*h*w]
		for i := range h * w {
			s, d := rgb[3*i:3*i+3:3*i+3], rgba[4*i:4*i+4:4*i+4]
			d[0], d[1], d[2], d[3] = s[0], s[1], s[2], 255
		}
		m = &image.NRGBA{Pix: rgba, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
	}
	ratio := ratios[o.Chroma]
	// A trap is an error under wazero but a panic in the translated Go code.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %d x %d pixels: %v", ErrEncode, w, h, p)
		}
	}()
	out := bytes.NewBuffer(dst)
	if err := jpegli.Encode(out, m, &jpegli.EncodingOptions{
		Quality: o.Quality, ChromaSubsampling: ratio, OptimizeCoding: true, AdaptiveQuantization: true,
	}); err != nil {
		return nil, fmt.Errorf("%w: %d x %d pixels: %w", ErrEncode, w, h, err)
	}
	b = out.Bytes()
	if !setSize(b[len(dst):], h, w) {
		return nil, fmt.Errorf("%w: %d x %d pixels: no frame header in the file", ErrEncode, w, h)
	}
	return b, nil
}

// setSize writes the size into a JPEG file's frame header.
func setSize(b []byte, h, w int) bool {
	for at := 2; at+9 <= len(b) && b[at] == 0xff; { // behind SOI
		if marker := b[at+1]; marker == 0xc0 || marker == 0xc1 { // SOF0, SOF1: length, precision, height, width
			binary.BigEndian.PutUint16(b[at+5:], uint16(h))
			binary.BigEndian.PutUint16(b[at+7:], uint16(w))
			return true
		}
		at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
	}
	return false
}
