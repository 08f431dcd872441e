// Package pixels reads images that are already decoded, for package codec;
// importing it registers the format.
//
// A program that has pixels and no file, such as the frames of a camera or a
// browser's canvas, puts a header before them and runs the same graph on both:
// the policies of decoding (colours, transparency, orientation, limits) treat
// the pixels as they treat a file of the same pixels. The form is meant for
// memory, not for files.
package pixels

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

const (
	name  = "pixels"
	magic = "\x00IPpix\x00\x01" // the last byte is the version
)

// HeaderSize is the number of bytes of a header.
const HeaderSize = 24

func init() {
	codec.Register(codec.Format{Name: name, Magic: []string{magic}, New: func() codec.FormatDecoder { return new(decoder) }})
}

// Header describes pixels. Its encoded form has HeaderSize bytes: the magic
// number, Width and Height (uint32, little-endian), then Mode, Step,
// Orientation and Chroma (one byte each) and zeros. Height rows of Width x Step
// bytes follow it, or planes if Chroma is not zero.
type Header struct {
	Width, Height int        // 1 to 2^24
	Mode          codec.Mode // L, LA, RGB or RGBA (not premultiplied)
	// Step is the number of bytes from one pixel to the next, Mode.Size() to 4.
	// Bytes beyond the mode's are ignored: mode RGB and Step 4 drop alpha. 0
	// means Mode.Size().
	Step int
	// Orientation is EXIF's, 1 to 8. 0 means 1, upright.
	Orientation int
	// Chroma is zero if rows of pixels follow.
	Chroma Chroma
}

// Chroma is the subsampling of the planes that follow a header: the columns of
// pixels per sample of Cb and Cr in the upper four bits, the rows in the lower
// four. The planes are those of a JPEG in full range: Height rows of Width
// samples of Y, then Cb and Cr, whose sizes are rounded up. Mode must be RGB
// and Step 0. The pixels are those that package codec/jpeg makes of such
// samples.
type Chroma uint8

// The kinds of chroma planes.
const (
	Chroma444 Chroma = 0x11
	Chroma422 Chroma = 0x21
	Chroma420 Chroma = 0x22
	Chroma440 Chroma = 0x12
)

// Append appends the encoded header to b. It does not check the fields; opening
// the image does.
func (h Header) Append(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Width))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Height))
	return append(b, byte(h.Mode), byte(h.Step), byte(h.Orientation), byte(h.Chroma), 0, 0, 0, 0)
}

type decoder struct {
	h    Header
	data []byte
	row  []byte
	// toLuma selects the luma plane as the pixels.
	toLuma bool
	up     [2][]byte // upsampled rows of Cb and Cr
}

// maxSide keeps the sizes of rows within 32 bits.
const maxSide = 1 << 24

func bad(offset int64, msg string, args ...any) error {
	return codec.Errorf(name, offset, codec.ErrFormat, msg, args...)
}

func (d *decoder) Open(data []byte, o *codec.Options) (c codec.Config, err error) {
	if len(data) < HeaderSize {
		return c, bad(int64(len(data)), "%d bytes, the header has %d", len(data), HeaderSize)
	}
	le := binary.LittleEndian
	w, h := le.Uint32(data[8:]), le.Uint32(data[12:])
	d.h = Header{Mode: codec.Mode(data[16]), Step: int(data[17]), Orientation: int(data[18]), Chroma: Chroma(data[19])}
	if w < 1 || h < 1 || w > maxSide || h > maxSide {
		return c, bad(8, "%dx%d pixels, want 1 to %d a side", w, h, maxSide)
	}
	d.h.Width, d.h.Height = int(w), int(h)
	switch d.h.Mode {
	case codec.L, codec.LA, codec.RGB, codec.RGBA:
	default:
		return c, bad(16, "mode %d, want %d (L), %d (LA), %d (RGB) or %d (RGBA)", data[16], codec.L, codec.LA, codec.RGB, codec.RGBA)
	}
	switch d.h.Chroma {
	case 0:
	case Chroma444, Chroma422, Chroma420, Chroma440:
		if d.h.Mode != codec.RGB || d.h.Step != 0 {
			return c, bad(16, "planes of mode %v with %d bytes from pixel to pixel, want mode RGB and 0", d.h.Mode, d.h.Step)
		}
	default:
		return c, bad(19, "chroma %#02x, want 0, 0x11, 0x12, 0x21 or 0x22", data[19])
	}
	if d.h.Step == 0 {
		d.h.Step = d.h.Mode.Size()
	}
	if d.h.Step < d.h.Mode.Size() || d.h.Step > 4 {
		return c, bad(17, "%d bytes from pixel to pixel, want %d to 4 for mode %v", d.h.Step, d.h.Mode.Size(), d.h.Mode)
	}
	if d.h.Orientation > 8 {
		return c, bad(18, "orientation %d, want 1 to 8, or 0 for 1", d.h.Orientation)
	}
	for i, b := range data[20:HeaderSize] {
		if b != 0 {
			return c, bad(int64(20+i), "a byte %d, want 0", b)
		}
	}
	n := int64(w) * int64(h) * int64(d.h.Step)
	if d.h.Chroma != 0 {
		cw, ch := d.h.chromaSize()
		n = int64(w)*int64(h) + 2*int64(cw)*int64(ch)
	}
	if int64(len(data)-HeaderSize) != n {
		return c, bad(HeaderSize, "%d bytes of pixels, %dx%d pixels of this kind have %d", len(data)-HeaderSize, w, h, n)
	}
	d.data = data[HeaderSize:]
	d.toLuma = d.h.Chroma != 0 && o.Color == codec.ToLuma
	mode := d.h.Mode
	if d.toLuma {
		mode = codec.L
	}
	return codec.Config{
		Format: name, Width: d.h.Width, Height: d.h.Height, Mode: mode, Depth: 8,
		Orientation: max(d.h.Orientation, 1), HasAlpha: d.h.Mode == codec.LA || d.h.Mode == codec.RGBA, Frames: 1,
		Variant: d.h.Mode.String(),
	}, nil
}

func (d *decoder) Decode(dst *codec.Raster) error {
	if d.h.Chroma != 0 {
		mode := codec.RGB
		if d.toLuma {
			mode = codec.L
		}
		dst.Reset(mode, d.h.Width, d.h.Height)
		for y := range d.h.Height {
			d.fromPlanes(dst.Pix[y*dst.Stride:][:d.h.Width*mode.Size()], y, 0)
		}
	} else {
		dst.Reset(d.h.Mode, d.h.Width, d.h.Height)
		d.copy(dst.Pix, d.data)
	}
	d.data = nil
	return nil
}

// DecodeRows passes the region on row by row. It uses the input itself if its
// pixels are dense.
func (d *decoder) DecodeRows(sink codec.RowSink, r codec.Region) (damaged, err error) {
	size, step := d.h.Mode.Size(), d.h.Step
	if d.toLuma {
		size, step = 1, 1
	}
	d.row = grow(d.row, r.Width*size)
	for y := r.Top; y < r.Top+r.Height; y++ {
		if d.h.Chroma != 0 && !d.toLuma {
			d.fromPlanes(d.row, y, r.Left)
			sink.Rows(y, 1, d.row)
			continue
		}
		src := d.data[(y*d.h.Width+r.Left)*step:][:r.Width*step]
		if step == size {
			sink.Rows(y, 1, src)
			continue
		}
		d.copy(d.row, src)
		sink.Rows(y, 1, d.row)
	}
	d.data = nil
	return nil, nil
}

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// factors returns the columns and the rows of pixels per sample of chroma.
func (c Chroma) factors() (h, v int) { return int(c >> 4), int(c & 15) }

func (h *Header) chromaSize() (width, height int) {
	x, y := h.Chroma.factors()
	return (h.Width + x - 1) / x, (h.Height + y - 1) / y
}

// fromPlanes computes the pixels of row y from column left on, until dst is
// full.
func (d *decoder) fromPlanes(dst []byte, y, left int) {
	luma := d.data[y*d.h.Width:][:d.h.Width]
	if d.toLuma {
		copy(dst, luma[left:])
		return
	}
	w, h := d.h.chromaSize()
	planes := d.data[d.h.Width*d.h.Height:]
	cb := d.upsampled(0, planes[:w*h], w, h, y)
	cr := d.upsampled(1, planes[w*h:], w, h, y)
	kernel.YCCToRGB(dst, luma[left:], cb[left:], cr[left:])
}

// upsampled returns the part of a chroma plane of w x h samples in row y of the
// pixels. The methods, and the cases without a filter, are codec/jpeg's.
func (d *decoder) upsampled(i int, plane []byte, w, h, y int) []byte {
	fx, fy := d.h.Chroma.factors()
	near := plane[y/fy*w:][:w]
	if fx*fy == 1 {
		return near
	}
	d.up[i] = grow(d.up[i], fx*w)
	up := d.up[i]
	other := min(max(y/2-1+y&1*2, 0), h-1) // the second nearest row
	switch far := plane[other*w:][:w]; {
	case fx == 1:
		kernel.UpsampleH1V2(up, near, far, w, 1+y&1)
	case w <= 2:
		kernel.UpsampleBox(up, near, 2)
	case fy == 1:
		kernel.UpsampleH2V1(up, near, w)
	default:
		kernel.UpsampleH2V2(up, near, far, w)
	}
	return up
}

// copy copies the mode's bytes of every pixel.
func (d *decoder) copy(dst, src []byte) {
	size, step := d.h.Mode.Size(), d.h.Step
	switch {
	case step == size:
		copy(dst, src)
	case size == 3: // step is 4
		for len(src) >= 4 && len(dst) >= 3 {
			dst[0], dst[1], dst[2] = src[0], src[1], src[2]
			dst, src = dst[3:], src[4:]
		}
	default:
		for len(src) >= step && len(dst) >= size {
			copy(dst[:size], src)
			dst, src = dst[size:], src[step:]
		}
	}
}
