// Package png decodes PNG for package codec; importing it registers the format.
//
// The pixels are those of Pillow 13.0.0's Image.open(f). This includes its
// modes, the reduction of 16-bit colour to the high byte, the numbering of
// transparent colours, and its tolerance. Checksums of image data are verified
// only under codec.DamageStrict. Data after the pixels may be missing. If the
// image data ends between two rows, the rest is black. As in Pillow, a
// compressed text or ICC profile of more than 1 MiB is codec.ErrLimit, and so
// are texts of more than 64 MiB together; an unknown compression method is
// codec.ErrFormat.
//
// Under codec.DamageImread and codec.DamageImdecode the file must be whole, and
// only optional chunks may have a wrong checksum, which removes them. The
// orientation is that of an eXIf chunk.
//
// An animated PNG decodes to its default image. The package does not use
// image/png, which turns colour keys into alpha and so loses the keys that
// Pillow compares.
package png

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
	"github.com/infer-prep/infer-prep/codec/internal/inflate"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

const (
	name  = "png"
	magic = "\x89PNG\r\n\x1a\n"
)

func init() {
	codec.Register(codec.Format{Name: name, Magic: []string{magic}, New: func() codec.FormatDecoder { return new(decoder) }})
}

// The colour types of IHDR.
const (
	gray      = 0
	rgb       = 2
	palette   = 3
	grayAlpha = 4
	rgba      = 6
)

type header struct {
	width, height     int
	depth, color      uint8
	interlaced        bool
	mode              codec.Mode
	plte, trns        []byte // contents of PLTE and tRNS, nil if missing
	hasTRNS           bool
	idat              int // offset of the first IDAT chunk
	frames            int // of acTL, 0 if missing
	seenFrame         bool
	exif, rawExif     []byte
	firstExif         []byte // of eXIf chunks, for libpng's users
	rounded           bool   // samples of 16 bits are rounded to 8, not cut
	stored            bool   // pixels are decoded as they are stored
	xmp               []byte
	textMemory        int64  // as Pillow counts it
	inflated          int64  // bytes of all compressed texts and profiles
	frameW, frameH    uint32 // of an fcTL chunk before the image data
	frameX, frameY    uint32
	sequence          int64 // number of the last fcTL or fdAT chunk, -1 if none
	seenIDAT, seenEnd bool
}

func (h *header) bitsPerPixel() int {
	n := [...]int{gray: 1, rgb: 3, palette: 1, grayAlpha: 2, rgba: 4}[h.color]
	return n * int(h.depth)
}

type decoder struct {
	h     header
	data  []byte         // of the open image
	o     *codec.Options // of the open image
	src   idatReader
	zr    inflate.Reader
	piece func() []byte // of src
	out   []byte        // a text
	rows  [2][]byte     // the current and the previous row
	band  codec.Raster  // of DecodeRows
}

// maxSide keeps the number of bits of a row within 32 bits.
const maxSide = 1 << 24

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

// minLength holds the shortest length of chunks that Pillow accepts.
var minLength = map[string]int{"IHDR": 13, "gAMA": 4, "cHRM": 32, "sRGB": 1, "pHYs": 9, "acTL": 8, "fcTL": 26}

// maxText bounds the inflated length of a compressed text or ICC profile, and
// maxTextMemory that of all texts: Pillow's MAX_TEXT_CHUNK and MAX_TEXT_MEMORY.
// maxRatio is the largest ratio of deflate.
const (
	maxText       = 1 << 20
	maxTextMemory = 64 * maxText
	maxRatio      = 1032
)

// parse reads all chunks except the image data.
func (d *decoder) parse(data []byte, damage codec.Damage) error {
	h := &d.h
	*h = header{rounded: damage == codec.DamageTorchCodec, sequence: -1}
	library := damage.Library()
	strict := damage == codec.DamageStrict || library
	p := len(magic)
	if len(data) < p || string(data[:p]) != magic {
		return bad(0, "not a PNG signature")
	}
	seenHeader := false
	for {
		if h.seenIDAT && damage == codec.DamageTorchCodec && (len(data)-p < 8 || string(data[p+4:p+8]) != "IDAT") {
			return nil // libpng reads no further
		}
		if h.seenIDAT && !strict && (len(data)-p < 8 || !chunkName(data[p+4:p+8])) {
			return nil // Pillow stops searching
		}
		if len(data)-p < 8 {
			return bad(p, "the file ends where a chunk is wanted")
		}
		id := data[p+4 : p+8]
		if !chunkName(data[p+4 : p+8]) {
			return bad(p, "chunk name %q", id)
		}
		n := binary.BigEndian.Uint32(data[p:])
		if string(id) == "IEND" {
			if !h.seenIDAT {
				return bad(p, "no image data")
			}
			h.seenEnd = true
			if strict && !checked(data, p, 0) {
				return bad(p, "IEND is damaged")
			}
			return nil
		}
		if string(id) == "fcTL" && h.seenIDAT && !strict && (h.frames > 1 || h.frames == 1 && !h.seenFrame) {
			return nil // Pillow reads neither the next frame nor metadata after it
		}
		if string(id) == "IDAT" && !h.seenIDAT {
			if !seenHeader && strict {
				return bad(p, "image data before IHDR")
			}
			if seenHeader { // else Pillow skips it
				h.seenIDAT, h.idat = true, p
			}
		}
		body := data[p+8:]
		if uint64(n) > uint64(len(body)) {
			// Without any of its data, Pillow always misses the data of a
			// chunk: as a part of the image or behind it.
			cut := string(id) == "IDAT" && !strict && len(body) > 0
			if cut && h.lastIDAT(data, p) {
				return nil // the decoder checks whether the data suffices
			}
			return bad(p, "chunk %s of %d bytes, %d are left", id, n, len(body))
		}
		body = body[:n]
		// Pillow verifies checksums before the image data.
		if (strict || !h.seenIDAT) && !checked(data, p, int(n)) {
			// OpenCV does not look at the checksum of acTL.
			if optional := id[0] >= 'a' && (string(id) != "acTL" || !damage.OpenCV()); !library || !optional || len(body) == len(data)-p-8 {
				return bad(p, "checksum of chunk %s", id)
			}
			p += int(n) + 12
			continue
		}
		if min, ok := minLength[string(id)]; ok && int(n) < min {
			return bad(p, "chunk %s of %d bytes, want %d", id, n, min)
		}
		if err := d.chunk(id, body, p); err != nil {
			return err
		}
		seenHeader = seenHeader || string(id) == "IHDR"
		if uint64(n)+12 > uint64(len(data)-p) {
			p = len(data)
		} else {
			p += int(n) + 12
		}
	}
}

// lastIDAT reports whether all chunks from the first IDAT to the one at p are
// IDAT. Only then may the file end within it.
func (h *header) lastIDAT(data []byte, p int) bool {
	for q := h.idat; q < p; {
		if string(data[q+4:q+8]) != "IDAT" {
			return false
		}
		q += 12 + int(binary.BigEndian.Uint32(data[q:]))
	}
	return true
}

func chunkName(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return true
}

// checked reports whether the checksum of the chunk at p with n bytes is
// correct.
func checked(data []byte, p, n int) bool {
	end := p + 8 + n
	return len(data)-end >= 4 && crc32.ChecksumIEEE(data[p+4:end]) == binary.BigEndian.Uint32(data[end:])
}

func (d *decoder) chunk(id []byte, b []byte, p int) error {
	h := &d.h
	be := binary.BigEndian
	switch string(id) {
	case "IHDR":
		return h.ihdr(b, p)
	case "PLTE":
		if h.mode == codec.P && !h.seenIDAT {
			h.plte = b
		}
	case "tRNS":
		if h.color == grayAlpha || h.color == rgba || h.width == 0 || h.seenIDAT && d.o.Damage.Library() {
			return nil
		}
		if want := [...]int{gray: 2, rgb: 6, palette: 0}[h.color]; len(b) < want {
			return bad(p, "tRNS of %d bytes, want %d", len(b), want)
		}
		if h.seenIDAT {
			return nil
		}
		h.trns, h.hasTRNS = b, true
	case "acTL":
		switch n := be.Uint32(b); {
		case h.seenIDAT:
		case h.frames > 0:
			h.frames = 0 // Pillow then takes none of them
		case n > 0 && n <= 0x80000000:
			h.frames = int(min(n, 1<<30))
		}
	case "fcTL":
		if h.seenIDAT && d.o.Damage.Library() {
			return nil
		}
		if n := int64(be.Uint32(b)); n != h.sequence+1 {
			return bad(p, "fcTL out of sequence")
		} else {
			h.sequence = n
		}
		w, ht, x, y := be.Uint32(b[4:]), be.Uint32(b[8:]), be.Uint32(b[12:]), be.Uint32(b[16:])
		if uint64(x)+uint64(w) > uint64(h.width) || uint64(y)+uint64(ht) > uint64(h.height) {
			return bad(p, "a frame outside the image")
		}
		if !h.seenIDAT {
			h.seenFrame, h.frameW, h.frameH, h.frameX, h.frameY = true, w, ht, x, y
		}
	case "fdAT":
		switch {
		case !h.seenIDAT:
			return codec.Errorf(name, int64(p), codec.ErrUnsupported, "an animation without a default image")
		case d.o.Damage.Library():
			return nil
		case len(b) < 4 || h.sequence < 0 || int64(be.Uint32(b)) != h.sequence+1:
			return bad(p, "fdAT out of sequence")
		}
		h.sequence++
	case "eXIf":
		h.exif = b
		// libpng drops blocks that begin otherwise, and further ones.
		if s := string(b[:min(2, len(b))]); h.firstExif == nil && (s == "II" || s == "MM") {
			h.firstExif = b
		}
	case "tEXt", "zTXt", "iTXt", "iCCP":
		switch {
		case d.o.Damage.Library(): // libpng drops what exceeds its limits
		case string(id) == "iCCP":
			return d.profile(b, p)
		default:
			return d.text(string(id), b, p)
		}
	}
	return nil
}

func (h *header) ihdr(b []byte, p int) error {
	w, ht := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	h.depth, h.color, h.interlaced = b[8], b[9], b[12] != 0
	if b[11] != 0 {
		return bad(p, "filter method %d, want 0", b[11])
	}
	switch d := h.depth; {
	case h.color == gray && (d == 1 || d == 2 || d == 4 || d == 8):
		h.mode = codec.L
	case h.color == gray && d == 16 && h.rounded:
		h.mode = codec.L
	case h.color == gray && d == 16:
		h.mode = codec.I16
	case h.color == rgb && (d == 8 || d == 16):
		h.mode = codec.RGB
	case h.color == palette && (d == 1 || d == 2 || d == 4 || d == 8):
		h.mode = codec.P
	case h.color == grayAlpha && d == 8:
		h.mode = codec.LA
	case h.color == rgba && (d == 8 || d == 16), h.color == grayAlpha && d == 16: // Pillow has no 16-bit LA
		h.mode = codec.RGBA
	default:
		return bad(p, "colour type %d with %d bits", h.color, d)
	}
	if w == 0 || ht == 0 {
		return bad(p, "%dx%d pixels, want at least 1x1", w, ht)
	}
	if w > maxSide || ht > maxSide {
		return codec.Errorf(name, int64(p), codec.ErrLimit, "%dx%d pixels, a side has at most %d", w, ht, maxSide)
	}
	h.width, h.height = int(w), int(ht)
	return nil
}

// text reads the metadata in text chunks: XMP, and ImageMagick's EXIF. It
// refuses the texts that Pillow refuses.
func (d *decoder) text(id string, b []byte, p int) error {
	h := &d.h
	key, v, _ := bytes.Cut(b, []byte{0})
	length := len(v) // in Pillow's text memory
	inflated := id == "zTXt"
	switch id {
	case "zTXt":
		if len(v) > 0 {
			if v[0] != 0 {
				return bad(p, "zTXt with compression method %d, want 0", v[0])
			}
			v = v[1:]
		}
		var err error
		if v, err = d.inflate(v, p); err != nil {
			return err
		}
		length = len(v) // 0 if damaged
	case "iTXt":
		if len(v) < 2 || (v[0] != 0 && v[1] != 0) {
			return nil
		}
		parts := bytes.SplitN(v[2:], []byte{0}, 3)
		if len(parts) < 3 {
			return nil
		}
		inflated = v[0] != 0
		v = parts[2]
		if inflated {
			var err error
			if v, err = d.inflate(v, p); v == nil || err != nil {
				return err
			}
		}
		length = 0
		if utf8.Valid(v) && utf8.Valid(parts[0]) && utf8.Valid(parts[1]) {
			length = utf8.RuneCount(v)
		}
	}
	if len(key) > 0 {
		if h.textMemory += int64(length); h.textMemory > maxTextMemory {
			return codec.Errorf(name, int64(p), codec.ErrLimit, "texts of more than %d bytes", maxTextMemory)
		}
	}
	keep := func() []byte {
		if inflated {
			return bytes.Clone(v)
		}
		return v
	}
	switch string(key) {
	case "XML:com.adobe.xmp":
		h.xmp = keep()
	case "Raw profile type exif":
		h.rawExif = keep()
	case "exif":
		if id == "tEXt" {
			h.exif = v
		}
	}
	return nil
}

// profile checks an ICC profile, which is not used.
func (d *decoder) profile(b []byte, p int) error {
	// Without a zero Pillow takes the first byte for the method.
	at := bytes.IndexByte(b, 0) + 1
	if at >= len(b) {
		return bad(p, "iCCP of %d bytes without a compression method", len(b))
	}
	if b[at] != 0 {
		return bad(p, "iCCP with compression method %d, want 0", b[at])
	}
	if len(b)-at <= maxText/maxRatio {
		return nil
	}
	_, err := d.inflate(b[at+1:], p)
	return err
}

// inflate returns a compressed text, valid until the next call, or nil if it is
// damaged. A text that ends too early is not damaged to Pillow.
func (d *decoder) inflate(v []byte, p int) ([]byte, error) {
	d.zr.Reset(inflate.Piece(v))
	out := d.out[:0]
	var err error
	for n := 0; err == nil && len(out) <= maxText; out = out[:len(out)+n] {
		out = slices.Grow(out, min(512, maxText+1-len(out)))
		n, err = d.zr.Read(out[len(out):min(cap(out), maxText+1)])
	}
	d.out = out
	if len(out) > maxText {
		return nil, codec.Errorf(name, int64(p), codec.ErrLimit, "a compressed text or profile of more than %d bytes", maxText)
	}
	// Pillow has no limit for all profiles together, and none for texts that
	// are not UTF-8. This one bounds the time.
	if d.h.inflated += int64(len(out)); d.h.inflated > maxTextMemory {
		return nil, codec.Errorf(name, int64(p), codec.ErrLimit, "compressed texts and profiles of more than %d bytes", maxTextMemory)
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nil
	}
	if out == nil {
		out = []byte{}
	}
	return out, nil
}

func (h *header) orientation(damage codec.Damage) int {
	switch {
	case damage.OpenCV():
		return exif.OpenCV(h.firstExif)
	case damage == codec.DamageTorchCodec:
		return exif.TorchCodec(h.firstExif)
	}
	block := h.exif
	if block == nil && h.rawExif != nil {
		// "\n<name>\n<length>\n<hex>"
		if lines := bytes.SplitN(h.rawExif, []byte("\n"), 4); len(lines) == 4 {
			if raw, ok := unhex(bytes.Clone(lines[3])); ok {
				block = raw
			}
		}
	}
	o, found := exif.Orientation(block)
	if !found && h.xmp != nil {
		return exif.XMPOrientation(h.xmp)
	}
	return o
}

// unhex decodes pairs of hexadecimal digits in place, without the white space.
// Packages encoding/hex and strconv would link fmt and numbers' errors.
func unhex(b []byte) (_ []byte, ok bool) {
	n := 0
	for _, c := range b {
		if c != ' ' && (c < '\t' || c > '\r') {
			b[n] = c
			n++
		}
	}
	b = b[:n]
	for i := 0; i+1 < len(b); i += 2 {
		high, low := hexDigit(b[i]), hexDigit(b[i+1])
		if high < 0 || low < 0 {
			return nil, false
		}
		b[i/2] = byte(high<<4 | low)
	}
	return b[:len(b)/2], len(b)%2 == 0
}

// hexDigit returns the value of a hexadecimal digit, -1 for any other byte.
func hexDigit(c byte) int {
	i := strings.IndexByte("0123456789abcdefABCDEF", c)
	if i > 15 {
		i -= 6
	}
	return i
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	h := &d.h
	d.data, d.o = data, o
	if err := d.parse(data, o.Damage); err != nil {
		return codec.Config{}, err
	}
	if o.Damage.Library() {
		switch {
		case h.frames > 1 && o.Damage.OpenCV():
			return codec.Config{}, codec.Errorf(name, -1, codec.ErrUnsupported, "an animation, whose first frame OpenCV composes")
		case string(data[12:16]) != "IHDR" || data[26] != 0 || data[28] > 1:
			return codec.Config{}, bad(8, "IHDR is not first, or has unknown methods")
		case h.mode == codec.P && h.plte == nil:
			return codec.Config{}, bad(-1, "a palette image without a palette")
		}
	}
	c := codec.Config{
		Format: name, Width: h.width, Height: h.height, Mode: h.mode, Depth: int(h.depth),
		Orientation: h.orientation(o.Damage), Frames: max(1, h.frames), Variant: "plain",
		HasAlpha: h.hasTRNS || h.mode == codec.LA || h.mode == codec.RGBA,
	}
	if h.frames > 0 && !h.seenFrame {
		c.Frames++ // the default image is not part of the animation
	}
	if h.interlaced {
		c.Variant = "interlaced"
	}
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	strict, err := d.begin()
	if err != nil {
		return err
	}
	h := &d.h
	dst.Reset(h.mode, h.width, h.height)
	if err := h.setColors(dst); err != nil {
		return err
	}
	return d.pixels(dst, strict, nil)
}

// begin checks the limits and prepares the image data.
func (d *decoder) begin() (strict bool, err error) {
	h, data, o := &d.h, d.data, d.o
	d.data, d.o = nil, nil
	strict = o.Damage == codec.DamageStrict || o.Damage.Library()
	if err := o.Limits.CheckSize(name, h.width, h.height, h.mode.Size()); err != nil {
		return false, err
	}
	if h.seenFrame && (int(h.frameW) != h.width || int(h.frameH) != h.height) {
		return false, codec.Errorf(name, -1, codec.ErrUnsupported, "a first frame of %dx%d in a canvas of %dx%d pixels",
			h.frameW, h.frameH, h.width, h.height)
	}
	d.src = idatReader{data: data, next: h.idat}
	if d.piece == nil {
		d.piece = d.src.piece
	}
	d.zr.Reset(d.piece)
	n := (h.width*h.bitsPerPixel() + 7) / 8
	for i := range d.rows {
		if cap(d.rows[i]) < n {
			d.rows[i] = make([]byte, n)
		}
	}
	return strict, nil
}

// The passes of an interlaced image. A plain image has one pass.
var passes = [...]struct{ x, y, dx, dy int }{
	{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
}

// pixels decodes the image into dst or, if done is not nil, passes its rows to
// done as they are stored. The image is plain then.
func (d *decoder) pixels(dst *codec.Raster, strict bool, done func(y int, row []byte)) error {
	h := &d.h
	list := passes[:]
	if !h.interlaced {
		list = plain[:]
	}
	bits, size := h.bitsPerPixel(), h.mode.Size()
	bpp := (bits + 7) / 8
	if partial && h.stored {
		size = bpp
	}
	direct := h.depth == 8 && !h.interlaced && (!partial || done == nil) // rows are those of dst
	first, ended := true, false
	for _, p := range list {
		w := (h.width - p.x + p.dx - 1) / p.dx
		if w <= 0 {
			continue
		}
		n := (w*bits + 7) / 8
		cur, prev := d.rows[0][:n], d.rows[1][:n]
		clear(prev)
		for y := p.y; y < h.height; y += p.dy {
			var row []byte
			if !ended {
				var err error
				row, err = d.zr.Next(n + 1)
				// If the stream ends between two rows, the rest is black.
				ended = err == io.EOF && len(row) == 0 && !first && !strict
				if err != nil && !ended {
					return d.damaged(err, y)
				}
			}
			var at []byte
			if !partial || done == nil {
				at = dst.Pix[y*dst.Stride+p.x*size:]
			}
			if direct {
				cur = at[:n]
			}
			if ended {
				clear(cur)
			} else if !kernel.PNGUnfilter(cur, row[1:], prev, row[0], bpp) {
				return bad(d.src.offset(), "row %d has filter %d, want at most 4", y, row[0])
			}
			first = false
			if direct {
				prev = cur
				continue
			}
			switch {
			case partial && done != nil:
				done(y, cur)
			case partial && h.stored:
				for i := range w {
					copy(at[i*p.dx*size:][:size], cur[i*size:])
				}
			default:
				h.unpack(at, cur, w, p.dx, ended)
			}
			cur, prev = prev, cur
		}
	}
	if ended {
		return nil
	}
	// Excess rows are ignored.
	more, err := d.zr.Next(1)
	switch {
	case strict && err != io.EOF:
		return bad(d.src.offset(), "the compressed data does not end with the image")
	case len(more) == 0 && err == io.ErrUnexpectedEOF:
		if ends, last := d.fed(); last == len(ends) {
			return bad(d.src.offset(), "the image data ends with the image, and Pillow wants more")
		}
	case len(more) == 0 && err != io.EOF && err != inflate.ErrDistance && d.meets():
		return d.damaged(err, h.height)
	}
	return nil
}

// size returns the number of bytes of the rows with their filters, and of the
// last row.
func (h *header) size() (n, last int64) {
	list := passes[:]
	if !h.interlaced {
		list = plain[:]
	}
	for _, p := range list {
		if w := (h.width - p.x + p.dx - 1) / p.dx; w > 0 && h.height > p.y {
			last = int64(1 + (w*h.bitsPerPixel()+7)/8)
			n += last * int64((h.height-p.y+p.dy-1)/p.dy)
		}
	}
	return n, last
}

// fed counts the image data in the pieces that Pillow passes on: one chunk at a
// time, or 64 KiB of it. It returns where each piece ends, counted from the
// start of the data, and the number of the piece that completes the image,
// len(ends) if that would be one more.
func (d *decoder) fed() (ends []int, last int) {
	src := idatReader{data: d.src.data, next: d.h.idat}
	all := 0
	for b := src.piece(); b != nil; b = src.piece() {
		for from := 0; from < len(b); from += pillowRead {
			all += min(pillowRead, len(b)-from)
			ends = append(ends, all)
		}
	}
	first := func(n int64) int { // the first piece with which there are n bytes
		return sort.Search(len(ends)-1, func(i int) bool { return d.has(ends[i], n) })
	}
	n, row := d.h.size()
	// zlib decodes a row only while there is input. With a row it also takes
	// the code of the byte behind it.
	i := first(n - row + 1)
	if !d.has(ends[i]-1, n-row+1) {
		i++
	}
	return ends, max(i, first(n))
}

// has reports whether the first k bytes of the image data give n bytes, after
// which the decoder stands.
func (d *decoder) has(k int, n int64) bool {
	src := idatReader{data: d.src.data, next: d.h.idat}
	d.zr.Reset(func() []byte {
		b := src.piece()
		b = b[:min(len(b), k)]
		if k -= len(b); len(b) == 0 {
			return nil
		}
		return b
	})
	for n > 0 {
		b, err := d.zr.Next(int(min(n, 1<<15)))
		if n -= int64(len(b)); err != nil && n > 0 {
			return false
		}
	}
	return true
}

// meets reports whether Pillow meets the damage behind the image. It stops with
// the piece that completes the image, and so sees a wrong checksum only if that
// piece holds all of it.
func (d *decoder) meets() bool {
	ends, last := d.fed()
	if len(ends) == 1 {
		return true
	}
	n, _ := d.h.size()
	d.has(ends[min(last, len(ends)-1)], n)
	more, err := d.zr.Next(1)
	return len(more) == 0 && err != io.EOF && err != io.ErrUnexpectedEOF
}

// pillowRead is the number of bytes that Pillow reads at once
// (ImageFile.MAXBLOCK).
const pillowRead = 1 << 16

var plain = [1]struct{ x, y, dx, dy int }{{0, 0, 1, 1}}

func (d *decoder) damaged(err error, row int) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return bad(d.src.offset(), "the image data ends at row %d of %d", row, d.h.height)
	}
	return bad(d.src.offset(), "row %d: %v", row, err)
}

// round16 returns the 16-bit sample of b in 8 bits, as libpng's
// png_set_scale_16.
func round16(b []byte) uint8 {
	return uint8(((uint32(b[0])<<8|uint32(b[1]))*255 + 32895) >> 16)
}

// unpack writes w pixels of a row to dst, dx pixels apart. black selects zero
// bytes.
func (h *header) unpack(dst, row []byte, w, dx int, black bool) {
	size := h.mode.Size()
	if black {
		for i := range w {
			clear(dst[i*dx*size:][:size])
		}
		return
	}
	step := dx * size
	switch {
	case h.depth < 8:
		scale := uint8(1)
		if h.color == gray {
			scale = 255 / (1<<h.depth - 1)
		}
		mask := uint8(1)<<h.depth - 1
		for i, bit := 0, 0; i < w; i, bit = i+1, bit+int(h.depth) {
			dst[i*step] = row[bit/8] >> (8 - int(h.depth) - bit%8) & mask * scale
		}
	case h.depth == 8 && dx == 1:
		copy(dst, row)
	case h.depth == 8:
		for i := range w {
			copy(dst[i*step:][:size], row[i*size:])
		}
	case h.rounded:
		n := h.bitsPerPixel() / 8
		for i := range w {
			p, q := dst[i*step:][:size], row[i*n:][:n]
			for j := range p {
				if h.color == grayAlpha { // gray thrice, then alpha
					p[j] = round16(q[j/3*2:])
				} else {
					p[j] = round16(q[2*j:])
				}
			}
		}
	default:
		n, r := h.bitsPerPixel()/8, narrow[h.color]
		if dx == 1 {
			r.Row(dst[:w*size], row[:w*n])
			return
		}
		for i := range w {
			r.Row(dst[i*step:][:size], row[i*n:][:n])
		}
	}
}

// narrow turns samples of 16 bits to little-endian, if they are gray alone, or
// takes their high bytes.
var narrow = [...]*kernel.Rearranger{
	gray:      kernel.NewRearranger(2, 1, 0),
	grayAlpha: kernel.NewRearranger(4, 0, 0, 0, 2),
	rgb:       kernel.NewRearranger(6, 0, 2, 4),
	rgba:      kernel.NewRearranger(8, 0, 2, 4, 6),
}

// setColors sets the palette and the transparent colours with Pillow's
// numbering.
func (h *header) setColors(dst *codec.Raster) error {
	if h.mode == codec.P {
		if h.plte == nil && h.hasTRNS && onlyTransparent(h.trns) >= 0 {
			return bad(-1, "transparency of a palette that is missing")
		}
		if len(h.plte)/3 > 256 {
			return bad(-1, "a palette of %d colours, want at most 256", len(h.plte)/3)
		}
		for i := range dst.Palette {
			dst.Palette[i] = [4]uint8{3: 255} // black if the file has no entry
			if 3*i+2 < len(h.plte) {
				copy(dst.Palette[i][:], h.plte[3*i:3*i+3])
			}
		}
	}
	if !h.hasTRNS {
		return nil
	}
	t := h.trns
	switch {
	case h.mode == codec.P:
		for i, a := range t[:min(len(t), 256)] {
			dst.Palette[i][3] = a
		}
		if i := onlyTransparent(t); i >= 0 && i < 256 {
			for j := range dst.Palette {
				if j != i {
					dst.Palette[j][3] = 255
				}
			}
			dst.KeyRGB, dst.HasKeyRGB = [3]uint8(dst.Palette[i][:3]), true
		}
		return nil
	case h.color == rgb:
		// Pillow compares 8-bit samples with the low bytes of the key, even of
		// 16-bit keys.
		dst.Key = [3]uint8{t[1], t[3], t[5]}
		dst.KeyRGB = dst.Key
	case h.depth == 1:
		// After convert("RGB"), Pillow takes the number for red, with green and
		// blue 0.
		if t[0]|t[1] != 0 {
			dst.Key[0] = 255
		} else {
			dst.Key[0] = 0
		}
		dst.KeyRGB = [3]uint8{dst.Key[0], 0, 0}
	case h.depth == 16:
		dst.Key[0] = t[1]
		dst.KeyRGB = [3]uint8{t[1], 0, 0}
	default:
		// Pillow does not scale the key with 2 and 4-bit samples;
		// convert("RGB") clips it.
		dst.Key[0] = t[1]
		v := t[1]
		if t[0] != 0 {
			v = 255
		}
		dst.KeyRGB = [3]uint8{v, v, v}
	}
	dst.HasKey, dst.HasKeyRGB = true, true
	return nil
}

// onlyTransparent returns the index of the only entry of 0 in a tRNS whose
// other entries are 255, else -1. Pillow finds it with a regular expression
// whose $ also matches before a final newline (alpha 10).
func onlyTransparent(t []byte) int {
	at := -1
	for i, a := range t {
		switch {
		case a == 0 && at < 0:
			at = i
		case a == '\n' && i == len(t)-1 && at >= 0:
		case a != 255:
			return -1
		}
	}
	return at
}

// idatReader reads the bodies of consecutive IDAT chunks.
type idatReader struct {
	data []byte
	next int // offset of the next chunk's header
}

func (r *idatReader) offset() int { return r.next }

// piece returns the next body that is not empty, nil after the last one.
func (r *idatReader) piece() []byte {
	for r.next <= len(r.data)-8 && string(r.data[r.next+4:r.next+8]) == "IDAT" {
		n := uint64(binary.BigEndian.Uint32(r.data[r.next:]))
		rest := r.data[r.next+8:]
		body := rest[:min(n, uint64(len(rest)))]
		if n+12 > uint64(len(r.data)-r.next) {
			r.next = len(r.data)
		} else {
			r.next += int(n) + 12
		}
		if len(body) > 0 {
			return body
		}
	}
	return nil
}
