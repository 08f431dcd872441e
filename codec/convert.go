package codec

import "github.com/infer-prep/infer-prep/internal/kernel"

// onWhite composites one sample over opaque white as Pillow's alpha_composite
// (libImaging/AlphaComposite.c, Pillow 13.0.0): with 7 fraction bits, and a
// rounded division by 255 by shifts.
func onWhite(c, a uint8) uint8 {
	t := uint32(c)*uint32(a)*128 + 255*128*(255-uint32(a)) + 0x80<<7
	return uint8((t>>8 + t) >> 8 >> 7)
}

// luma is Pillow's L24 (libImaging/Convert.c): ITU-R 601-2 with 16 fraction
// bits.
func luma(r, g, b uint8) uint8 {
	return uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 0x8000) >> 16)
}

// inked is Pillow's cmyk2rgb for one ink: nk - nk*c/255 rounded, where nk is
// 255 - K.
func inked(c, nk uint8) uint8 {
	t := uint32(c)*uint32(nk) + 128
	return nk - uint8((t>>8+t)>>8)
}

// converter converts rows of one raster to rows of the result.
type converter struct {
	o   *Options
	src *Raster
	lut [256][4]uint8 // of L, I16 and P: each sample's colour, policies applied
	row []byte        // one RGB row

	gray bool // src is L and lut leaves the samples as they are
}

// start prepares the conversion of src's rows.
func (c *converter) start(src *Raster, o *Options) {
	c.o, c.src = o, src
	if cap(c.row) < 3*src.Width {
		c.row = make([]byte, 3*src.Width)
	}
	c.row = c.row[:3*src.Width]
	c.gray = false
	switch src.Mode {
	case P:
		c.lut = src.Palette
	case L, I16:
		for i := range c.lut {
			v := uint8(i)
			c.lut[i] = [4]uint8{v, v, v, 255}
			if src.HasKey && v == src.Key[0] {
				c.lut[i][3] = 0
			}
		}
	default:
		return
	}
	if o.Color == ToRGBA {
		return
	}
	for i := range c.lut {
		p := &c.lut[i]
		switch {
		case o.Alpha == AlphaWhite:
			p[0], p[1], p[2] = onWhite(p[0], p[3]), onWhite(p[1], p[3]), onWhite(p[2], p[3])
		case o.Alpha == AlphaKeyWhite && src.HasKeyRGB && [3]uint8(p[:3]) == src.KeyRGB:
			p[0], p[1], p[2] = 255, 255, 255
		}
		p[3] = 0 // as LookupRGB wants it
	}
	c.gray = src.Mode == L
	for i, p := range c.lut {
		v := uint8(i)
		c.gray = c.gray && [3]uint8(p[:3]) == [3]uint8{v, v, v}
	}
}

// convert writes row y, o.Color.Channels() bytes a pixel, to dst.
func (c *converter) convert(dst []byte, y int) {
	src := c.src
	n := src.Width * src.Mode.Size()
	in := src.Pix[y*src.Stride:][:n]
	switch c.o.Color {
	case ToRGB:
		c.rgb(dst, in)
	case ToBGR:
		c.rgb(dst, in)
		swapRB(dst)
	case ToRGBA:
		c.rgba(dst, in)
	default: // ToGray, ToLuma
		if src.Mode == L || src.Mode == P || src.Mode == I16 {
			// The luma of a gray RGB colour is the gray, so the table serves
			// all three.
			c.indexed(dst, in, 1)
			return
		}
		c.rgb(c.row, in)
		rgb := c.row
		for i := range dst[:src.Width] {
			dst[i] = luma(rgb[3*i], rgb[3*i+1], rgb[3*i+2])
		}
	}
}

func swapRB(p []byte) {
	for i := 0; i+2 < len(p); i += 3 {
		p[i], p[i+2] = p[i+2], p[i]
	}
}

// indexed writes the table's colours with n channels. One channel is their
// luma.
func (c *converter) indexed(dst, in []byte, n int) {
	step, high := 1, false
	if c.src.Mode == I16 {
		step, high = 2, c.o.Gray16 == Gray16High
	}
	var gray [256]uint8
	if n == 1 {
		for i, p := range c.lut {
			gray[i] = luma(p[0], p[1], p[2])
		}
	}
	if step == 1 && n == 3 { // the common case
		kernel.LookupRGB(dst, in, &c.lut)
		return
	}
	for i, o := 0, 0; i < len(in); i, o = i+step, o+n {
		v := in[i]
		if step == 2 && high {
			v = in[i+1]
		} else if step == 2 && in[i+1] != 0 {
			v = 255
		}
		switch p := &c.lut[v]; n {
		case 1:
			dst[o] = gray[v]
		case 3:
			dst[o], dst[o+1], dst[o+2] = p[0], p[1], p[2]
		default:
			dst[o], dst[o+1], dst[o+2], dst[o+3] = p[0], p[1], p[2], p[3]
		}
	}
}

// rgb writes a row as RGB with the alpha policy applied.
func (c *converter) rgb(dst, in []byte) {
	white := c.o.Alpha == AlphaWhite
	switch c.src.Mode {
	case L, P, I16:
		if c.gray {
			kernel.Interleave(dst[:3*len(in)], in, 0, 3) // three times the same plane
			return
		}
		c.indexed(dst, in, 3)
	case RGB:
		copy(dst, in)
		if white && c.src.HasKey {
			keyToWhite(dst, c.src.Key)
		} else if c.o.Alpha == AlphaKeyWhite && c.src.HasKeyRGB {
			keyToWhite(dst, c.src.KeyRGB)
		}
	case LA:
		for i, o := 0, 0; i+1 < len(in); i, o = i+2, o+3 {
			v := in[i]
			if white {
				v = onWhite(v, in[i+1])
			}
			dst[o], dst[o+1], dst[o+2] = v, v, v
		}
	case RGBA:
		if !white {
			// The next pixel overwrites the fourth byte.
			i, o := 0, 0
			for ; i+4 < len(in); i, o = i+4, o+3 {
				copy(dst[o:][:4], in[i:][:4])
			}
			copy(dst[o:], in[i:][:3])
			return
		}
		for i, o := 0, 0; i+3 < len(in); i, o = i+4, o+3 {
			r, g, b, a := in[i], in[i+1], in[i+2], in[i+3]
			dst[o], dst[o+1], dst[o+2] = onWhite(r, a), onWhite(g, a), onWhite(b, a)
		}
	case CMYK:
		for i, o := 0, 0; i+3 < len(in); i, o = i+4, o+3 {
			nk := 255 - in[i+3]
			dst[o], dst[o+1], dst[o+2] = inked(in[i], nk), inked(in[i+1], nk), inked(in[i+2], nk)
		}
	}
}

func keyToWhite(rgb []byte, key [3]uint8) {
	for i := 0; i+2 < len(rgb); i += 3 {
		if p := rgb[i : i+3]; p[0] == key[0] && p[1] == key[1] && p[2] == key[2] {
			p[0], p[1], p[2] = 255, 255, 255
		}
	}
}

// rgba writes a row as RGBA. Colour keys get alpha 0.
func (c *converter) rgba(dst, in []byte) {
	switch src := c.src; src.Mode {
	case L, P, I16:
		c.indexed(dst, in, 4)
	case RGBA:
		copy(dst, in)
	case LA:
		for i, o := 0, 0; i+1 < len(in); i, o = i+2, o+4 {
			dst[o], dst[o+1], dst[o+2], dst[o+3] = in[i], in[i], in[i], in[i+1]
		}
	default: // RGB, CMYK
		c.rgb(c.row, in)
		for i, o := 0, 0; i < len(c.row); i, o = i+3, o+4 {
			p := c.row[i : i+3]
			dst[o], dst[o+1], dst[o+2], dst[o+3] = p[0], p[1], p[2], 255
			if src.HasKey && p[0] == src.Key[0] && p[1] == src.Key[1] && p[2] == src.Key[2] {
				dst[o+3] = 0
			}
		}
	}
}
