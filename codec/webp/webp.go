// Package webp decodes WebP for package codec; importing it registers the
// format. It decodes lossy, lossless, and lossy images with alpha. An animation
// decodes to its first frame on a canvas of transparent black.
//
// The pixels are those of libwebp 1.6.0 as Pillow 13.0.0 uses it: lossy images
// with fancy upsampling of chroma and limited-range fixed point. Colours of
// transparent pixels stay unchanged, as in Pillow.
package webp

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
	"github.com/infer-prep/infer-prep/codec/internal/vp8"
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
	imageSize     int    // as the chunk says
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
	flags, control := uint8(0), false
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
		case h.animated && id == "ANIM":
			control = true
		case h.animated && id == "ANMF":
			if !control {
				return bad(p, "a frame without chunk ANIM before it")
			}
			// libwebp reads the headers of all frames before it decodes one.
			f := h
			if h.frames++; h.frames > 1 {
				f = new(header)
			}
			if err := f.frame(body, p); err != nil {
				return err
			}
			if f.image != nil {
				if err := f.fits(canvasW, canvasH); err != nil {
					return err
				}
			}
		case id == "ALPH" && h.extended && !h.animated && h.image == nil && h.alpha == nil:
			h.alpha = body
		case h.animated && (id == "VP8 " || id == "VP8L"):
			return bad(p, "chunk %q in an animation", id)
		case (id == "VP8 " || id == "VP8L") && h.image == nil:
			h.setImage(data[:end], p, int(n))
		case id == "EXIF" && h.exif == nil:
			h.exif = body
		case id == "XMP " && h.xmp == nil:
			h.xmp = body
		}
		if p == 12 && !h.extended && h.image == nil {
			return bad(p, "chunk %q, want VP8, VP8L or VP8X", id)
		}
		p += 8 + int(n+n&1)
		if !h.extended {
			// A simple file has one chunk. libwebp looks at the next size.
			if rest := end - p; rest > 0 && (rest < 8 || uint64(binary.LittleEndian.Uint32(data[p+4:])) > uint64(rest-8)) {
				return bad(p, "%d bytes behind the image that are no chunk", rest)
			}
			break
		}
	}
	if h.image == nil {
		return bad(end, "no image data")
	}
	if h.animated {
		h.canvasW, h.canvasH, h.hasAlpha = canvasW, canvasH, flags&flagAlpha != 0
		return nil
	}
	if err := h.imageHeader(); err != nil {
		return err
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
			h.setImage(b, at, int(n))
			h.imageAt += p + 8
		default:
			return bad(p+8+at, "chunk %q in a frame, want VP8 or VP8L", id)
		}
		at += 8 + int(n+n&1)
	}
	return nil
}

// fits reads the size of a frame's image, and checks that it is on the canvas.
// As in libwebp, it need not be that of the frame.
func (h *header) fits(canvasW, canvasH int) error {
	if int64(h.width)*int64(h.height) > 1<<32-1 {
		return bad(h.imageAt, "a frame of %dx%d pixels", h.width, h.height)
	}
	if err := h.imageHeader(); err != nil {
		return err
	}
	if h.x+h.width > canvasW || h.y+h.height > canvasH {
		return bad(h.imageAt, "an image of %dx%d at (%d, %d) of a canvas of %dx%d pixels", h.width, h.height, h.x, h.y, canvasW, canvasH)
	}
	return nil
}

// setImage sets the image to that of the chunk at p, with n bytes. As in
// libwebp, it includes the byte that makes the chunk's size even.
func (h *header) setImage(data []byte, p, n int) {
	h.lossless, h.imageAt, h.imageSize = string(data[p:p+4]) == "VP8L", p+8, n
	h.image = data[p+8 : min(p+8+n+n&1, len(data))]
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
	v, err := vp8.ParseHeader(b)
	if err != nil {
		return bad(h.imageAt, "VP8 image: %v", err)
	}
	if v.First >= h.imageSize {
		return bad(h.imageAt, "a first partition of %d bytes in a chunk of %d", v.First, h.imageSize)
	}
	h.width, h.height = v.Width, v.Height
	return nil
}

type decoder struct {
	h   header
	o   *codec.Options // of the open image; its data is in h
	one codec.Raster   // a frame smaller than its canvas

	lossy    vp8.Decoder
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
	// Memory of dst, and 32-bit pixels twice, or a lossy image's rows.
	perPixel := mode.Size()
	if !h.lossless {
		pixels := h.width * h.height
		perPixel += (vp8.Memory(h.width) + pixels - 1) / pixels
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
	dst.Reset(mode, h.width, h.height)
	if err := d.lossy.Decode(h.image, rows{dst}); err != nil {
		return bad(h.imageAt, "VP8 image: %v", err)
	}
	if !h.hasAlpha || h.alpha == nil || h.opaque {
		return nil
	}
	return d.alpha(dst)
}

// rows converts the rows of a lossy image to an image's pixels, whose alpha
// becomes 255.
type rows struct{ to *codec.Raster }

func (r rows) Row(y int, luma []byte, chroma *kernel.VP8Chroma420) {
	to := r.to
	kernel.VP8ToRGB(to.Pix[y*to.Stride:][:to.Stride], luma, chroma, to.Mode.Size())
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
