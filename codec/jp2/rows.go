package jp2

import "github.com/infer-prep/infer-prep/codec"

// Colors implements codec.ColorDecoder.
func (d *decoder) Colors(dst *codec.Raster) error {
	dst.Palette = d.h.palette
	return nil
}

// ordered reports whether the tiles are in order in the file, so that a row of
// tiles is complete when a tile of the next one comes.
func (s *size) ordered(data []byte) bool {
	last, ok := -1, true
	s.parts(data, func(uint16, []byte) {}, func(tile int) {
		ok = ok && tile >= last
		last = tile
	})
	return ok
}

// DecodeRows implements codec.RowDecoder. It holds a row of tiles, or the image
// if its tiles are not in order.
func (d *decoder) DecodeRows(sink codec.RowSink, region codec.Region) (damaged, err error) {
	banded := d.h.siz.down > 1 && d.h.siz.ordered(d.data)
	f, u, err := d.begin()
	if err != nil {
		return nil, err
	}
	defer f.close()
	h, band := &d.h, &d.band
	pixel := h.mode.Size()
	if cap(d.line) < region.Width*pixel {
		d.line = make([]byte, region.Width*pixel)
	}
	line := d.line[:region.Width*pixel]
	top, next, end := 0, region.Top, region.Top+region.Height
	start := func(y, rows int) {
		top = y
		band.Reset(h.mode, h.width, rows)
		clear(band.Pix) // a tile that the file does not have
	}
	// pass passes the rows above y on.
	pass := func(y int) {
		for ; next < min(y, end); next++ {
			clear(line)
			if i := next - top; i >= 0 && i < band.Height {
				copy(line, band.Pix[i*band.Stride+region.Left*pixel:])
			}
			sink.Rows(next, 1, line)
		}
	}
	if start(0, 0); !banded {
		start(0, h.height)
	}
	for {
		t, err := f.next(&h.siz, h.width, h.height, &d.tile)
		switch {
		case err != nil:
			return nil, err
		case t == nil:
			pass(end)
			return nil, f.end()
		case banded && t.y < top:
			return nil, codec.Errorf(name, -1, codec.ErrFormat, "a tile at row %d behind one at row %d", t.y, top)
		case banded && (t.y > top || band.Height == 0):
			pass(t.y)
			start(t.y, t.h)
		}
		if t.y < end && t.y+t.h > region.Top && t.x < region.Left+region.Width && t.x+t.w > region.Left {
			t.y -= top
			u.unpack(band, t, d.tile, &d.rows)
		}
	}
}
