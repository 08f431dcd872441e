package jp2

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// OpenNative implements codec.NativeDecoder: the samples as they are coded, of
// up to 8 bits as uint8 or int8 and of up to 16 as uint16 or int16.
func (d *decoder) OpenNative(data []byte, o *codec.Options) (codec.Native, error) {
	if err := d.open(data, o); err != nil {
		return codec.Native{}, err
	}
	h := &d.h
	if h.mode == codec.P {
		return codec.Native{}, unsupported("a palette in a file's own samples: want gray or colours")
	}
	first := h.siz.comps[0]
	for _, c := range h.siz.comps {
		if c != first || c.prec > 16 || c.dx != 1 || c.dy != 1 {
			return codec.Native{}, unsupported("components that are subsampled, unlike, or of more than 16 bits in a file's own samples")
		}
	}
	d.size = first.bytes()
	n := codec.Native{Format: name, Width: h.width, Height: h.height, Channels: len(h.siz.comps), DType: tensor.Uint8}
	switch {
	case first.prec > 8 && first.signed:
		n.DType = tensor.Int16
	case first.prec > 8:
		n.DType = tensor.Uint16
	case first.signed:
		n.DType = tensor.Int8
	}
	return n, nil
}

// DecodeNative implements codec.NativeDecoder. It decodes the tiles of the
// region only.
func (d *decoder) DecodeNative(dst []byte, region codec.Region) error {
	data, h := d.data, &d.h
	limits := d.o.Limits
	d.data, d.o = nil, nil
	l, err := load()
	if err != nil {
		return unsupported("%v", err)
	}
	if err := h.checkCost(data, limits, d.size*len(h.siz.comps)); err != nil {
		return err
	}
	f, err := l.open(data, h.boxed, true)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.check(&h.siz); err != nil {
		return err
	}
	whole := region == codec.Region{Width: h.width, Height: h.height}
	if !whole {
		x, y := h.siz.x0+uint32(region.Left), h.siz.y0+uint32(region.Top)
		if err := f.setArea(x, y, x+uint32(region.Width), y+uint32(region.Height)); err != nil {
			return err
		}
	}
	clear(dst)
	size, n := d.size, len(h.siz.comps)
	for {
		t, err := f.next(&h.siz, h.width, h.height, &d.tile)
		if err != nil {
			return err
		}
		if t == nil {
			if whole {
				return f.end()
			}
			return nil
		}
		left, right := max(t.x, region.Left), min(t.x+t.w, region.Left+region.Width)
		if left >= right {
			continue
		}
		for y := max(t.y, region.Top); y < min(t.y+t.h, region.Top+region.Height); y++ {
			out := dst[((y-region.Top)*region.Width+left-region.Left)*size*n:]
			for c := range n {
				in := d.tile[((c*t.h+y-t.y)*t.w+left-t.x)*size:]
				for x := range right - left {
					copy(out[(x*n+c)*size:][:size], in[x*size:])
				}
			}
		}
	}
}
