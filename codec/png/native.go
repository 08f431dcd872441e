//go:build !small

package png

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// OpenNative implements codec.NativeDecoder.
func (d *decoder) OpenNative(data []byte, o *codec.Options) (codec.Native, error) {
	c, err := d.Open(data, o)
	if err != nil {
		return codec.Native{}, err
	}
	h := &d.h
	what := ""
	switch {
	case h.hasTRNS:
		what = "a transparent colour (tRNS)"
	case h.color == palette || h.depth < 8:
		what = "a palette, or fewer than 8 bits,"
	}
	if what != "" {
		return codec.Native{}, codec.Errorf(name, -1, codec.ErrUnsupported,
			"%s in a file's own samples: want gray or RGB of 8 or 16 bits, with or without alpha", what)
	}
	n := codec.Native{Format: name, Width: c.Width, Height: c.Height, Channels: h.bitsPerPixel() / int(h.depth), DType: tensor.Uint8}
	if h.depth == 16 {
		n.DType = tensor.Uint16
	}
	return n, nil
}

// DecodeNative implements codec.NativeDecoder. It holds two rows; those of an
// interlaced image are put together in memory for the whole.
func (d *decoder) DecodeNative(dst []byte, region codec.Region) error {
	h := &d.h
	pixel := h.bitsPerPixel() / 8
	limits := d.o.Limits
	strict, err := d.begin()
	if err != nil {
		return err
	}
	h.stored = true
	r := &d.band
	line := region.Width * pixel
	put := func(y int, row []byte) {
		if y -= region.Top; y >= 0 && y < region.Height {
			out := dst[y*line:][:line]
			copy(out, row[region.Left*pixel:])
			if h.depth == 16 {
				for i := 0; i < len(out); i += 2 {
					binary.NativeEndian.PutUint16(out[i:], binary.BigEndian.Uint16(out[i:]))
				}
			}
		}
	}
	if !h.interlaced {
		return d.pixels(nil, strict, put)
	}
	if err := limits.CheckSize(name, h.width, h.height, pixel); err != nil {
		return err
	}
	r.Stride = h.width * pixel
	if n := r.Stride * h.height; cap(r.Pix) < n {
		r.Pix = make([]byte, n)
	} else {
		r.Pix = r.Pix[:n]
	}
	if err := d.pixels(r, strict, nil); err != nil {
		return err
	}
	for y := region.Top; y < region.Top+region.Height; y++ {
		put(y, r.Pix[y*r.Stride:])
	}
	return nil
}
