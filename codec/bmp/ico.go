package bmp

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/infer-prep/infer-prep/codec"
)

// nameICO is the format of Windows icons. Its largest image is decoded, as
// Pillow does: of images of equal size, the first of the least depth. The image
// is a PNG, or a DIB of twice its height, to which alpha is added: the fourth
// byte of each pixel if the directory says 32 bits, else the mask that ends the
// image.
const nameICO = "ico"

const (
	icoHeader = 6
	icoEntry  = 16
)

func init() {
	codec.Register(codec.Format{Name: nameICO, Magic: []string{"\x00\x00\x01\x00"}, PillowOnly: true, New: func() codec.FormatDecoder { return new(iconDecoder) }})
}

func badIcon(offset int, msg string, args ...any) error {
	return codec.Errorf(nameICO, int64(offset), codec.ErrFormat, msg, args...)
}

// icon is an entry of an icon's directory.
type icon struct {
	width, height, depth int
	bits                 int // as in the directory
	offset, size         int64
}

type iconDecoder struct {
	icon   icon
	png    codec.FormatDecoder // of the last PNG; nil if the program does not link PNG
	isPNG  bool
	dib    decoder
	data   []byte
	raster codec.Raster
}

// largest returns the entry of the directory that is decoded.
func largest(data []byte) (best icon, err error) {
	if len(data) < icoHeader {
		return best, badIcon(len(data), "the file ends in its header")
	}
	le := binary.LittleEndian
	n := int(le.Uint16(data[4:]))
	if n == 0 {
		return best, badIcon(4, "an icon without images")
	}
	if len(data) < icoHeader+n*icoEntry {
		return best, badIcon(len(data), "the file ends in the directory of %d images", n)
	}
	for i := range n {
		b := data[icoHeader+i*icoEntry:]
		e := icon{width: int(b[0]), height: int(b[1]), bits: int(le.Uint16(b[6:])), size: int64(le.Uint32(b[8:])), offset: int64(le.Uint32(b[12:]))}
		if e.width == 0 {
			e.width = 256
		}
		if e.height == 0 {
			e.height = 256
		}
		if e.depth = e.bits; e.depth == 0 && b[2] > 0 {
			e.depth = bits.Len8(b[2] - 1)
		}
		if e.depth == 0 {
			e.depth = 256
		}
		if a, b := e.width*e.height, best.width*best.height; a > b || a == b && e.depth < best.depth {
			best = e
		}
	}
	return best, nil
}

// Open implements codec.FormatDecoder.
func (d *iconDecoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	var err error
	if d.icon, err = largest(data); err != nil {
		return codec.Config{}, err
	}
	if d.icon.offset > int64(len(data)) {
		return codec.Config{}, badIcon(len(data), "an image at %d, the file ends at %d", d.icon.offset, len(data))
	}
	frame := data[d.icon.offset:]
	if d.isPNG = bytes.HasPrefix(frame, []byte("\x89PNG\r\n\x1a\n")); d.isPNG {
		if d.png == nil {
			if d.png = codec.NewFormatDecoder("png"); d.png == nil {
				return codec.Config{}, codec.Errorf(nameICO, d.icon.offset, codec.ErrUnsupported, "an image in PNG: the program does not link package codec/png")
			}
		}
		c, err := d.png.Open(frame, o)
		// Pillow drops the EXIF data, a key, and the alpha of a palette.
		c.Format, c.Orientation, c.Frames = nameICO, 1, 1
		c.HasAlpha = c.Mode == codec.LA || c.Mode == codec.RGBA
		return c, err
	}
	if _, err := d.dib.Open(frame, o); err != nil {
		return codec.Config{}, err
	}
	h := &d.dib.h
	if h.height /= 2; h.height == 0 {
		return codec.Config{}, badIcon(int(d.icon.offset), "an image and a mask of 1 row, want 2 or more")
	}
	if h.compression == rle8 || h.compression == rle4 {
		return codec.Config{}, codec.Errorf(nameICO, d.icon.offset, codec.ErrUnsupported, "run lengths in an icon")
	}
	d.data = data
	return codec.Config{Format: nameICO, Width: h.width, Height: h.height, Mode: codec.RGBA, Depth: 8, Orientation: 1, Frames: 1, HasAlpha: true, Variant: "DIB"}, nil
}

// Decode implements codec.FormatDecoder.
func (d *iconDecoder) Decode(dst *codec.Raster) error {
	if d.isPNG {
		err := d.png.Decode(dst)
		dst.HasKey, dst.HasKeyRGB = false, false
		for i := range dst.Palette {
			dst.Palette[i][3] = 255
		}
		return err
	}
	h, data := &d.dib.h, d.data
	d.data = nil
	alpha, step, padded, err := d.alpha(data)
	if err != nil {
		return err
	}
	if err := d.dib.o.Limits.CheckSize(nameICO, h.width, h.height, codec.RGBA.Size()+h.mode.Size()); err != nil {
		return err
	}
	if err := d.dib.Decode(&d.raster); err != nil {
		return err
	}
	dst.Reset(codec.RGBA, h.width, h.height)
	src := &d.raster
	for y := range h.height {
		in, out := src.Pix[y*src.Stride:], dst.Pix[y*dst.Stride:]
		mask := alpha[(h.height-1-y)*padded:]
		for x := range h.width {
			o := out[4*x:][:4]
			switch src.Mode {
			case codec.P:
				copy(o, src.Palette[in[x]][:])
			case codec.L:
				o[0], o[1], o[2] = in[x], in[x], in[x]
			default:
				copy(o[:3], in[x*src.Mode.Size():])
			}
			if step > 0 {
				o[3] = mask[4*x]
			} else {
				o[3] = ^-(mask[x/8] << (x % 8) >> 7)
			}
		}
	}
	return nil
}

// alpha returns the alpha of the pixels, from the last row on, of which each
// takes padded bytes: every step'th byte, or a bit if step is 0, which is set
// where nothing shows.
func (d *iconDecoder) alpha(data []byte) (b []byte, step, padded int, err error) {
	h := &d.dib.h
	if d.icon.bits == 32 {
		at, n := d.icon.offset+int64(h.data), 4*int64(h.width)*int64(h.height)
		if int64(len(data))-at < n {
			return nil, 0, 0, badIcon(len(data), "the pixels end early, %d bytes are wanted", n)
		}
		return data[at+3:], 4, 4 * h.width, nil
	}
	padded = (h.width + 31) / 32 * 4
	all := int64(padded) * int64(h.height)
	at := d.icon.offset + d.icon.size - all
	if need := all - int64(padded) + int64(h.width+7)/8; at < 0 || int64(len(data))-at < need {
		return nil, 0, 0, badIcon(len(data), "a mask of %d bytes at %d, the file ends at %d", need, at, len(data))
	}
	return data[at:], 0, padded, nil
}
