package tiff

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

// inner decodes blocks that are images of another format, if that format is
// linked.
type inner struct {
	formats map[string]codec.FormatDecoder
	stream  []byte // a whole JPEG
	raster  codec.Raster
	options codec.Options
	last    bool // the block is the last strip of its plane, of which libtiff takes a higher JPEG
}

// maxHigher bounds the pixels of a last strip that is higher than the image.
const maxHigher = 1 << 24

// decode decodes data into out, whose rows have l.blockW pixels.
func (d *inner) decode(out, data []byte, format string, l *layout, rows int) error {
	fd := d.formats[format]
	if fd == nil {
		if fd = codec.NewFormatDecoder(format); fd == nil {
			return unsupported("compression %s: the program does not link package codec/%s", format, format)
		}
		if d.formats == nil {
			d.formats = map[string]codec.FormatDecoder{}
		}
		d.formats[format] = fd
	}
	// libtiff decodes what there is of a JPEG that ends early, as imread does.
	d.options = codec.Options{Damage: codec.DamageImread, Limits: codec.NoLimits()}
	c, err := fd.Open(data, &d.options)
	if err != nil {
		return err
	}
	samples := l.samples / l.planes
	switch {
	case c.Mode.Size() != samples || c.Depth > 8 || c.Mode == codec.P:
		return unsupported("a %s of mode %v in a TIFF of %d samples", format, c.Mode, samples)
	case c.Width != l.blockW || c.Height < rows || c.Height > rows && (!d.last || c.Width*c.Height > maxHigher):
		return unsupported("a %s of %dx%d pixels for a block of %dx%d", format, c.Width, c.Height, l.blockW, rows)
	}
	own := d.raster.Pix
	if c.Height == rows {
		d.raster.Pix = out[:0:len(out)]
	}
	err = fd.Decode(&d.raster)
	pix := d.raster.Pix
	if c.Height == rows {
		d.raster.Pix = own
	}
	if err != nil {
		return err
	}
	if len(pix) > 0 && &pix[0] != &out[0] {
		for y := range rows {
			copy(out[y*l.rowBytes():][:l.rowBytes()], pix[y*d.raster.Stride:])
		}
	}
	return nil
}

// webp decodes a WebP block.
func (d *inner) webp(out, in []byte, l *layout, rows int) error {
	return d.decode(out, in, "webp", l, rows)
}

// The markers of JPEG that jpeg looks at.
const (
	markerSOI   = 0xD8
	markerEOI   = 0xD9
	markerSOS   = 0xDA
	markerAPP0  = 0xE0
	markerAPP14 = 0xEE
)

// adobe is a segment APP14 of version 100; its last byte is the transform.
const adobe = "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"

// jpeg decodes a JPEG block. As in libtiff, the tag JPEGTables holds segments
// that all blocks share, and the photometric interpretation says whether the
// samples are YCbCr, whatever the block's own segments say.
func (d *inner) jpeg(out, in []byte, l *layout, rows int) error {
	transform := byte(0)
	if l.photo == yCbCr && l.planes == 1 {
		transform = 1
	}
	s := append(d.stream[:0], 0xFF, markerSOI)
	s = append(append(s, adobe...), transform)
	s = appendSegments(s, l.tables)
	s = appendSegments(s, in)
	d.stream = s
	if err := d.decode(out, s, "jpeg", l, rows); err != nil {
		return err
	}
	if l.samples/l.planes == 4 { // codec.CMYK is inverted
		for i := range out {
			out[i] ^= 255
		}
	}
	return nil
}

// appendSegments appends the segments of a JPEG without SOI, APP0, APP14 and
// EOI, up to and including the data of its scans.
func appendSegments(s, in []byte) []byte {
	if len(in) < 2 || in[0] != 0xFF || in[1] != markerSOI {
		return s
	}
	in = in[2:]
	for len(in) >= 4 && in[0] == 0xFF {
		m := in[1]
		switch {
		case m == 0xFF: // a fill byte
			in = in[1:]
			continue
		case m == markerEOI:
			return s
		case m == markerSOS:
			return append(s, in...)
		}
		n := 2 + int(binary.BigEndian.Uint16(in[2:]))
		if n > len(in) {
			break
		}
		if m != markerAPP0 && m != markerAPP14 {
			s = append(s, in[:n]...)
		}
		in = in[n:]
	}
	if len(in) >= 2 && in[0] == 0xFF && in[1] == markerEOI {
		return s
	}
	return append(s, in...)
}
