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
// number, Width and Height (uint32, little-endian), then Mode, Step and
// Orientation (one byte each) and zeros. Height rows of Width x Step bytes
// follow it.
type Header struct {
	Width, Height int        // 1 to 2^24
	Mode          codec.Mode // L, LA, RGB or RGBA (not premultiplied)
	// Step is the number of bytes from one pixel to the next, Mode.Size() to 4.
	// Bytes beyond the mode's are ignored: mode RGB and Step 4 drop alpha. 0
	// means Mode.Size().
	Step int
	// Orientation is EXIF's, 1 to 8. 0 means 1, upright.
	Orientation int
}

// Append appends the encoded header to b. It does not check the fields; opening
// the image does.
func (h Header) Append(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Width))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Height))
	return append(b, byte(h.Mode), byte(h.Step), byte(h.Orientation), 0, 0, 0, 0, 0)
}

type decoder struct {
	h    Header
	data []byte
	row  []byte
}

// maxSide keeps the sizes of rows within 32 bits.
const maxSide = 1 << 24

func bad(offset int64, msg string, args ...any) error {
	return codec.Errorf(name, offset, codec.ErrFormat, msg, args...)
}

func (d *decoder) Open(data []byte, _ *codec.Options) (c codec.Config, err error) {
	if len(data) < HeaderSize {
		return c, bad(int64(len(data)), "%d bytes, the header has %d", len(data), HeaderSize)
	}
	le := binary.LittleEndian
	w, h := le.Uint32(data[8:]), le.Uint32(data[12:])
	d.h = Header{Mode: codec.Mode(data[16]), Step: int(data[17]), Orientation: int(data[18])}
	if w < 1 || h < 1 || w > maxSide || h > maxSide {
		return c, bad(8, "%dx%d pixels, want 1 to %d a side", w, h, maxSide)
	}
	d.h.Width, d.h.Height = int(w), int(h)
	switch d.h.Mode {
	case codec.L, codec.LA, codec.RGB, codec.RGBA:
	default:
		return c, bad(16, "mode %d, want %d (L), %d (LA), %d (RGB) or %d (RGBA)", data[16], codec.L, codec.LA, codec.RGB, codec.RGBA)
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
	for i, b := range data[19:HeaderSize] {
		if b != 0 {
			return c, bad(int64(19+i), "a byte %d, want 0", b)
		}
	}
	if n := int64(w) * int64(h) * int64(d.h.Step); int64(len(data)-HeaderSize) != n {
		return c, bad(HeaderSize, "%d bytes of pixels, %dx%d of %d bytes each have %d", len(data)-HeaderSize, w, h, d.h.Step, n)
	}
	d.data = data[HeaderSize:]
	return codec.Config{
		Format: name, Width: d.h.Width, Height: d.h.Height, Mode: d.h.Mode, Depth: 8,
		Orientation: max(d.h.Orientation, 1), HasAlpha: d.h.Mode == codec.LA || d.h.Mode == codec.RGBA, Frames: 1,
		Variant: d.h.Mode.String(),
	}, nil
}

func (d *decoder) Decode(dst *codec.Raster) error {
	dst.Reset(d.h.Mode, d.h.Width, d.h.Height)
	d.copy(dst.Pix, d.data)
	d.data = nil
	return nil
}

// DecodeRows passes the region on row by row. It uses the input itself if its
// pixels are dense.
func (d *decoder) DecodeRows(sink codec.RowSink, r codec.Region) (damaged, err error) {
	size, step := d.h.Mode.Size(), d.h.Step
	if cap(d.row) < r.Width*size {
		d.row = make([]byte, r.Width*size)
	}
	row := d.row[:r.Width*size]
	for y := r.Top; y < r.Top+r.Height; y++ {
		src := d.data[(y*d.h.Width+r.Left)*step:][:r.Width*step]
		if step == size {
			sink.Rows(y, 1, src)
			continue
		}
		d.copy(row, src)
		sink.Rows(y, 1, row)
	}
	d.data = nil
	return nil, nil
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
