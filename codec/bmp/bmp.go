// Package bmp decodes BMP, DIB and ICO for package codec; importing it
// registers the three formats. DIB is BMP without the file header.
//
// It accepts the files that Pillow 13.0.0 accepts and returns the same pixels:
// 1, 4 and 8 bits with a palette, 16, 24 and 32 bits with Pillow's bit fields,
// RLE4 and RLE8. The fourth byte of uncompressed 32-bit pixels is not alpha. A
// palette that is a gray ramp makes the image gray.
package bmp

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

const (
	name    = "bmp"
	nameDIB = "dib"
)

// fileHeader is the number of bytes of a BMP before its DIB.
const fileHeader = 14

func init() {
	codec.Register(codec.Format{Name: name, Magic: []string{"BM"}, New: func() codec.FormatDecoder { return &decoder{start: fileHeader} }})
	// Pillow looks at the header's size only. The number of planes is 1, which
	// keeps other files apart.
	magic := []string{"\x0c\x00\x00\x00????\x01\x00"}
	for _, size := range []string{"\x28", "\x34", "\x38", "\x40", "\x6c", "\x7c"} {
		magic = append(magic, size+"\x00\x00\x00????????\x01\x00")
	}
	codec.Register(codec.Format{Name: nameDIB, Magic: magic, PillowOnly: true, New: func() codec.FormatDecoder { return new(decoder) }})
}

// maxSide keeps the number of bits of a row within 32 bits.
const maxSide = 1 << 24

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

func unsupported(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrUnsupported, msg, args...)
}

// BMP's values of biCompression.
const (
	raw       = 0
	rle8      = 1
	rle4      = 2
	bitFields = 3
)

type header struct {
	start         int
	width, height int
	topDown       bool
	bits          int // as in the header, for the stride
	compression   uint32
	mode          codec.Mode
	unpack        unpacker
	pixelBits     int    // bits per pixel that unpack reads
	palette       []byte // of mode P
	entry         int    // bytes of a palette entry
	data          int    // offset of the pixels
	offset        uint64 // the header's, before it is corrected
	colorsEnd     int    // end of the header and the palette
}

// unpacker writes w pixels of a row.
type unpacker func(dst, src []byte, w int)

// channels unpacks whole bytes: channel c of the result is byte at[c] of n.
func channels(n int, at ...int) unpacker {
	r := kernel.NewRearranger(n, at...)
	return func(dst, src []byte, w int) { r.Row(dst[:w*len(at)], src[:w*n]) }
}

// indices unpacks samples of less than 8 bits, most significant first, times
// scale.
func indices(bits int, scale uint8) unpacker {
	if bits == 8 && scale == 1 {
		return func(dst, src []byte, w int) { copy(dst[:w], src) }
	}
	return func(dst, src []byte, w int) {
		for x := range w {
			at := x * bits
			dst[x] = src[at/8] << (at % 8) >> (8 - bits) * scale
		}
	}
}

// rgb16 unpacks 5 bits of blue, then green bits, then 5 bits of red. Each
// becomes v*255/max, rounded down.
func rgb16(green int) unpacker {
	return func(dst, src []byte, w int) {
		top := 1<<green - 1
		for x := range w {
			v := int(binary.LittleEndian.Uint16(src[2*x:]))
			dst[3*x] = uint8(v >> (5 + green) & 31 * 255 / 31)
			dst[3*x+1] = uint8(v >> 5 & top * 255 / top)
			dst[3*x+2] = uint8(v & 31 * 255 / 31)
		}
	}
}

var (
	bgr  = channels(3, 2, 1, 0)
	bgrx = channels(4, 2, 1, 0)
)

// The bit fields that Pillow knows: red, green, blue and alpha masks.
var layouts = []struct {
	bits   int
	masks  [4]uint32
	mode   codec.Mode
	unpack unpacker
}{
	{32, [4]uint32{0xff0000, 0xff00, 0xff, 0}, codec.RGB, bgrx},
	{32, [4]uint32{0xff000000, 0xff0000, 0xff00, 0}, codec.RGB, channels(4, 3, 2, 1)},
	{32, [4]uint32{0xff000000, 0xff00, 0xff, 0}, codec.RGB, channels(4, 3, 1, 0)},
	{32, [4]uint32{0xff000000, 0xff0000, 0xff00, 0xff}, codec.RGBA, channels(4, 3, 2, 1, 0)},
	{32, [4]uint32{0xff, 0xff00, 0xff0000, 0xff000000}, codec.RGBA, channels(4, 0, 1, 2, 3)},
	{32, [4]uint32{0xff0000, 0xff00, 0xff, 0xff000000}, codec.RGBA, channels(4, 2, 1, 0, 3)},
	{32, [4]uint32{0xff000000, 0xff00, 0xff, 0xff0000}, codec.RGBA, channels(4, 3, 1, 0, 2)},
	{32, [4]uint32{}, codec.RGBA, channels(4, 2, 1, 0, 3)},
	{24, [4]uint32{0xff0000, 0xff00, 0xff}, codec.RGB, bgr},
	{16, [4]uint32{0xf800, 0x7e0, 0x1f}, codec.RGB, rgb16(6)},
	{16, [4]uint32{0x7c00, 0x3e0, 0x1f}, codec.RGB, rgb16(5)},
}

// parse reads the header, which starts at offset start, and the palette.
func (h *header) parse(data []byte, start int) error {
	*h = header{start: start}
	if len(data) < start+4 || start > 0 && string(data[:2]) != "BM" {
		return bad(0, "the file ends in its header")
	}
	le := binary.LittleEndian
	offset := uint64(0)
	if start > 0 {
		offset = uint64(le.Uint32(data[10:]))
	}
	h.offset = offset
	size := le.Uint32(data[start:])
	if uint64(size) > uint64(len(data)-start) {
		return bad(start, "a header of %d bytes, %d are left", size, len(data)-start)
	}
	b := data[start:]
	h.entry = 4
	colors := uint32(0)
	var width, height uint32
	switch size {
	case 12: // OS/2 1
		width, height = uint32(le.Uint16(b[4:])), uint32(le.Uint16(b[6:]))
		h.bits, h.entry = int(le.Uint16(b[10:])), 3
	case 40, 52, 56, 64, 108, 124:
		width, height = le.Uint32(b[4:]), le.Uint32(b[8:])
		if h.topDown = b[11] == 0xff; h.topDown {
			height = -height
		}
		h.bits, h.compression, colors = int(le.Uint16(b[14:])), le.Uint32(b[16:]), le.Uint32(b[32:])
	default:
		return unsupported(start, "a header of %d bytes", size)
	}
	if width == 0 || height == 0 {
		return bad(start+4, "%dx%d pixels, want at least 1x1", width, height)
	}
	if width > maxSide || height > maxSide {
		return codec.Errorf(name, int64(start+4), codec.ErrLimit, "%dx%d pixels, a side has at most %d", width, height, maxSide)
	}
	h.width, h.height = int(width), int(height)
	p := start + int(size)
	switch h.bits {
	case 1, 4, 8:
		h.mode, h.unpack = codec.P, indices(h.bits, 1)
	case 16:
		h.mode, h.unpack = codec.RGB, rgb16(5)
	case 24:
		h.mode, h.unpack = codec.RGB, bgr
	case 32:
		h.mode, h.unpack = codec.RGB, bgrx
	default:
		return unsupported(start+14, "%d bits per pixel", h.bits)
	}
	h.pixelBits = h.bits
	switch h.compression {
	case raw:
	case rle8, rle4:
		if h.mode != codec.P {
			return unsupported(start+16, "run lengths with %d bits per pixel", h.bits)
		}
	case bitFields:
		if !h.fields(data, int(size)) {
			return unsupported(start+16, "these bit fields with %d bits per pixel", h.bits)
		}
		if size == 40 {
			p += 12
		}
	default:
		return unsupported(start+16, "compression %d", h.compression)
	}
	if h.mode == codec.P {
		if colors == 0 {
			colors = 1 << h.bits
		}
		if colors > 1<<16 {
			return bad(start+32, "a palette of %d colours", colors)
		}
		if offset == fileHeader+uint64(size) {
			offset += uint64(h.entry) * uint64(colors)
		}
		n := min(h.entry*int(colors), len(data)-p)
		h.palette = data[p : p+n]
		p += n
		if err := h.setGray(int(colors)); err != nil {
			return err
		}
	}
	h.colorsEnd = p
	if offset == 0 {
		offset = uint64(p)
	}
	if offset > uint64(len(data)) {
		return bad(10, "the pixels are at %d, the file ends at %d", offset, len(data))
	}
	h.data = int(offset)
	return nil
}

// fields finds the layout of an image with bit fields.
func (h *header) fields(data []byte, size int) bool {
	b := data[h.start+40:] // the masks, in the header or after it
	n := 3
	if size >= 56 {
		n = 4
	}
	if len(b) < 4*n {
		return false
	}
	var masks [4]uint32
	for i := range n {
		masks[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if h.bits != 32 {
		masks[3] = 0
	}
	for _, l := range layouts {
		if l.bits == h.bits && l.masks == masks {
			h.mode, h.unpack = l.mode, l.unpack
			return true
		}
	}
	return false
}

// setGray makes the image gray if its palette is a gray ramp. Pillow then reads
// 8-bit samples, or 1-bit samples if the palette has at most two colours, and
// ignores the header's depth.
func (h *header) setGray(colors int) error {
	gray := true
	for i := 0; i < colors && gray; i++ {
		v := byte(i)
		if colors == 2 {
			v = byte(i * 255)
		}
		at := i * h.entry
		gray = at+3 <= len(h.palette) && h.palette[at] == v && h.palette[at+1] == v && h.palette[at+2] == v
	}
	switch {
	case !gray:
		if len(h.palette)/h.entry > 256 {
			return bad(-1, "a palette of %d colours, want at most 256", len(h.palette)/h.entry)
		}
	case colors <= 2:
		h.mode, h.unpack, h.pixelBits = codec.L, indices(1, 255), 1
	default:
		h.mode, h.unpack, h.pixelBits = codec.L, indices(8, 1), 8
	}
	return nil
}

// opencv refuses what OpenCV refuses or decodes to other pixels than Pillow.
func (h *header) opencv(size int) error {
	pixels := ((int64(h.width)*int64(h.bits) + 31) >> 5 << 2) * int64(h.height)
	switch {
	case h.bits == 16, h.compression == rle4:
		return unsupported(-1, "%d bits a pixel and compression %d, of which OpenCV makes other pixels", h.bits, h.compression)
	case h.offset < uint64(h.colorsEnd):
		return unsupported(10, "pixels at %d, which OpenCV reads there though header and palette end at %d", h.offset, h.colorsEnd)
	case h.pixelBits != h.bits:
		return unsupported(-1, "a gray palette with %d bits a pixel, of which OpenCV makes other pixels", h.bits)
	case h.compression != rle8 && int64(size-h.data) < pixels:
		return bad(size, "the pixels end early, %d bytes are wanted", pixels)
	}
	return nil
}

type decoder struct {
	start int // offset of the DIB
	h     header
	data  []byte         // of the open image
	o     *codec.Options // of the open image
	runs  []byte         // expanded run lengths
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	if o.Damage == codec.DamageTorchCodec {
		return codec.Config{}, codec.Errorf(name, -1, codec.ErrUnsupported, "TorchCodec does not read BMP")
	}
	d.data, d.o = data, o
	h := &d.h
	if err := h.parse(data, d.start); err != nil {
		return codec.Config{}, err
	}
	if o.Damage.OpenCV() {
		if err := h.opencv(len(data)); err != nil {
			return codec.Config{}, err
		}
	}
	c := codec.Config{
		Format: name, Width: h.width, Height: h.height, Mode: h.mode, Depth: min(h.pixelBits, 8),
		Orientation: 1, Frames: 1, HasAlpha: h.mode == codec.RGBA, Variant: "uncompressed",
	}
	switch h.compression {
	case rle8, rle4:
		c.Variant = "run lengths"
	case bitFields:
		c.Variant = "bit fields"
	}
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	h, data, o := &d.h, d.data, d.o
	d.data, d.o = nil, nil
	compressed := h.compression == rle8 || h.compression == rle4
	perPixel := h.mode.Size()
	if compressed {
		perPixel++
	}
	if err := o.Limits.CheckSize(name, h.width, h.height, perPixel); err != nil {
		return err
	}
	need := (h.width*h.pixelBits + 7) / 8
	stride := (h.width*h.bits + 31) >> 3 &^ 3
	src, unpack := data[h.data:], h.unpack
	if compressed {
		if h.pixelBits == 1 && h.mode == codec.L {
			return unsupported(-1, "run lengths of a black and white image")
		}
		if err := d.expand(data, o.Damage.OpenCV()); err != nil {
			return err
		}
		src, unpack, need, stride = d.runs, indices(8, 1), h.width, h.width
	} else if stride < need {
		return unsupported(-1, "a gray palette of %d colours with %d bits per pixel", len(h.palette)/h.entry, h.bits)
	}
	if have := len(src); int64(have) < int64(stride)*int64(h.height-1)+int64(need) {
		return bad(len(data), "the pixels end at row %d of %d", have/stride, h.height)
	}
	dst.Reset(h.mode, h.width, h.height)
	if h.mode == codec.P {
		for i := range dst.Palette {
			dst.Palette[i] = [4]uint8{3: 255}
			if p := i * h.entry; p+h.entry <= len(h.palette) {
				dst.Palette[i] = [4]uint8{h.palette[p+2], h.palette[p+1], h.palette[p], 255}
			}
		}
	}
	for i := range h.height {
		y := i
		if !h.topDown {
			y = h.height - 1 - i
		}
		unpack(dst.Pix[y*dst.Stride:], src[i*stride:], h.width)
	}
	return nil
}

// quickRuns decodes 8-bit runs and literals within a row up to one that needs
// care, from offset p of data and column x on. It returns the number of samples
// written to out, which may have others after them, and the new p and x. Most
// runs and literals of photographs are short; copying a fixed number of samples
// has no branch that depends on their length.
func quickRuns(out, data []byte, p, x, width int) (n, next, column int) {
	const most = 16
	for len(data)-p >= 2+most && len(out)-n >= most {
		k, b := int(data[p]), int(data[p+1])
		from, to := data[p+2:][:most], out[n:][:most]
		v, w := uint64(b)*0x0101010101010101, uint64(b)*0x0101010101010101
		end := p + 2
		if k == 0 {
			if k = b; k <= 2 {
				break
			}
			v, w = binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
			end += k
			end += end & 1 // to a 16-bit boundary of the file
		}
		if k > most || k > width-x {
			break
		}
		binary.LittleEndian.PutUint64(to, v)
		binary.LittleEndian.PutUint64(to[8:], w)
		n, p, x = n+k, end, x+k
	}
	return n, p, x
}

// expand decodes the run lengths as Pillow's BmpRleDecoder does. It does not
// pad a row if a run exceeds it. A stop before the last pixel is an error. With
// opencv, a run beyond its row is one too.
func (d *decoder) expand(data []byte, opencv bool) error {
	h := &d.h
	total := h.width * h.height
	out := d.runs[:0]
	if cap(out) < total {
		out = make([]byte, 0, total)
	}
	p, x := h.data, 0
	four := h.compression == rle4
	// zeros stops at the last pixel.
	zeros := func(n int) {
		n = min(n, total-len(out))
		out = out[:len(out)+n]
		clear(out[len(out)-n:])
	}
loop:
	for len(out) < total && len(data)-p >= 2 {
		if !four {
			var n int
			n, p, x = quickRuns(out[len(out):total], data, p, x, h.width)
			out = out[:len(out)+n]
			if len(out) == total || len(data)-p < 2 {
				break
			}
		}
		n, b := int(data[p]), data[p+1]
		p += 2
		if opencv && (n > h.width-x || n == 0 && b > 2 && int(b) > h.width-x) {
			return unsupported(p-2, "a run beyond its row, which OpenCV refuses")
		}
		switch {
		case n > 0:
			n = min(max(0, min(n, h.width-x)), total-len(out))
			v := uint64(b) * 0x0101010101010101 // 8 samples
			if four {
				v = uint64(b>>4)*0x0001000100010001 | uint64(b&15)*0x0100010001000100
			}
			at := out[len(out):total]
			out = out[:len(out)+n]
			x += n
			for ; n > 0 && len(at) >= 8; n -= 8 { // the next samples overwrite the rest
				binary.LittleEndian.PutUint64(at, v)
				at = at[8:]
			}
			for i := range max(n, 0) {
				at[i] = uint8(v >> (8 * i))
			}
		case b == 0: // end of row
			if r := len(out) % h.width; r != 0 {
				zeros(h.width - r)
			}
			x = 0
		case b == 1: // end of image
			break loop
		case b == 2: // skip
			if len(data)-p < 2 {
				break loop
			}
			zeros(int(data[p]) + int(data[p+1])*h.width)
			p += 2
			x = len(out) % h.width
		default: // literal samples
			n := min(total-len(out), int(b))
			bytes := n
			if four {
				bytes = (n + 1) / 2
			}
			short := len(data)-p < bytes
			bytes = min(bytes, len(data)-p)
			if !four {
				out = append(out, data[p:p+bytes]...)
			} else {
				for i, v := range data[p : p+bytes] {
					out = append(out, v>>4)
					if 2*i+1 < n {
						out = append(out, v&15)
					}
				}
			}
			p += bytes
			if short || len(out) == total {
				break loop
			}
			x += int(b)
			p += p & 1 // to a 16-bit boundary of the file
		}
	}
	d.runs = out
	if len(out) < total {
		return bad(p, "the run lengths end at pixel %d of %d", len(out), total)
	}
	return nil
}
