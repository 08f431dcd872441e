package jp2

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// OpenJPEG's colour spaces.
const (
	unspecified = 0 // and below
	sRGB        = 1
	gray        = 2
	sYCC        = 3
	eYCC        = 4
	cmyk        = 5
)

// unpacker is one of Pillow's j2k_unpackers: how samples become pixels.
type unpacker struct {
	comps []component
	from  []int // component of each channel, -1 for opaque alpha
	ycc   bool
	deep  bool // 16 bits
}

// unpacker returns the one that Pillow takes, by the colour space that OpenJPEG
// says. Version 2.5.0 says none before it has decoded.
func (h *header) unpacker(space int) (*unpacker, error) {
	if space <= unspecified {
		space = h.space
	}
	comps := h.siz.comps
	first := -1 // subsampled component
	for i := range comps {
		if comps[i].dx != 1 || comps[i].dy != 1 {
			first = i
			break
		}
	}
	n := len(comps)
	if space <= unspecified {
		switch {
		case n < 3:
			space = gray
		case first == 1 || first == 2:
			space = sYCC
		default:
			space = sRGB
		}
	}
	u := &unpacker{comps: comps, ycc: space == sYCC}
	color := space == sRGB || space == sYCC
	switch {
	case h.mode == codec.L && space == gray && n == 1, h.mode == codec.P && (space == sRGB || space == cmyk) && n == 1:
		u.from = []int{0}
	case h.mode == codec.I16 && space == gray && n == 1:
		u.from, u.deep = []int{0}, true
	case h.mode == codec.LA && space == gray && n == 2:
		u.from = []int{0, 1}
	case h.mode == codec.RGB && space == gray && n < 3:
		u.from = []int{0, 0, 0}
	case h.mode == codec.RGB && color && n > 2:
		u.from = []int{0, 1, 2}
	case h.mode == codec.RGBA && space == gray && n == 1:
		u.from = []int{0, 0, 0, -1}
	case h.mode == codec.RGBA && space == gray && n == 2:
		u.from = []int{0, 0, 0, 1}
	case h.mode == codec.RGBA && color && n == 3:
		u.from = []int{0, 1, 2, -1}
	case h.mode == codec.RGBA && (color || space == gray) && n == 4, h.mode == codec.CMYK && space == cmyk && n == 4:
		u.from = []int{0, 1, 2, 3}
	}
	if u.from == nil || first >= 0 && n < 3 {
		what := [...]string{"sRGB", "gray", "sYCC", "e-YCC", "CMYK"}[min(space, cmyk)-1]
		if first >= 0 {
			what += ", subsampled,"
		}
		return nil, unsupported("%d components of %s in mode %v, which Pillow does not decode", n, what, h.mode)
	}
	return u, nil
}

// unpack writes a tile's pixels. samples holds those of its components, one
// after the other. As in Pillow, a subsampled component has floor(w/dx) samples
// a row.
func (u *unpacker) unpack(dst *codec.Raster, t *tile, samples []byte, rows *[4][]byte) {
	if u.deep {
		u.unpack16(dst, t, samples)
		return
	}
	channels := len(u.from)
	for y := range t.h {
		out := dst.Pix[(t.y+y)*dst.Stride+t.x*channels:][:t.w*channels]
		at := 0
		for i := range u.comps {
			c := &u.comps[i]
			line := c.bytes() * (t.w / c.dx)
			if cap(rows[i]) < t.w {
				rows[i] = make([]byte, t.w)
			}
			rows[i] = rows[i][:t.w]
			c.row(rows[i], samples[at+y/c.dy*line:])
			at += line * (t.h / c.dy)
		}
		for ch, from := range u.from {
			if from < 0 {
				for i := ch; i < len(out); i += channels {
					out[i] = 0xFF
				}
				continue
			}
			i := ch
			for _, v := range rows[from] {
				out[i] = v
				i += channels
			}
		}
		if u.ycc {
			toRGB(out, channels)
		}
	}
}

// scale returns how a sample becomes one of that number of bits: the offset is
// added, then it is shifted.
func (c *component) scale(bits int) (left, right uint, offset uint32) {
	shift := bits - c.prec
	if c.signed {
		offset = 1 << (c.prec - 1)
	}
	left, right = uint(max(shift, 0)), uint(max(-shift, 0))
	if shift < 0 {
		offset += 1 << (right - 1)
	}
	return left, right, offset
}

// row converts a row of samples to 8 bits.
func (c *component) row(dst, samples []byte) {
	left, right, offset := c.scale(8)
	if c.prec == 8 && !c.signed && c.dx == 1 {
		copy(dst, samples)
		return
	}
	for x := range dst {
		v := uint32(0)
		switch i := x / c.dx; c.bytes() {
		case 1:
			v = uint32(samples[i])
		case 2:
			v = uint32(binary.NativeEndian.Uint16(samples[2*i:]))
		case 4:
			v = binary.NativeEndian.Uint32(samples[4*i:])
		}
		dst[x] = uint8((v + offset) << left >> right)
	}
}

// unpack16 writes gray of 16 bits.
func (u *unpacker) unpack16(dst *codec.Raster, t *tile, samples []byte) {
	c := &u.comps[0]
	left, right, offset := c.scale(16)
	size := c.bytes()
	for y := range t.h {
		out := dst.Pix[(t.y+y)*dst.Stride+2*t.x:][:2*t.w]
		in := samples[y*t.w*size:][:t.w*size]
		for x := range t.w {
			v := uint32(0)
			switch size {
			case 1:
				v = uint32(in[x])
			case 2:
				v = uint32(binary.NativeEndian.Uint16(in[2*x:]))
			case 4:
				v = binary.NativeEndian.Uint32(in[4*x:])
			}
			binary.LittleEndian.PutUint16(out[2*x:], uint16((v+offset)<<left>>right))
		}
	}
}

// toRGB converts YCbCr pixels of 3 or 4 channels.
func toRGB(pix []byte, channels int) {
	for i := 0; i < len(pix); i += channels {
		pix[i], pix[i+1], pix[i+2] = kernel.PillowYCCToRGB(pix[i], pix[i+1], pix[i+2])
	}
}
