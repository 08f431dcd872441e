// Package webp decodes WebP for package codec; importing it registers the
// format. It decodes lossy, lossless, and lossy images with alpha. An animation
// decodes to its first frame on a canvas of transparent black.
//
// golang.org/x/image decodes the planes of lossy images exactly. Their
// conversion to RGB is that of libwebp 1.6.0 as Pillow 13.0.0 uses it: fancy
// upsampling of chroma and limited-range fixed point. Colours of transparent
// pixels stay unchanged, as in Pillow.
package webp

import (
	"bytes"
	"encoding/binary"
	"image"
	"math/bits"

	"golang.org/x/image/vp8"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
	"github.com/infer-prep/infer-prep/codec/internal/vp8l"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

const name = "webp"

func init() {
	codec.Register(codec.Format{Name: name, Magic: []string{"RIFF????WEBPVP8"}, New: func() codec.FormatDecoder { return new(decoder) }})
}

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

// The flags of a VP8X chunk.
const (
	flagAnimation = 1 << 1
	flagAlpha     = 1 << 4
	flagsKnown    = 0x3e
)

// The largest side of a VP8 or VP8L image is 1<<14 - 1 and 1<<14.
type header struct {
	width, height int
	lossless      bool
	hasAlpha      bool
	opaque        bool
	image         []byte // body of the VP8 or VP8L chunk
	imageAt       int
	alpha         []byte // body of the ALPH chunk, nil if missing
	exif, xmp     []byte
	extended      bool
	animated      bool
	frames        int // of an animation
	canvasW       int // size of the image, or of the animation with the frame at (x, y)
	canvasH       int
	x, y          int
}

func (h *header) parse(data []byte) error {
	*h = header{}
	if len(data) < 20 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return bad(0, "not a RIFF WEBP header")
	}
	size := uint64(binary.LittleEndian.Uint32(data[4:]))
	if size < 12 || size > 1<<32-10 {
		return bad(4, "a RIFF chunk of %d bytes", size)
	}
	end := len(data)
	if size+8 > uint64(end) {
		return bad(4, "the file ends at %d bytes, its header says %d", end, size+8)
	}
	end = int(size + 8) // bytes after it are ignored
	var canvasW, canvasH int
	flags := uint8(0)
	for p := 12; ; {
		if end-p < 8 {
			break
		}
		id, n := string(data[p:p+4]), uint64(binary.LittleEndian.Uint32(data[p+4:]))
		if n > uint64(end-p-8) {
			return bad(p, "chunk %q of %d bytes, %d are left", id, n, end-p-8)
		}
		body := data[p+8 : p+8+int(n)]
		switch {
		case p == 12 && id == "VP8X":
			if n < 10 {
				return bad(p, "chunk VP8X of %d bytes, want 10", n)
			}
			h.extended, flags = true, body[0]
			if flags&^flagsKnown != 0 {
				return bad(p, "VP8X with flags %#x", flags)
			}
			canvasW, canvasH = 1+le24(body[4:]), 1+le24(body[7:])
			if int64(canvasW)*int64(canvasH) > 1<<32-1 {
				return bad(p, "a canvas of %dx%d pixels", canvasW, canvasH)
			}
			h.animated = flags&flagAnimation != 0
		case h.animated && id == "ANMF":
			if h.frames++; h.frames == 1 {
				if err := h.frame(body, p); err != nil {
					return err
				}
			}
		case id == "ALPH" && h.extended && !h.animated && h.image == nil && h.alpha == nil:
			h.alpha = body
		case h.animated && (id == "VP8 " || id == "VP8L"):
			return bad(p, "chunk %q in an animation", id)
		case (id == "VP8 " || id == "VP8L") && h.image == nil:
			h.lossless, h.image, h.imageAt = id == "VP8L", body, p+8
		case id == "EXIF" && h.exif == nil:
			h.exif = body
		case id == "XMP " && h.xmp == nil:
			h.xmp = body
		}
		if p == 12 && !h.extended && h.image == nil {
			return bad(p, "chunk %q, want VP8, VP8L or VP8X", id)
		}
		if !h.extended {
			break // a simple file has one chunk
		}
		p += 8 + int(n+n&1)
	}
	if h.image == nil {
		return bad(end, "no image data")
	}
	frameW, frameH := h.width, h.height // of an animation
	if err := h.imageHeader(); err != nil {
		return err
	}
	if h.animated {
		if h.width != frameW || h.height != frameH || h.x+h.width > canvasW || h.y+h.height > canvasH {
			return bad(h.imageAt, "an image of %dx%d in a frame of %dx%d at (%d, %d) of a canvas of %dx%d pixels",
				h.width, h.height, frameW, frameH, h.x, h.y, canvasW, canvasH)
		}
		h.canvasW, h.canvasH, h.hasAlpha = canvasW, canvasH, flags&flagAlpha != 0
		return nil
	}
	h.canvasW, h.canvasH = h.width, h.height
	if h.extended && (h.width != canvasW || h.height != canvasH) {
		return bad(h.imageAt, "an image of %dx%d on a canvas of %dx%d pixels", h.width, h.height, canvasW, canvasH)
	}
	if !h.lossless && (flags&flagAlpha != 0 || h.alpha != nil) {
		h.hasAlpha = true
	}
	if flags&flagAlpha == 0 {
		h.opaque = true // without the flag, Pillow has mode RGBA but does not decode ALPH
	}
	return nil
}

// frame reads the ANMF chunk at p.
func (h *header) frame(b []byte, p int) error {
	const head = 16
	if len(b) < head {
		return bad(p, "chunk ANMF of %d bytes, want %d", len(b), head)
	}
	h.x, h.y = 2*le24(b), 2*le24(b[3:])
	h.width, h.height = 1+le24(b[6:]), 1+le24(b[9:])
	for at := head; len(b)-at >= 8 && h.image == nil; {
		id, n := string(b[at:at+4]), uint64(binary.LittleEndian.Uint32(b[at+4:]))
		if n > uint64(len(b)-at-8) {
			return bad(p+8+at, "chunk %q of %d bytes, %d are left", id, n, len(b)-at-8)
		}
		body := b[at+8 : at+8+int(n)]
		switch {
		case id == "ALPH" && h.alpha == nil:
			h.alpha = body
		case id == "VP8 " || id == "VP8L":
			h.lossless, h.image, h.imageAt = id == "VP8L", body, p+8+at+8
		default:
			return bad(p+8+at, "chunk %q in a frame, want VP8 or VP8L", id)
		}
		at += 8 + int(n+n&1)
	}
	return nil
}

func le24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// imageHeader reads the size from the image data.
func (h *header) imageHeader() error {
	b := h.image
	if h.lossless {
		if len(b) < 5 || b[0] != 0x2f {
			return bad(h.imageAt, "not a VP8L header")
		}
		v := binary.LittleEndian.Uint32(b[1:])
		if v>>29 != 0 {
			return bad(h.imageAt, "VP8L version %d, want 0", v>>29)
		}
		h.width, h.height, h.hasAlpha = 1+int(v&0x3fff), 1+int(v>>14&0x3fff), v>>28&1 != 0
		return nil
	}
	if len(b) < 10 || string(b[3:6]) != "\x9d\x01\x2a" {
		return bad(h.imageAt, "not a VP8 key frame header")
	}
	tag := le24(b)
	if tag&1 != 0 || tag>>1&7 > 3 || tag>>4&1 == 0 {
		return bad(h.imageAt, "not a visible VP8 key frame")
	}
	if tag>>5 >= len(b) {
		return bad(h.imageAt, "a first partition of %d bytes in a chunk of %d", tag>>5, len(b))
	}
	h.width, h.height = int(b[6])|int(b[7]&0x3f)<<8, int(b[8])|int(b[9]&0x3f)<<8
	if h.width == 0 || h.height == 0 {
		return bad(h.imageAt, "%dx%d pixels, want at least 1x1", h.width, h.height)
	}
	return nil
}

type decoder struct {
	h   header
	o   *codec.Options // of the open image; its data is in h
	uv  [2][]byte      // a row of upsampled chroma
	one codec.Raster   // a frame smaller than its canvas

	lossless vp8l.Decoder
	plane    []byte // alpha
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	h := &d.h
	d.o = o
	if err := h.parse(data); err != nil {
		return codec.Config{}, err
	}
	c := codec.Config{
		Format: name, Width: h.canvasW, Height: h.canvasH, Mode: h.mode(), Depth: 8, Frames: max(1, h.frames),
		HasAlpha: h.hasAlpha, Variant: "lossy",
	}
	if h.lossless {
		c.Variant = "lossless"
	}
	switch {
	case o.Damage.OpenCV():
		c.Orientation = exif.OpenCV(h.exif)
		return c, nil
	case o.Damage == codec.DamageTorchCodec && h.animated:
		return codec.Config{}, codec.Errorf(name, -1, codec.ErrUnsupported, "an animation, of which TorchCodec returns all frames")
	case o.Damage == codec.DamageTorchCodec:
		c.Orientation = exif.TorchCodec(bytes.TrimPrefix(h.exif, []byte("Exif\x00\x00")))
		return c, nil
	}
	var found bool
	if c.Orientation, found = exif.Orientation(h.exif); !found {
		c.Orientation = exif.XMPOrientation(h.xmp)
	}
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	h, o, mode := &d.h, d.o, d.h.mode()
	defer func() { d.h, d.o = header{}, nil }()
	// Memory of x/image and dst: planes of 4:2:0, or 32-bit pixels twice.
	perPixel := mode.Size()
	if !h.lossless {
		perPixel += 2
	}
	if h.lossless || h.alpha != nil {
		perPixel += 8
	}
	whole := h.width == h.canvasW && h.height == h.canvasH
	if !whole {
		perPixel += mode.Size()
	}
	if err := o.Limits.CheckSize(name, h.canvasW, h.canvasH, perPixel); err != nil {
		return err
	}
	if whole {
		return d.image(dst, mode)
	}
	if err := d.image(&d.one, mode); err != nil {
		return err
	}
	dst.Reset(mode, h.canvasW, h.canvasH)
	clear(dst.Pix)
	for y := range h.height {
		copy(dst.Pix[(h.y+y)*dst.Stride+h.x*mode.Size():], d.one.Pix[y*d.one.Stride:][:d.one.Stride])
	}
	return nil
}

// mode returns the mode of the pixels.
func (h *header) mode() codec.Mode {
	if h.hasAlpha {
		return codec.RGBA
	}
	return codec.RGB
}

// image decodes the image, or the first frame.
func (d *decoder) image(dst *codec.Raster, mode codec.Mode) error {
	h := &d.h
	if h.lossless {
		w, ht, err := vp8l.Header(h.image)
		if err == nil && (w != h.width || ht != h.height) {
			return bad(h.imageAt, "the lossless image is not as large as its header says")
		}
		var pixels []uint32
		if err == nil {
			pixels, err = d.lossless.Decode(h.image[5:], w, ht)
		}
		if err != nil {
			return bad(h.imageAt, "%v", err)
		}
		dst.Reset(mode, w, ht)
		copyARGB(dst, pixels)
		return nil
	}
	v := vp8.NewDecoder() // a used one keeps the last image's loop filter deltas
	v.Init(bytes.NewReader(h.image), len(h.image))
	if _, err := v.DecodeFrameHeader(); err != nil {
		return bad(h.imageAt, "%v", err)
	}
	m, err := v.DecodeFrame()
	if err != nil {
		return bad(h.imageAt, "%v", err)
	}
	dst.Reset(mode, h.width, h.height)
	d.convert(dst, m)
	if !h.hasAlpha {
		return nil
	}
	if h.alpha == nil || h.opaque {
		for y := range h.height {
			row := dst.Pix[y*dst.Stride:]
			for x := range h.width {
				row[4*x+3] = 255
			}
		}
		return nil
	}
	return d.alpha(dst)
}

// copyARGB writes the colours of pixels, and their alpha if dst has it.
func copyARGB(dst *codec.Raster, pixels []uint32) {
	w := dst.Width
	for y := range dst.Height {
		in, row := pixels[y*w:][:w], dst.Pix[y*dst.Stride:]
		if dst.Mode == codec.RGBA {
			for x, v := range in {
				binary.LittleEndian.PutUint32(row[4*x:], bits.ReverseBytes32(v)>>8|v&0xFF000000)
			}
			continue
		}
		kernel.ARGBToRGB(row, in)
	}
}

// convert writes the colours of the 4:2:0 planes m.
func (d *decoder) convert(dst *codec.Raster, m *image.YCbCr) {
	w, n := dst.Width, dst.Mode.Size()
	cw, ch := (w+1)/2, (dst.Height+1)/2
	for i := range d.uv {
		if cap(d.uv[i]) < w {
			d.uv[i] = make([]byte, w)
		}
		d.uv[i] = d.uv[i][:w]
	}
	u, v := d.uv[0], d.uv[1]
	for y := range dst.Height {
		near := y / 2
		far := near - 1 + y%2*2 // the row of chroma samples on the other side
		if far < 0 || far >= ch {
			far = near
		}
		upsample(u, m.Cb[near*m.CStride:][:cw], m.Cb[far*m.CStride:][:cw])
		upsample(v, m.Cr[near*m.CStride:][:cw], m.Cr[far*m.CStride:][:cw])
		luma := m.Y[y*m.YStride:][:w]
		row := dst.Pix[y*dst.Stride:][:w*n]
		last := w - 1
		// The next pixel, or its alpha, overwrites the fourth byte.
		for x, l := range luma[:last] {
			r, g, b := rgb(l, u[x], v[x])
			binary.LittleEndian.PutUint32(row[x*n:], uint32(r)|uint32(g)<<8|uint32(b)<<16)
		}
		p := row[last*n:]
		p[0], p[1], p[2] = rgb(luma[last], u[last], v[last])
	}
}

// upsample interpolates a row of chroma between the nearest row of samples and
// the next one, 9:3:3:1. It rounds as libwebp's dsp/upsampling.c: a sum divided
// by 8, then its mean with the nearest sample, both rounded down.
func upsample(dst, near, far []byte) {
	last := len(near) - 1
	dst[0] = uint8((3*uint32(near[0]) + uint32(far[0]) + 2) >> 2)
	for i := range last {
		n0, n1 := uint32(near[i]), uint32(near[i+1])
		f0, f1 := uint32(far[i]), uint32(far[i+1])
		sum := n0 + n1 + f0 + f1 + 8
		dst[2*i+1] = uint8(((sum+2*(n1+f0))>>3 + n0) >> 1)
		dst[2*i+2] = uint8(((sum+2*(n0+f1))>>3 + n1) >> 1)
	}
	if len(dst)%2 == 0 {
		dst[len(dst)-1] = uint8((3*uint32(near[last]) + uint32(far[last]) + 2) >> 2)
	}
}

// rgb is libwebp's VP8YuvToRgb (dsp/yuv.h): limited-range BT.601 with
// coefficients of 14 fraction bits. 8 bits are dropped after each product.
func rgb(y, u, v uint8) (r, g, b uint8) {
	l := int32(y) * 19077 >> 8
	r = clip(l + int32(v)*26149>>8 - 14234)
	g = clip(l - int32(u)*6419>>8 - int32(v)*13320>>8 + 8708)
	b = clip(l + int32(u)*33050>>8 - 17685)
	return
}

// clip drops 6 bits and limits the result to a byte. The sums of rgb are within
// the table.
func clip(v int32) uint8 { return clipped[v>>6+clipBelow] }

const clipBelow = 300

var clipped [1024]uint8

func init() {
	for i := range clipped {
		clipped[i] = uint8(max(0, min(i-clipBelow, 255)))
	}
}

// alpha decodes the ALPH chunk to dst's fourth channel.
func (d *decoder) alpha(dst *codec.Raster) error {
	h := &d.h
	if len(h.alpha) < 1 {
		return bad(-1, "an empty ALPH chunk")
	}
	flags, body := h.alpha[0], h.alpha[1:]
	w, ht := h.width, h.height
	plane := body // of the raw values
	switch flags & 3 {
	case 0:
		if len(body) < w*ht {
			return bad(-1, "%d bytes of raw alpha, want %d", len(body), w*ht)
		}
	case 1:
		// A lossless image without its header. Its green channel is the alpha.
		pixels, err := d.lossless.Decode(body, w, ht)
		if err != nil {
			return bad(-1, "alpha: %v", err)
		}
		if cap(d.plane) < w*ht {
			d.plane = make([]byte, w*ht)
		}
		plane = d.plane[:w*ht]
		for i, v := range pixels {
			plane[i] = uint8(v >> 8)
		}
	default:
		return bad(-1, "alpha compression %d, want 0 or 1", flags&3)
	}
	filter := flags >> 2 & 3
	for y := range ht {
		row := dst.Pix[y*dst.Stride+3:]
		var up []byte
		if y > 0 {
			up = dst.Pix[(y-1)*dst.Stride+3:]
		}
		in := plane[y*w:]
		for x := range w {
			p := uint8(0)
			switch {
			case filter == 0 || x == 0 && y == 0:
			case filter == 1 && x > 0, y == 0: // left; also the other filters in the first row
				p = row[4*x-4]
			case filter == 2 || x == 0: // up; also the other filters in the first column
				p = up[4*x]
			default: // gradient
				p = uint8(max(0, min(255, int(row[4*x-4])+int(up[4*x])-int(up[4*x-4]))))
			}
			row[4*x] = in[x] + p
		}
	}
	return nil
}
