//go:build !small

package png

import "github.com/infer-prep/infer-prep/codec"

// partial reports whether the package decodes rows and stored samples. The
// small build of the npm package does not.
const partial = true

// Colors implements codec.ColorDecoder.
func (d *decoder) Colors(dst *codec.Raster) error { return d.h.setColors(dst) }

// DecodeRows implements codec.RowDecoder. It decodes all rows, since damage
// anywhere is an error, and holds one of them and the one before. An interlaced
// image is decoded whole.
func (d *decoder) DecodeRows(sink codec.RowSink, region codec.Region) (damaged, err error) {
	h, size := &d.h, d.h.mode.Size()
	r := &d.band
	from, to, line := region.Top, region.Top+region.Height, region.Width*size
	if h.interlaced {
		if err := d.Decode(r); err != nil {
			return nil, err
		}
		for y := from; y < to; y++ {
			sink.Rows(y, 1, r.Pix[y*r.Stride+region.Left*size:][:line])
		}
		return nil, nil
	}
	strict, err := d.begin()
	if err != nil {
		return nil, err
	}
	r.Reset(h.mode, h.width, 1)
	return nil, d.pixels(nil, strict, func(y int, row []byte) {
		if y < from || y >= to {
			return
		}
		if h.depth != 8 {
			h.unpack(r.Pix, row, h.width, 1, false)
			row = r.Pix
		}
		sink.Rows(y, 1, row[region.Left*size:][:line])
	})
}
