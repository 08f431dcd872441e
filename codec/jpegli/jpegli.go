// Package jpegli encodes JPEG with jpegli, the encoder of libjxl's authors,
// which at the same size keeps more of an image than libjpeg does. It is for
// packing; images are decoded by codec/jpeg, whose pixels are those that models
// were trained on.
//
// The same image gives the same bytes on every platform:
// github.com/gen2brain/jpegli v0.4.2 runs jpegli as WebAssembly (SIMD) under
// wazero, or, on arm64 and with the build tag wasm2go, as Go code that was made
// of it (without SIMD). A test compares both with one digest.
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
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Version is that of the encoder: with another one the bytes may differ.
const Version = "github.com/gen2brain/jpegli v0.4.2"

const (
	// MaxSide is the most pixels of a side: whole blocks below 65500, libjpeg's
	// JPEG_MAX_DIMENSION.
	MaxSide = 65496
	// MaxPixels bounds an image, so that what jpegli needs, up to 20 bytes a
	// pixel, is less than the 4 GiB of its memory.
	MaxPixels = 1 << 27
)

// Chroma says how much of the colour of an image is kept.
type Chroma uint8

const (
	Chroma420 Chroma = iota // half of its width and height, as cv2.imencode does
	Chroma422               // half of its width
	Chroma444               // all
)

var chromaNames = []string{"420", "422", "444"}

// String is the name: "420", "422", "444".
func (c Chroma) String() string { return enum.String("chroma", chromaNames, c) }

// MarshalText writes the name.
func (c Chroma) MarshalText() ([]byte, error) { return enum.Format("chroma", chromaNames, c) }

// UnmarshalText reads the name.
func (c *Chroma) UnmarshalText(b []byte) error { return enum.Parse(c, "chroma", chromaNames, b) }

// Options are how an image is encoded: baseline, with Huffman tables and
// quantisation that are made for it.
type Options struct {
	Quality int    // 1 to 100, libjpeg's scale as jpegli takes it
	Chroma  Chroma // has no effect on gray images
}

// ErrEncode is the error of an image that jpegli does not encode, although it
// should.
var ErrEncode = errors.New("not encoded")

// pixels is memory for images in the form that jpegli takes.
var pixels = sync.Pool{New: func() any { return new([]byte) }}

// Encode appends a JPEG file of a uint8 HWC image of one channel (gray) or
// three (RGB) to dst. It may be called by several goroutines at once; each has
// a memory of WebAssembly of its own while it does.
//
// An image that is too large is codec.ErrLimit; one on which jpegli fails or
// traps is ErrEncode.
func Encode(dst []byte, t *tensor.Tensor, o Options) (b []byte, err error) {
	defer func() {
		if err != nil {
			b, err = dst, fmt.Errorf("jpegli: %w", err)
		}
	}()
	if t.DType != tensor.Uint8 || !t.IsImage() || t.Layout != tensor.HWC || t.Channels() != 1 && t.Channels() != 3 {
		return nil, fmt.Errorf("%v, want a uint8 HWC image of 1 or 3 channels", t.Desc)
	}
	if o.Quality < 1 || o.Quality > 100 || o.Chroma > Chroma444 {
		return nil, fmt.Errorf("quality %d, chroma %v, want 1 to 100, and 420, 422 or 444", o.Quality, o.Chroma)
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
		// v0.4.2 takes whole blocks of gray images from memory, wherever rows
		// and image end: so they are whole here, and the file is told the size
		// below.
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
	ratio := [...]image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio444}[o.Chroma]
	// A trap is an error under wazero, and a panic of the Go code.
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
