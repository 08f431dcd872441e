// Package qoi decodes QOI for package codec; importing it registers the format.
//
// It accepts the files that Pillow 13.0.0 accepts and returns the same pixels:
// RGB if the header says three channels, else RGBA. The colour space has no
// effect. Source: The Quite OK Image Format, specification version 1.0.
package qoi

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

const name = "qoi"

const (
	magic      = "qoif"
	headerSize = 14
)

func init() {
	codec.Register(codec.Format{Name: name, Magic: []string{magic}, PillowOnly: true, New: func() codec.FormatDecoder { return new(decoder) }})
}

// maxSide keeps the number of bytes of an image within 64 bits.
const maxSide = 1 << 24

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

type decoder struct {
	data   []byte
	o      *codec.Options
	config codec.Config
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	*d = decoder{data: data, o: o}
	if len(data) < headerSize {
		return codec.Config{}, bad(len(data), "the file ends in its header")
	}
	w, h := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if w == 0 || h == 0 {
		return codec.Config{}, bad(4, "%dx%d pixels, want at least 1x1", w, h)
	}
	if w > maxSide || h > maxSide {
		return codec.Config{}, codec.Errorf(name, 4, codec.ErrLimit, "%dx%d pixels, a side has at most %d", w, h, maxSide)
	}
	d.config = codec.Config{
		Format: name, Width: int(w), Height: int(h), Mode: codec.RGBA, Depth: 8, Orientation: 1, Frames: 1, HasAlpha: true,
	}
	if data[12] == 3 {
		d.config.Mode, d.config.HasAlpha = codec.RGB, false
	}
	return d.config, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	data, c := d.data, &d.config
	n := c.Mode.Size()
	if err := d.o.Limits.CheckSize(name, c.Width, c.Height, n); err != nil {
		return err
	}
	d.data, d.o = nil, nil
	// A byte of the file makes at most 62 pixels.
	if int64(len(data)-headerSize)*62 < int64(c.Width)*int64(c.Height) {
		return bad(len(data), "%d bytes of data, too few for %dx%d pixels", len(data)-headerSize, c.Width, c.Height)
	}
	dst.Reset(c.Mode, c.Width, c.Height)
	var seen [64][4]uint8
	px := [4]uint8{3: 255}
	out := dst.Pix
	for at := headerSize; len(out) > 0; {
		if at == len(data) {
			return bad(at, "the pixels end at %d of %d", (len(dst.Pix)-len(out))/n, len(dst.Pix)/n)
		}
		op, rest := data[at], data[at+1:]
		size, run := 1, 1
		switch {
		case op == 0xFE || op == 0xFF: // all samples, or all but alpha
			size = int(op-0xFE) + 4
			if len(rest) < size-1 {
				return bad(len(data), "the file ends in a pixel")
			}
			copy(px[:], rest[:size-1])
		case op>>6 == 0: // a pixel seen before
			px = seen[op]
		case op>>6 == 1: // small differences
			px[0] += op>>4&3 - 2
			px[1] += op>>2&3 - 2
			px[2] += op&3 - 2
		case op>>6 == 2: // a difference of green, and of the others to it
			if size = 2; len(rest) < 1 {
				return bad(len(data), "the file ends in a pixel")
			}
			green := op&63 - 32
			px[0] += green + rest[0]>>4 - 8
			px[1] += green
			px[2] += green + rest[0]&15 - 8
		default:
			run = int(op&63) + 1
		}
		at += size
		if op>>6 != 3 || op >= 0xFE {
			seen[(int(px[0])*3+int(px[1])*5+int(px[2])*7+int(px[3])*11)%64] = px
		}
		for range min(run, len(out)/n) {
			copy(out[:n], px[:])
			out = out[n:]
		}
	}
	return nil
}
