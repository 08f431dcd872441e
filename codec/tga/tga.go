// Package tga decodes Truevision TGA for package codec; importing it registers
// the format.
//
// It accepts the files that Pillow 13.0.0 accepts and returns the same pixels:
// gray, gray with alpha, a palette, 16, 24 and 32 bits, with and without run
// lengths, and all four orientations. The footer of version 2 says whether 32
// bits have alpha. TGA has no magic bytes, so that Pillow tries it last. Here
// the kind of the image, its palette and its depth must fit each other, and the
// column of its origin must be 0, as it is in common files.
package tga

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

const name = "tga"

// kinds are the combinations of image type, without the bit of run lengths, and
// bits per pixel.
var kinds = []struct {
	kind, depth uint8
	mode        codec.Mode
}{
	{1, 8, codec.P},
	{2, 16, codec.RGBA},
	{2, 24, codec.RGB},
	{2, 32, codec.RGBA},
	{3, 1, codec.L},
	{3, 8, codec.L},
	{3, 16, codec.LA},
}

// runLengths is the bit of the image type.
const runLengths = 8

func init() {
	var magic []string
	for _, k := range kinds {
		has, palette := "\x00", "\x00\x00\x00\x00\x00"
		if k.mode == codec.P {
			has, palette = "\x01", "?????"
		}
		for _, t := range []uint8{k.kind, k.kind | runLengths} {
			magic = append(magic, "?"+has+string(rune(t))+palette+"\x00\x00??????"+string(rune(k.depth)))
		}
	}
	codec.Register(codec.Format{Name: name, Magic: magic, PillowOnly: true, New: func() codec.FormatDecoder { return new(decoder) }})
}

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

func unsupported(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrUnsupported, msg, args...)
}

const headerSize, footerSize = 18, 26

type decoder struct {
	data    []byte
	o       *codec.Options
	config  codec.Config
	depth   int
	runs    bool
	topDown bool
	mirror  bool
	pixels  int // offset
	palette [256][4]uint8
	row     []byte
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	*d = decoder{data: data, o: o, row: d.row}
	if len(data) < headerSize {
		return codec.Config{}, bad(len(data), "the file ends in its header")
	}
	le := binary.LittleEndian
	w, h := int(le.Uint16(data[12:])), int(le.Uint16(data[14:]))
	if w == 0 || h == 0 {
		return codec.Config{}, bad(12, "%dx%d pixels, want at least 1x1", w, h)
	}
	d.config = codec.Config{Format: name, Width: w, Height: h, Depth: 8, Orientation: 1, Frames: 1, Variant: "uncompressed"}
	c := &d.config
	for _, k := range kinds {
		if k.kind == data[2]&^runLengths && k.depth == data[16] {
			c.Mode = k.mode
		}
	}
	if c.Mode == codec.NoMode {
		return codec.Config{}, unsupported(2, "image type %d with %d bits per pixel", data[2], data[16])
	}
	d.depth = int(data[16])
	if d.runs = data[2]&runLengths != 0; d.runs {
		c.Variant = "run lengths"
	}
	if d.depth == 1 {
		if c.Depth = 1; d.runs {
			return codec.Config{}, unsupported(16, "run lengths with 1 bit per pixel")
		}
	}
	d.topDown, d.mirror = data[17]&0x20 != 0, data[17]&0x10 != 0
	d.pixels = headerSize + int(data[0])
	c.HasAlpha = c.Mode == codec.LA || c.Mode == codec.RGBA && !d.opaque()
	if c.Mode == codec.P {
		if err := d.readPalette(); err != nil {
			return codec.Config{}, err
		}
	}
	if d.pixels > len(data) {
		return codec.Config{}, bad(len(data), "the pixels are at %d, the file ends at %d", d.pixels, len(data))
	}
	return *c, nil
}

// readPalette reads the palette. Pillow puts zeros before its first entry, and
// reads what there is of one that the file ends in.
func (d *decoder) readPalette() error {
	le := binary.LittleEndian
	first, n, bits := int(le.Uint16(d.data[3:])), int(le.Uint16(d.data[5:])), int(d.data[7])
	if bits != 16 && bits != 24 && bits != 32 {
		return unsupported(7, "a palette of %d bits per entry, want 16, 24 or 32", bits)
	}
	size := bits / 8
	b := d.data[min(d.pixels, len(d.data)):]
	b = b[:min(n*size, len(b))]
	d.pixels += n * size
	if first+len(b)/size > 256 {
		return bad(3, "a palette of %d entries from entry %d on, want at most 256", n, first)
	}
	for i := range d.palette {
		d.palette[i][3] = 255
	}
	for i := range first {
		d.entry(i, make([]byte, size))
	}
	for i := range len(b) / size {
		d.entry(first+i, b[i*size:][:size])
	}
	return nil
}

// entry sets an entry of the palette.
func (d *decoder) entry(i int, b []byte) {
	p := &d.palette[i]
	switch len(b) {
	case 2:
		unpack15(p[:], b)
	case 3:
		*p = [4]uint8{b[2], b[1], b[0], 255}
	default:
		*p = [4]uint8{b[2], b[1], b[0], b[3]}
	}
	d.config.HasAlpha = d.config.HasAlpha || p[3] != 255
}

// opaque reports whether the extension area of version 2 says that the image
// has no alpha.
func (d *decoder) opaque() bool {
	const signature = "TRUEVISION-XFILE.\x00"
	n := len(d.data)
	if n < footerSize || string(d.data[n-len(signature):]) != signature {
		return false
	}
	at := int64(binary.LittleEndian.Uint32(d.data[n-footerSize:]))
	return at != 0 && at+494 < int64(n) && d.data[at+494] == 0
}

// unpack15 unpacks 5 bits of each colour, rounded down to 8, and an inverted
// bit of alpha.
func unpack15(dst, src []byte) {
	for i := 0; i+1 < len(src); i += 2 {
		v := int(src[i]) | int(src[i+1])<<8
		o := dst[2*i:][:4]
		o[0], o[1], o[2], o[3] = uint8(v>>10&31*255/31), uint8(v>>5&31*255/31), uint8(v&31*255/31), 255
		if v&0x8000 != 0 {
			o[3] = 0
		}
	}
}

var bgr, bgra = kernel.NewRearranger(3, 2, 1, 0), kernel.NewRearranger(4, 2, 1, 0, 3)

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	c, data := &d.config, d.data
	n := c.Mode.Size()
	if err := d.o.Limits.CheckSize(name, c.Width, c.Height, n); err != nil {
		return err
	}
	line := (c.Width*d.depth + 7) / 8
	least := int64(line) * int64(c.Height)
	if d.runs { // a byte and a pixel make at most 128 pixels
		pixel := d.depth / 8
		least = (least/int64(pixel) + 127) / 128 * int64(1+pixel)
	}
	if d.o.Color != codec.ToRGBA {
		// transformers composites no palette of which Pillow's info does not
		// say that it is transparent.
		for i := range d.palette {
			d.palette[i][3] = 255
		}
	}
	d.data, d.o = nil, nil
	src := data[d.pixels:]
	if int64(len(src)) < least {
		return bad(len(data), "%d bytes of pixels, want at least %d", len(src), least)
	}
	dst.Reset(c.Mode, c.Width, c.Height)
	dst.Palette = d.palette
	r := runs{data: src, pixel: d.depth / 8}
	for i := range c.Height {
		in := src
		if d.runs {
			if cap(d.row) < line {
				d.row = make([]byte, line)
			}
			in = d.row[:line]
			if !r.read(in) {
				return bad(len(data)-len(r.data), "the run lengths end or go beyond row %d of %d", i, c.Height)
			}
		} else {
			in, src = src[:line], src[line:]
		}
		y := i
		if !d.topDown {
			y = c.Height - 1 - i
		}
		out := dst.Pix[y*dst.Stride:][:c.Width*n]
		switch d.depth {
		case 1:
			for x := range out {
				out[x] = -(in[x/8] << (x % 8) >> 7)
			}
		case 16:
			if c.Mode == codec.LA {
				copy(out, in)
			} else {
				unpack15(out, in)
			}
		case 24:
			bgr.Row(out, in)
		case 32:
			bgra.Row(out, in)
		default:
			copy(out, in)
		}
		if c.Mode == codec.RGBA && !c.HasAlpha {
			for x := 3; x < len(out); x += 4 {
				out[x] = 255
			}
		}
		if d.mirror {
			for l, r := 0, len(out)-n; l < r; l, r = l+n, r-n {
				for k := range n {
					out[l+k], out[r+k] = out[r+k], out[l+k]
				}
			}
		}
	}
	return nil
}

// runs reads run lengths. As in Pillow, pixels that are listed may go on in the
// next row, and a repeated pixel may not.
type runs struct {
	data  []byte
	pixel int
	list  []byte // pixels that are left of a list
}

// read fills a row. It returns false if the data ends, or if a repeated pixel
// goes beyond the row.
func (r *runs) read(row []byte) bool {
	for len(row) > 0 {
		if len(r.list) > 0 {
			n := copy(row, r.list)
			r.list, row = r.list[n:], row[n:]
			continue
		}
		if len(r.data) == 0 {
			return false
		}
		n, repeated := (int(r.data[0]&127)+1)*r.pixel, r.data[0]&128 != 0
		b := r.data[1:]
		if !repeated {
			if len(b) < n {
				return false
			}
			r.list, r.data = b[:n], b[n:]
			continue
		}
		if n > len(row) || len(b) < r.pixel {
			return false
		}
		for at := 0; at < n; at += r.pixel {
			copy(row[at:], b[:r.pixel])
		}
		row, r.data = row[n:], b[r.pixel:]
	}
	return true
}
