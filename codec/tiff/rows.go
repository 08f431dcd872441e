//go:build !small

package tiff

import "github.com/infer-prep/infer-prep/codec"

// Colors implements codec.ColorDecoder.
func (d *decoder) Colors(dst *codec.Raster) error {
	if d.h.mode == codec.P {
		d.palette(dst)
	}
	return nil
}

// DecodeRows implements codec.RowDecoder. It keeps the strips and tiles of the
// region only, and decodes the others to find damage, for which Pillow refuses
// the whole image.
func (d *decoder) DecodeRows(sink codec.RowSink, region codec.Region) (damaged, err error) {
	defer d.release()
	h, b := &d.h, &d.band
	if h.compression == oldJPEG {
		return nil, d.rowsOld(sink, region)
	}
	n, err := d.start()
	if err != nil {
		return nil, err
	}
	if h.paletteAlpha {
		d.palette(b)
	}
	x0, x1 := region.Left/h.blockW, (region.Left+region.Width-1)/h.blockW+1
	y0, y1 := region.Top/h.blockH, (region.Top+region.Height-1)/h.blockH+1
	left, right := x0*h.blockW, min(x1*h.blockW, h.width)
	// Rows of blocks are decoded in groups.
	inRow, first := h.planes*h.across, 0
	group := d.groupRows(inRow)
	do := func(r *blockReader, k int) (err error) {
		x, y, plane := k%h.across, first+k/inRow, k%inRow/h.across
		switch i := (plane*h.down+y)*h.across + x; {
		case i >= n:
		case y >= y0 && y < y1 && x >= x0 && x < x1:
			err = d.place(r, b, i, left, first*h.blockH)
		default:
			_, err = d.block(r, i)
		}
		return err
	}
	for ; first < h.down; first += group {
		rows, top := min(group, h.down-first), first*h.blockH
		wanted := first < y1 && first+rows > y0
		if wanted {
			b.Reset(h.mode, right-left, min(rows*h.blockH, h.height-top))
			if n < h.blocks() {
				h.blank(b)
			}
		}
		err := d.each(rows*inRow, do)
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		d.finish(b)
		from, to := max(region.Top, top), min(region.Top+region.Height, top+b.Height)
		pix, size := b.Pix[(from-top)*b.Stride:], h.mode.Size()
		if left == region.Left && b.Width == region.Width {
			sink.Rows(from, to-from, pix[:(to-from)*b.Stride])
			continue
		}
		line := region.Width * size
		d.cut = d.cut[:0]
		for r := range to - from {
			d.cut = append(d.cut, pix[r*b.Stride+(region.Left-left)*size:][:line]...)
		}
		sink.Rows(from, to-from, d.cut)
	}
	return nil, nil
}
