//go:build !small

package tiff

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

// Tags of old JPEG (TIFF 6.0, section 22).
const (
	tagJPEGFormat   = 513 // where a JPEG stream with the tables begins
	tagJPEGLength   = 514
	tagJPEGRestart  = 515
	tagJPEGQTables  = 519
	tagJPEGDCTables = 520
	tagJPEGACTables = 521
)

// maxOld bounds the bytes of all parts as a multiple of the file's: the whole
// file, and its strips once more.
const maxOld = 2

// oldDecoder holds the one JPEG stream of an image of old JPEG, which its
// strips share, and what decodes it.
type oldDecoder struct {
	stream []byte
	jpeg   sampleDecoder // nil until it is needed
	rows   oldRows
	o      codec.Options
}

// oldRows is the sink that converts rows of YCbCr.
type oldRows struct {
	dst   *codec.Raster
	table *yccToRGB
}

// Rows implements codec.RowSink.
func (r *oldRows) Rows(y, n int, pix []byte) {
	line := 3 * r.dst.Width
	for k := range n {
		in, out := pix[k*line:][:line], r.dst.Pix[(y+k)*r.dst.Stride:]
		for x := 0; x < line; x += 3 {
			r.table.rgb(out[x:], in[x], in[x+1], in[x+2])
		}
	}
}

// sampleDecoder is the decoder of codec/jpeg.
type sampleDecoder interface {
	codec.RowDecoder
	// OpenSamples is Open for YCbCr as it is stored, chroma samples repeated.
	OpenSamples(data []byte, o *codec.Options) (codec.Config, error)
}

// oldReader reads the parts of the file that hold JPEG data, as tif_ojpeg.c of
// libtiff 4.7 does: what JPEGInterchangeFormat names, then the strips.
type oldReader struct {
	parts  [][]byte
	strips int // parts that are strips; the others are before them
	part   int
	at     int
}

func (r *oldReader) peek() (byte, bool) {
	for r.part < len(r.parts) && r.at == len(r.parts[r.part]) {
		r.part, r.at = r.part+1, 0
	}
	if r.part == len(r.parts) {
		return 0, false
	}
	return r.parts[r.part][r.at], true
}

func (r *oldReader) bytes(n int) ([]byte, error) {
	b := make([]byte, 0, n)
	for range n {
		v, ok := r.peek()
		if !ok {
			return nil, bad(-1, "old JPEG: the data ends in its header")
		}
		b = append(b, v)
		r.at++
	}
	return b, nil
}

// rest appends the entropy-coded data, with a restart marker between strips.
func (r *oldReader) rest(s []byte) []byte {
	if _, ok := r.peek(); !ok {
		return s
	}
	marker := byte(0)
	for first := len(r.parts) - r.strips; r.part < len(r.parts); r.part++ {
		s = append(s, r.parts[r.part][r.at:]...)
		r.at = 0
		if r.part >= first && r.part+1 < len(r.parts) {
			s = append(s, 0xFF, 0xD0+marker)
			marker = (marker + 1) & 7
		}
	}
	return s
}

// parseOld describes an image of old JPEG, and makes its JPEG stream. Images of
// YCbCr are decoded whose strips, or one tile, stand below each other.
func (d *decoder) parseOld() error {
	t, h := &d.dir, &d.h
	w, ht := t.get(tagWidth, 0), t.get(tagHeight, 0)
	if w == 0 || ht == 0 || w > maxSide || ht > maxSide {
		return bad(-1, "old JPEG of %dx%d pixels, want 1 to %d", w, ht, maxSide)
	}
	h.width, h.height, h.compression, h.photo = int(w), int(ht), oldJPEG, t.get(tagPhotometric, whiteIsZero)
	h.bits, h.samples, h.planes, h.mode = 8, 3, 1, codec.RGB
	bits := t.tags[tagBits]
	for i := range max(1, bits.len()) {
		if bits.at(i, 1) != 8 {
			return unsupported("old JPEG of %d bits, want 8", bits.at(i, 1))
		}
	}
	v := t.tags[tagSubsampling]
	subX, subY := v.at(0, 2), v.at(1, 2)
	switch {
	case t.refused || t.hidden:
		return unsupported("old JPEG whose directory is cut, or has a tag of a wrong type or number")
	case h.photo != yCbCr || t.get(tagSamplesPerPixel, 3) != 3 || t.get(tagPlanar, chunky) != chunky || t.get(tagFillOrder, msbFirst) != msbFirst ||
		t.tags[tagExtraSamples].len() > 0 || t.get(tagSampleFormat, unsignedSample) != unsignedSample:
		return unsupported("old JPEG that is not YCbCr of three samples together")
	case subX != 1 && subX != 2 && subX != 4 || subY != 1 && subY != 2:
		return unsupported("old JPEG with chroma subsampling of %dx%d", subX, subY)
	}
	if err := h.setLayout(t, false); err != nil {
		return err
	}
	if h.tiled && (h.blockW < h.width || h.blockH < h.height) {
		return unsupported("old JPEG in several tiles")
	}
	if d.file.data[0] == 'M' && h.blockH < h.height {
		return unsupported("old JPEG in several strips of a big-endian file, of which libtiff reads other rows")
	}
	h.across, h.down = 1, (h.height+h.blockH-1)/h.blockH
	if h.offsets.len() != h.down || h.counts.len() != h.down && h.counts.len() != 0 {
		return unsupported("old JPEG with %d offsets and %d sizes of %d strips", h.offsets.len(), h.counts.len(), h.down)
	}
	return d.oldStream(subX, subY)
}

// part returns n bytes of the file at an offset, or those up to its end.
func (d *decoder) part(at, n uint64) []byte {
	size := uint64(len(d.file.data))
	if at == 0 || at >= size {
		return nil
	}
	if n == 0 || n > size-at {
		n = size - at
	}
	return d.file.data[at:][:n]
}

// oldStream makes the stream, as libtiff does.
func (d *decoder) oldStream(subX, subY uint32) error {
	t, h := &d.dir, &d.h
	r := &oldReader{strips: h.down}
	if b := d.part(t.tags[tagJPEGFormat].at64(0), t.tags[tagJPEGLength].at64(0)); b != nil {
		r.parts = append(r.parts, b)
	}
	for i := range h.down {
		r.parts = append(r.parts, d.part(h.offsets.at64(i), h.counts.at64(i)))
	}
	total := 0
	for _, b := range r.parts {
		// Strips that overlap could have any size together.
		if total += len(b); total > maxOld*len(d.file.data) {
			return unsupported("old JPEG whose strips are more than %d times as large as the file", maxOld)
		}
	}
	restart := 0
	if v := t.tags[tagJPEGRestart]; v.typ == typeShort {
		restart = int(v.at(0, 0))
	}
	if h.down > 1 {
		if h.blockH%(8*int(subY)) != 0 {
			return bad(-1, "old JPEG in strips of %d rows, want a multiple of %d", h.blockH, 8*subY)
		}
		restart = (h.blockW + 8*int(subX) - 1) / (8 * int(subX)) * (h.blockH / (8 * int(subY)))
	}
	var tables, frame, scan []byte
	for scan == nil {
		m, ok := r.peek()
		if !ok {
			return bad(-1, "old JPEG without data")
		}
		if m != 0xFF {
			break
		}
		for ; m == 0xFF; r.at++ {
			if m, ok = r.peek(); !ok {
				return bad(-1, "old JPEG: the data ends in a marker")
			}
		}
		if m == markerSOI {
			continue
		}
		head, err := r.bytes(2)
		if err != nil {
			return err
		}
		n := int(binary.BigEndian.Uint16(head))
		if n < 2 {
			return bad(-1, "old JPEG: a segment of %d bytes", n)
		}
		body, err := r.bytes(n - 2)
		if err != nil {
			return err
		}
		segment := append([]byte{0xFF, m, head[0], head[1]}, body...)
		switch {
		case m == 0xFE || m >= markerAPP0 && m <= 0xEF:
		case m == 0xDD && len(body) == 2:
			restart = int(binary.BigEndian.Uint16(body))
		case m == 0xDB || m == 0xC4:
			tables = append(tables, segment...)
		case m == 0xC0 || m == 0xC1:
			if err := h.checkOld(body); err != nil {
				return err
			}
			frame = segment
		case m == markerSOS && len(body) == 10 && body[0] == 3:
			scan = segment
		default:
			return unsupported("old JPEG with marker %#x of %d bytes", m, n)
		}
	}
	if frame == nil {
		rows := h.down * h.blockH
		if h.blockW > 0xFFFF || rows > 0xFFFF {
			return bad(-1, "old JPEG of %dx%d pixels, want at most 65535", h.blockW, rows)
		}
		frame = []byte{0xFF, 0xC0, 0, 17, 8, byte(rows >> 8), byte(rows), byte(h.blockW >> 8), byte(h.blockW), 3, 1, byte(subX<<4 | subY), 0, 2, 0x11, 0, 3, 0x11, 0}
		made := []byte{0xFF, markerSOS, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0}
		var err error
		if tables, err = d.oldTables(frame, made); err != nil {
			return err
		}
		if scan == nil {
			scan = made
		}
	} else if scan == nil {
		return unsupported("old JPEG whose header has no scan")
	}
	if x, y := int(frame[11]>>4), int(frame[11]&15); h.width < x || h.height < y {
		return bad(-1, "old JPEG of %dx%d pixels with chroma subsampling of %dx%d", h.width, h.height, x, y)
	}
	s := append(append(d.old.stream[:0], 0xFF, markerSOI), tables...)
	if restart > 0xFFFF {
		return bad(-1, "old JPEG in strips of %d groups of blocks, want at most 65535", restart)
	}
	if restart > 0 {
		s = append(s, 0xFF, 0xDD, 0, 4, byte(restart>>8), byte(restart))
	}
	s = append(append(s, frame...), scan...)
	d.old.stream = append(r.rest(s), 0xFF, markerEOI)
	return nil
}

// checkOld checks a frame header, whose sizes and subsampling count.
func (h *header) checkOld(b []byte) error {
	if len(b) != 15 || b[0] != 8 || b[5] != 3 || b[10] != 0x11 || b[13] != 0x11 {
		return unsupported("old JPEG whose frame is not one of 8 bits and 3 components, the last two subsampled alike")
	}
	x, y := int(binary.BigEndian.Uint16(b[3:])), int(binary.BigEndian.Uint16(b[1:]))
	if x < h.width && x < h.blockW || x > h.blockW || y < h.height {
		return bad(-1, "old JPEG with a frame of %dx%d pixels in an image of %dx%d", x, y, h.width, h.height)
	}
	if s := b[7]; s != 0x11 && s != 0x21 && s != 0x22 && s != 0x12 && s != 0x41 && s != 0x42 {
		return unsupported("old JPEG with subsampling %#x", s)
	}
	return nil
}

// oldTables returns the tables that the tags name, and sets their numbers in
// the frame and in the scan. A component without a table, or with the one
// before it, shares that.
func (d *decoder) oldTables(frame, scan []byte) (s []byte, err error) {
	table := func(tag uint16, i int, class byte, set func(id byte)) error {
		v := d.dir.tags[tag]
		at := v.at64(i)
		if at == 0 || i > 0 && at == v.at64(i-1) {
			if i == 0 {
				return bad(-1, "old JPEG without the tables of tag %d", tag)
			}
			return nil // set already
		}
		b := d.part(at, 0)
		n := 64
		if tag != tagJPEGQTables {
			if n = 16; len(b) >= n {
				for _, c := range b[:16] {
					n += int(c)
				}
			}
		}
		if len(b) < n {
			return bad(int(min(at, 1<<31-1)), "old JPEG: the file ends in the tables of tag %d", tag)
		}
		marker := byte(0xC4)
		if tag == tagJPEGQTables {
			marker = 0xDB
		}
		s = append(s, 0xFF, marker, byte((n+3)>>8), byte(n+3), class|byte(i))
		s = append(s, b[:n]...)
		for k := i; k < 3; k++ {
			set(byte(k))
		}
		return nil
	}
	for i := range 3 {
		for _, c := range []struct {
			tag   uint16
			class byte
			set   func(k byte)
		}{
			{tagJPEGQTables, 0, func(k byte) { frame[12+3*int(k)] = byte(i) }},
			{tagJPEGDCTables, 0, func(k byte) { p := &scan[6+2*int(k)]; *p = *p&15 | byte(i)<<4 }},
			{tagJPEGACTables, 0x10, func(k byte) { p := &scan[6+2*int(k)]; *p = *p&0xF0 | byte(i) }},
		} {
			if err := table(c.tag, i, c.class, c.set); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// decodeOld decodes an image of old JPEG.
func (d *decoder) decodeOld(dst *codec.Raster) error {
	h, old := &d.h, &d.old
	limits := d.o.Limits
	if err := limits.CheckSize(name, h.width, h.height, 6); err != nil {
		return err
	}
	if err := d.ycc.init(&d.dir); err != nil {
		return err
	}
	if old.jpeg == nil {
		j, ok := codec.NewFormatDecoder("jpeg").(sampleDecoder)
		if !ok {
			return unsupported("compression old JPEG: the program does not link package codec/jpeg")
		}
		old.jpeg = j
	}
	old.o = codec.Options{Damage: codec.DamageImread, Limits: limits}
	c, err := old.jpeg.OpenSamples(old.stream, &old.o)
	if err != nil {
		return err
	}
	if c.Mode != codec.RGB || c.Width < h.width || c.Height < h.height {
		return unsupported("old JPEG of %dx%d pixels in mode %v, want %dx%d", c.Width, c.Height, c.Mode, h.width, h.height)
	}
	if err := limits.CheckSize(name, c.Width, c.Height, 3); err != nil {
		return err
	}
	dst.Reset(codec.RGB, h.width, h.height)
	old.rows = oldRows{dst, &d.ycc}
	damaged, err := old.jpeg.DecodeRows(&old.rows, codec.Region{Width: h.width, Height: h.height})
	old.rows.dst = nil
	if err == nil && damaged != nil {
		// Pillow refuses it, or leaves some rows black.
		err = unsupported("damaged old JPEG: %v", damaged)
	}
	return err
}

// rowsOld decodes an image of old JPEG and passes the rows of a region to sink.
func (d *decoder) rowsOld(sink codec.RowSink, r codec.Region) error {
	b := &d.band
	if err := d.decodeOld(b); err != nil {
		return err
	}
	d.cut = d.cut[:0]
	for y := range r.Height {
		d.cut = append(d.cut, b.Pix[(r.Top+y)*b.Stride+3*r.Left:][:3*r.Width]...)
	}
	sink.Rows(r.Top, r.Height, d.cut)
	return nil
}
