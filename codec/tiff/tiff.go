// Package tiff decodes the first image of a TIFF for package codec; importing
// it registers the format.
//
// It decodes gray of 1, 2, 4, 8 and 16 bits, palettes of 1 to 8 bits, and RGB
// and CMYK of 8 and 16 bits, with or without alpha. Associated alpha is divided
// out. Images are stored in strips or tiles, with or without separate planes,
// in TIFF or little-endian BigTIFF. Compressions are none, PackBits, LZW (also
// in TIFF 5.0's order of bits), Deflate, CCITT RLE, G3 and G4; the horizontal
// predictor is supported. Damaged CCITT data is decoded as libtiff 4.7.2 does;
// where that leaves rows undefined, it is codec.ErrUnsupported. 32-bit
// and signed gray integers are clipped to codec.I16. Other files that Pillow
// 13.0.0 reads (JPEG, Zstandard, YCbCr, Lab, floating point, …) are
// codec.ErrUnsupported, by name.
//
// The pixels are those of Pillow's Image.open(f), which applies the orientation
// tag (see codec.Config.AutoOrient).
package tiff

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/infer-prep/infer-prep/codec"
)

const name = "tiff"

func init() {
	codec.Register(codec.Format{
		Name: name,
		// The last one is BigTIFF. Pillow does not know big-endian BigTIFF.
		Magic: []string{"II*\x00", "MM\x00*", "II+\x00"},
		New:   func() codec.FormatDecoder { return new(decoder) },
	})
}

// magicCR2 starts Canon's raw files, whose first image is a JPEG.
const magicCR2 = "II*\x00\x10\x00\x00\x00CR\x02"

// maxSide keeps the number of bits of a row within 32 bits.
const maxSide = 1 << 24

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

func unsupported(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrUnsupported, msg, args...)
}

// Compression's values.
const (
	none       = 1
	ccittRLE   = 2
	ccittG3    = 3
	ccittG4    = 4
	lzwPacked  = 5
	deflate    = 8
	deflateOld = 32946
	packBits   = 32773
)

var compressionNames = map[uint32]string{
	6: "old JPEG", 7: "JPEG", 32771: "16-bit aligned RLE", 32809: "ThunderScan", 34676: "SGI log",
	34677: "SGI log 24", 34925: "LZMA", 50000: "Zstandard", 50001: "WebP", 50002: "JPEG XL",
}

// header holds the directory's description of the pixels.
type header struct {
	width, height int
	compression   uint32
	mode          codec.Mode
	bits          int // per sample
	samples       int // per pixel, in the file
	planes        int // 1, or samples for separate planes
	apart         bool
	signed        bool
	paletteAlpha  bool // index and alpha, converted to RGBA
	invert        bool
	reverse       bool // least significant bit first
	associated    bool // colours are multiplied by alpha
	bigEndian     bool
	predictor     bool
	twoD          bool // CCITT G3 with two-dimensional rows
	oldLZW        bool // LZW in the order of bits of TIFF 5.0
	tiled         bool
	blockW        int
	blockH        int
	across, down  int
	offsets       values
	counts        values
	room          int64 // the size of every block if counts is missing
}

type decoder struct {
	dir   directory
	h     header
	data  []byte         // of the open image
	o     *codec.Options // of the open image
	block []byte         // one decompressed strip or tile
	in    []byte         // one strip's or tile's compressed bytes with reversed bits
	zr    io.ReadCloser
	fax   fax
	lzw   *lzw
	one   [1]byte
}

func (d *decoder) parse(data []byte) error {
	if err := d.dir.parse(data); err != nil {
		return err
	}
	if err := d.dir.checkTypes(); err != nil {
		return err
	}
	t, h := &d.dir, &d.h
	*h = header{bigEndian: data[0] == 'M'}
	w, ht := t.tags[tagWidth], t.tags[tagHeight]
	if w.len() == 0 || ht.len() == 0 {
		return bad(-1, "no width or no height")
	}
	if w.at(0, 0) == 0 || ht.at(0, 0) == 0 {
		return bad(-1, "%dx%d pixels, want at least 1x1", w.at(0, 0), ht.at(0, 0))
	}
	if w.at(0, 0) > maxSide || ht.at(0, 0) > maxSide {
		return codec.Errorf(name, -1, codec.ErrLimit, "%dx%d pixels, a side has at most %d", w.at(0, 0), ht.at(0, 0), maxSide)
	}
	h.width, h.height = int(w.at(0, 0)), int(ht.at(0, 0))

	h.compression = t.get(tagCompression, none)
	switch h.compression {
	case none, ccittRLE, ccittG3, ccittG4, lzwPacked, deflate, deflateOld, packBits:
	default:
		n := compressionNames[h.compression]
		if n == "" {
			n = fmt.Sprint(h.compression)
		}
		return unsupported("compression %s", n)
	}
	if err := h.setMode(t); err != nil {
		return err
	}
	return h.setBlocks(t)
}

// setMode selects the mode of Pillow's OPEN_INFO table.
func (h *header) setMode(t *directory) error {
	photo := t.get(tagPhotometric, 0)
	switch fill := t.get(tagFillOrder, 1); fill {
	case 1, 2:
		h.reverse = fill == 2
	default:
		return bad(-1, "fill order %d, want 1 or 2", fill)
	}
	formats := t.tags[tagSampleFormat]
	format := formats.at(0, 1)
	for i := range formats.len() {
		if formats.at(i, 1) != format {
			return unsupported("samples of several formats")
		}
	}
	bitsTag, extras := t.tags[tagBits], t.tags[tagExtraSamples]
	h.bits = int(bitsTag.at(0, 1))
	h.samples = int(min(t.get(tagSamplesPerPixel, 1), 1<<16))
	nBits, nExtra := max(1, bitsTag.len()), extras.len()
	var kinds [6]uint32
	if nExtra > len(kinds) || h.samples < 1 || h.samples > len(kinds) {
		return unsupported("%d samples per pixel", h.samples)
	}
	unspecified := nExtra > 0
	for i := range nExtra {
		kinds[i] = extras.at(i, 0)
		unspecified = unspecified && kinds[i] == 0
	}
	planar := t.get(tagPlanar, 1)
	if planar != 1 && planar != 2 && h.compression != none { // Pillow takes others for 1
		return bad(-1, "planar configuration %d, want 1 or 2", planar)
	}
	apart := planar == 2
	h.apart = apart
	if apart && unspecified {
		// Planes without a known meaning are ignored.
		h.samples -= nExtra
		nBits = max(1, nBits-nExtra)
		nExtra = 0
	}
	if h.samples < 1 || h.samples > nBits && nBits != 1 {
		return bad(-1, "bits of %d samples for %d samples per pixel", nBits, h.samples)
	}
	for i := range min(nBits, h.samples) {
		if int(bitsTag.at(i, 1)) != h.bits {
			return unsupported("samples of %d and of %d bits", h.bits, bitsTag.at(i, 1))
		}
	}
	base := map[uint32]int{0: 1, 1: 1, 2: 3, 3: 1, 5: 4}[photo]
	if base == 0 {
		return unsupported("photometric interpretation %d", photo)
	}
	// Alpha is the first extra sample; later ones are ignored.
	alpha := uint32(0)
	if nExtra > 0 {
		alpha = kinds[0]
		for _, k := range kinds[1:nExtra] {
			if k != 0 {
				return unsupported("several extra samples with a meaning")
			}
		}
	}
	if photo == 2 && nExtra == 0 && h.samples == 4 {
		alpha, nExtra = 2, 1 // the file lacks ExtraSamples
		if apart && h.compression != none {
			return unsupported("compressed planes of RGBA without ExtraSamples")
		}
	}
	if alpha == 999 && photo == 2 && h.bits == 8 && nExtra == 1 {
		alpha = 2 // Corel Draw 10
	}
	if h.samples != base+nExtra || alpha > 2 {
		return unsupported("%d samples per pixel, %d of them extra, photometric interpretation %d", h.samples, nExtra, photo)
	}
	h.signed = format == 2
	if format != 1 && !(h.signed && photo == 1 && h.samples == 1 && (h.bits == 8 || h.bits == 16 || h.bits == 32) && !h.reverse) {
		return unsupported("sample format %d with %d bits", format, h.bits)
	}
	ok := false
	switch h.bits {
	case 1, 2, 4:
		ok = h.samples == 1 && photo != 5
	case 8:
		ok = !h.reverse || h.samples == base && photo != 5
	case 32:
		ok = photo == 1 && h.samples == 1 && !h.reverse && (h.signed || !h.bigEndian)
	case 16:
		switch photo {
		case 0: // not inverted in Pillow
			ok = h.samples == 1 && !h.reverse && !h.bigEndian
		case 1:
			ok = h.samples == 1 && !(h.reverse && h.bigEndian)
		case 2:
			ok = h.samples <= 4 && !h.reverse
		case 5:
			ok = h.samples == 4 && !h.reverse
		}
	}
	if !ok {
		return unsupported("%d samples of %d bits, fill order %d, photometric interpretation %d",
			h.samples, h.bits, t.get(tagFillOrder, 1), photo)
	}
	switch photo {
	case 0, 1:
		h.mode, h.invert = codec.L, photo == 0 && h.bits < 16
		if h.bits >= 16 {
			h.mode = codec.I16
		}
		if h.samples > 1 && photo == 0 {
			return unsupported("extra samples of white-is-zero gray")
		}
		if alpha == 2 {
			h.mode = codec.LA
		}
	case 2:
		h.mode = codec.RGB
		if alpha != 0 {
			h.mode, h.associated = codec.RGBA, alpha == 1
		}
	case 3:
		h.mode = codec.P
		if t.tags[tagColorMap].len() == 0 {
			return bad(-1, "a palette image without a palette")
		}
		if alpha == 2 && nExtra == 1 && h.bits == 8 {
			h.mode, h.paletteAlpha = codec.RGBA, true
		}
	case 5:
		h.mode = codec.CMYK
	}
	if (photo == 1 || photo == 5) && alpha == 1 || photo == 3 && alpha != 0 && !h.paletteAlpha || photo == 5 && alpha != 0 {
		return unsupported("alpha with photometric interpretation %d", photo)
	}
	h.planes = 1
	switch {
	case apart && h.samples > 1:
		deep := h.bits == 16 && h.compression != none && (h.mode == codec.RGB || h.mode == codec.RGBA)
		if h.bits != 8 && !deep || h.associated || h.paletteAlpha || h.mode == codec.LA || h.mode == codec.L || h.mode == codec.P {
			return unsupported("planes apart with mode %v of %d bits", h.mode, h.bits)
		}
		h.planes = h.samples
	case apart && h.compression == none:
		// Pillow then ignores the order of bits and the photometric
		// interpretation.
		if h.bits != 1 && h.bits != 8 {
			return unsupported("a plane apart of %d bits", h.bits)
		}
		h.invert, h.reverse = false, false
	}
	return nil
}

// setBlocks sets the strips or tiles.
func (h *header) setBlocks(t *directory) error {
	if t.hidden && h.compression != none {
		return unsupported("a compressed image whose directory has an empty tag or values behind the file's end")
	}
	switch p := t.single(tagPredictor, 1); {
	case p == 1 || h.compression != lzwPacked && h.compression != deflate && h.compression != deflateOld:
	case p == 2 && (h.bits == 8 || h.bits == 16 || h.bits == 32):
		h.predictor = true
	default:
		return unsupported("predictor %d with %d bits", p, h.bits)
	}
	if h.compression == ccittRLE || h.compression == ccittG3 || h.compression == ccittG4 {
		if h.bits != 1 || h.samples != 1 {
			return bad(-1, "CCITT compression of %d samples of %d bits", h.samples, h.bits)
		}
		h.twoD = t.single(tagT4Options, 0)&1 != 0
	}
	if err := h.setLayout(t); err != nil {
		return err
	}
	if h.tiled && h.blockW*h.bits*h.samples/h.planes%8 != 0 {
		return unsupported("tiles whose rows are no whole bytes")
	}
	h.across, h.down = (h.width+h.blockW-1)/h.blockW, (h.height+h.blockH-1)/h.blockH
	n := int64(h.across) * int64(h.down) * int64(h.planes)
	have := int64(h.offsets.len())
	if h.compression != none {
		if have < n {
			return bad(-1, "offsets of %d strips or tiles, want %d", have, n)
		}
		return h.setCounts(t, n)
	}
	switch {
	case have > n && h.apart:
		return bad(-1, "offsets of %d strips or tiles, want %d", have, n)
	case have > 1 && h.blockW == h.width && h.blockH == h.height && !h.apart &&
		(h.tiled || t.get(tagRowsPerStrip, uint32(h.height)) == uint32(h.height)):
		h.offsets.data = h.offsets.data[(int(have)-1)*h.offsets.size:] // Pillow uses the last one
	case have > n:
		// Pillow reads them all in the order of their offsets. The last one of
		// each place remains.
		last := make([]int, n)
		for i := range last {
			last[i] = i
		}
		for i := int(n); i < int(have); i++ {
			if k := i % int(n); h.offsets.at64(i) >= h.offsets.at64(last[k]) {
				last[k] = i
			}
		}
		data := make([]byte, 0, int(n)*h.offsets.size)
		for _, i := range last {
			data = append(data, h.offsets.data[i*h.offsets.size:][:h.offsets.size]...)
		}
		h.offsets.data = data
	}
	return nil
}

// setLayout sets the size of the strips or tiles and the offsets. For
// compressed images, which libtiff reads, the tags of a tile's size say whether
// there are tiles; offsets and sizes may stand in the tags of strips or of
// tiles. Pillow reads others by the tag of the offsets.
func (h *header) setLayout(t *directory) error {
	h.offsets, h.counts = t.tags[tagStripOffsets], t.tags[tagStripCounts]
	h.blockW, h.blockH = h.width, int(min(t.get(tagRowsPerStrip, uint32(h.height)), uint32(h.height)))
	h.tiled = h.offsets.len() == 0
	if h.compression != none {
		for _, tag := range [...]uint16{tagSamplesPerPixel, tagRowsPerStrip, tagPlanar, tagTileWidth, tagTileHeight} {
			if n := t.tags[tag].len(); n > 1 {
				return bad(-1, "tag %d with %d values, want 1", tag, n)
			}
		}
		h.tiled = t.tags[tagTileWidth].len() > 0 || t.tags[tagTileHeight].len() > 0
		if v := t.tags[tagTileOffsets]; v.len() > 0 {
			h.offsets = v
		}
		if v := t.tags[tagTileCounts]; v.len() > 0 {
			h.counts = v
		}
	} else if h.tiled {
		h.offsets = t.tags[tagTileOffsets]
	}
	if h.offsets.len() == 0 {
		return bad(-1, "neither strips nor tiles")
	}
	if h.tiled {
		tw, th := t.get(tagTileWidth, 0), t.get(tagTileHeight, 0)
		if tw > 1<<20 || th > 1<<20 {
			return codec.Errorf(name, -1, codec.ErrLimit, "tiles of %dx%d pixels, a side has at most %d", tw, th, 1<<20)
		}
		h.blockW, h.blockH = int(tw), int(th)
	}
	if h.blockW == 0 || h.blockH == 0 {
		return bad(-1, "strips or tiles of %dx%d pixels", h.blockW, h.blockH)
	}
	return nil
}

// setCounts checks the sizes of n compressed strips or tiles. Like libtiff it
// estimates missing ones if there is one block in a plane, and a zero if there
// is one strip.
func (h *header) setCounts(t *directory, n int64) error {
	have := int64(h.counts.len())
	switch {
	case have >= n && have != int64(h.offsets.len()):
		return unsupported("sizes of %d strips or tiles and offsets of %d", have, h.offsets.len())
	case have == 0 && (n == 1 || h.planes > 1 && n == int64(h.planes)):
	case n == 1 && !h.tiled && h.counts.at64(0) == 0 && h.offsets.at64(0) != 0:
	case have < n:
		return bad(-1, "sizes of %d strips or tiles, want %d", have, n)
	default:
		return nil
	}
	if t.odd {
		return bad(-1, "no sizes of strips or tiles, and a tag of unknown type")
	}
	h.counts = values{}
	h.room = max(0, t.fileSize-t.size)
	if t.fileSize < t.size {
		h.room = t.fileSize
	}
	h.room /= int64(h.planes)
	return nil
}

// opencv refuses what OpenCV refuses or decodes to other pixels than Pillow.
// imread fails where it would exchange width and height. imdecode fails on
// uncompressed tiles, and imdecodemulti, which stands for it where TIFF is read
// from memory, does not turn the image.
func (d *decoder) opencv(c *codec.Config, damage codec.Damage) error {
	h, t := &d.h, &d.dir
	photo := t.get(tagPhotometric, 0)
	var what string
	switch {
	case h.mode == codec.RGBA:
		what = "alpha"
	case h.bits > 8 && (photo != 1 || h.bits != 16 || h.signed):
		what = fmt.Sprintf("samples of %d bits", h.bits)
	case h.bits == 2 || h.bits == 4 && photo != 3:
		what = fmt.Sprintf("%d bits a sample", h.bits)
	case h.samples > 4 || t.get(tagSamplesPerPixel, 1) > 4:
		what = "more than four samples a pixel"
	case h.apart && h.samples == 1 && h.compression == none:
		what = "a single plane apart"
	case !h.apart && t.tags[tagStripOffsets].len()+t.tags[tagTileOffsets].len() != h.across*h.down:
		what = "another number of offsets than of strips or tiles"
	case t.get(tagPlanar, 1) != 1 && t.get(tagPlanar, 1) != 2:
		what = "an unknown planar configuration"
	case h.mode == codec.P && t.tags[tagColorMap].len() < 3<<h.bits:
		what = "a palette that is too short"
	case t.tags[tagOrientation].len() > 0 && (c.Orientation >= 5 || damage == codec.DamageImdecode && c.Orientation > 1):
		what = fmt.Sprintf("orientation %d", c.Orientation)
	case damage == codec.DamageImdecode && h.tiled && h.compression == none:
		what = "uncompressed tiles"
	default:
		if t.tags[tagOrientation].len() == 0 {
			c.Orientation = 1 // not XMP's
		}
		return nil
	}
	return unsupported("%s, which OpenCV refuses or decodes to other pixels", what)
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	d.data, d.o = data, o
	if err := d.parse(data); err != nil {
		if bytes.HasPrefix(data, []byte(magicCR2)) {
			err = unsupported("a Canon CR2 file (camera raw): %v", err)
		}
		return codec.Config{}, err
	}
	h := &d.h
	c := codec.Config{
		Format: name, Width: h.width, Height: h.height, Mode: h.mode, Depth: h.bits, Frames: 1,
		Orientation: d.dir.orientation(), AutoOrient: true,
		HasAlpha: h.mode == codec.LA || h.mode == codec.RGBA, Variant: "strips",
	}
	if d.dir.more {
		c.Frames = 2
	}
	if h.tiled {
		c.Variant = "tiles"
	}
	if o.Damage.OpenCV() {
		if err := d.opencv(&c, o.Damage); err != nil {
			return codec.Config{}, err
		}
	}
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	h, data, o := &d.h, d.data, d.o
	d.data, d.o = nil, nil
	if err := o.Limits.CheckSize(name, h.width, h.height, h.mode.Size()); err != nil {
		return err
	}
	samples := h.samples / h.planes
	if err := o.Limits.CheckSize(name, h.blockW, h.blockH, (h.bits*samples+7)/8); err != nil {
		return err
	}
	if h.compression == ccittG3 || h.compression == ccittG4 || h.compression == ccittRLE {
		// The runs of two rows.
		if err := o.Limits.CheckSize(name, h.blockW, 1, 16); err != nil {
			return err
		}
	}
	dst.Reset(h.mode, h.width, h.height)
	if h.mode == codec.P || h.paletteAlpha {
		cm := d.dir.tags[tagColorMap]
		n := cm.len() / 3
		for i := range dst.Palette {
			dst.Palette[i] = [4]uint8{3: 255}
			if i < n {
				for c := range 3 {
					dst.Palette[i][c] = uint8(cm.at(c*n+i, 0) >> 8)
				}
			}
		}
	}
	if h.offsets.len() < h.across*h.down*h.planes {
		clear(dst.Pix) // uncompressed blocks may be missing at the end
	}
	for i := range min(h.offsets.len(), h.across*h.down*h.planes) {
		at := i % (h.across * h.down)
		x, y := at%h.across*h.blockW, at/h.across*h.blockH
		rows := h.blockH
		if !h.tiled {
			rows = min(rows, h.height-y)
		}
		rowBytes := (h.blockW*h.bits*samples + 7) / 8
		w, ht := min(h.blockW, h.width-x), min(h.blockH, h.height-y)
		used := rowBytes*(ht-1) + (w*h.bits*samples+7)/8
		src, err := d.read(data, i, rows, rowBytes, used)
		if err != nil {
			return err
		}
		plane := i / (h.across * h.down)
		for r := range ht {
			out := dst.Pix[(y+r)*dst.Stride+x*h.mode.Size():]
			if h.paletteAlpha {
				for x := range w {
					i, a := src[r*rowBytes+2*x], src[r*rowBytes+2*x+1]
					copy(out[4*x:], dst.Palette[i][:3])
					out[4*x+3] = a
				}
				continue
			}
			h.unpack(out, src[r*rowBytes:], w, plane)
		}
	}
	return nil
}

// read returns the bytes of block i. Its decompressed size is rows x rowBytes.
// An uncompressed block needs only the used bytes.
func (d *decoder) read(data []byte, i, rows, rowBytes, used int) ([]byte, error) {
	h := &d.h
	offset := h.offsets.at64(i)
	if offset > uint64(len(data)) {
		return nil, bad(-1, "block %d is at %d, the file ends at %d", i, offset, len(data))
	}
	in := data[offset:]
	if h.compression == none {
		if len(in) < used {
			return nil, bad(int(offset), "block %d has %d bytes, want %d", i, len(in), used)
		}
		in = in[:used]
		if h.reverse {
			in = d.reversed(in)
		}
		return in, nil
	}
	n := rows * rowBytes
	count, err := h.size(i, uint64(len(in)), uint64(n))
	if err != nil {
		return nil, err
	}
	in = in[:count]
	if h.reverse {
		in = d.reversed(in)
	}
	if cap(d.block) < n {
		d.block = make([]byte, n)
	}
	out := d.block[:n]
	if i == 0 {
		// libtiff keeps the order of the first block.
		h.oldLZW = h.compression == lzwPacked && isOldLZW(in)
		d.fax.reset()
	}
	if err := d.inflate(out, in, rows); err != nil {
		var e *codec.Error
		if errors.As(err, &e) {
			return nil, err
		}
		return nil, bad(int(offset), "block %d: %v", i, err)
	}
	if h.predictor {
		d.unpredict(out, rowBytes)
	}
	return out, nil
}

// size returns the number of bytes of compressed block i. left of them are in
// the file, and it has n bytes when decompressed.
func (h *header) size(i int, left, n uint64) (uint64, error) {
	if h.counts.len() == 0 {
		count := uint64(h.room)
		if i == h.across*h.down*h.planes-1 {
			count = min(count, left)
		}
		if count > 0 && count <= left {
			return count, nil
		}
		return 0, bad(-1, "block %d has no size, and %d bytes are left", i, left)
	}
	count := h.counts.at64(i)
	if count == 0 {
		return 0, bad(-1, "block %d has 0 bytes", i)
	}
	// libtiff's bound.
	const large, slack, ratio = 1 << 20, 4096, 10
	if count > large && (count-slack)/ratio > n {
		count = n*ratio + slack
	}
	if count > left {
		return 0, bad(int(h.offsets.at64(i)), "block %d has %d bytes, %d are left", i, count, left)
	}
	return count, nil
}

func (d *decoder) reversed(in []byte) []byte {
	d.in = append(d.in[:0], in...)
	for i, b := range d.in {
		d.in[i] = bits.Reverse8(b)
	}
	return d.in
}

// inflate decompresses in to out.
func (d *decoder) inflate(out, in []byte, rows int) error {
	h := &d.h
	var err error
	switch h.compression {
	case packBits:
		return unpackBits(out, in)
	case lzwPacked:
		if d.lzw == nil {
			d.lzw = new(lzw)
		}
		return d.lzw.decode(out, in, h.oldLZW)
	case ccittRLE, ccittG3, ccittG4:
		n, err := d.fax.decode(out, in, h.blockW, rows, h.compression, h.twoD) // black is 1 for every photometric interpretation
		if err != nil && h.tiled {
			return unsupported("a damaged CCITT tile (%v), whose other rows are undefined in libtiff", err)
		}
		if err == nil && n < rows {
			return unsupported("CCITT data that ends at row %d of %d, whose other rows are undefined in libtiff", n, rows)
		}
		return err
	default:
		src := bytes.NewReader(in)
		if d.zr == nil {
			d.zr, err = zlib.NewReader(src)
		} else {
			err = d.zr.(zlib.Resetter).Reset(src, nil)
		}
		if err == nil {
			_, err = io.ReadFull(d.zr, out)
		}
		if err == nil {
			// The checksum is verified if present. Excess data is ignored.
			var n int
			if n, err = d.zr.Read(d.one[:]); n > 0 || err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil
			}
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func unpackBits(out, in []byte) error {
	for len(out) > 0 {
		if len(in) < 2 {
			return io.ErrUnexpectedEOF
		}
		n, b := int(int8(in[0])), in[1]
		switch {
		case n == -128: // no data
			in = in[1:]
		case n < 0:
			run := out[:min(1-n, len(out))]
			for i := range run {
				run[i] = b
			}
			in, out = in[2:], out[len(run):]
		default:
			n = min(n+1, len(out))
			if len(in)-1 < n {
				return io.ErrUnexpectedEOF
			}
			copy(out, in[1:1+n])
			in, out = in[1+n:], out[n:]
		}
	}
	return nil
}

// unpredict adds to every sample its left neighbour.
func (d *decoder) unpredict(block []byte, rowBytes int) {
	n := d.h.samples / d.h.planes
	for len(block) > 0 {
		row := block[:rowBytes]
		block = block[rowBytes:]
		if d.h.bits == 8 {
			for i := n; i < len(row); i++ {
				row[i] += row[i-n]
			}
			continue
		}
		order := d.dir.order
		if d.h.bits == 32 {
			for i := 4 * n; i+3 < len(row); i += 4 {
				order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-4*n:]))
			}
			continue
		}
		for i := 2 * n; i+1 < len(row); i += 2 {
			order.PutUint16(row[i:], order.Uint16(row[i:])+order.Uint16(row[i-2*n:]))
		}
	}
}

// unpack writes w pixels of a row. With separate planes it writes the given
// plane only.
func (h *header) unpack(dst, src []byte, w, plane int) {
	size, n := h.mode.Size(), h.samples
	high := 1 // the offset of a 16-bit sample's high byte
	if h.bigEndian {
		high = 0
	}
	switch {
	case h.planes > 1 && h.bits == 16:
		for x := range w {
			dst[x*size+plane] = src[2*x+high]
		}
		return
	case h.planes > 1:
		for x := range w {
			dst[x*size+plane] = src[x]
		}
		return
	case h.bits < 8:
		scale := uint8(1)
		if h.mode == codec.L {
			scale = 255 / (1<<h.bits - 1)
		}
		for x := range w {
			at := x * h.bits
			dst[x] = src[at/8] << (at % 8) >> (8 - h.bits) * scale
		}
	case h.mode == codec.I16 && (h.signed || h.bits == 32):
		h.clip(dst, src, w)
	case h.mode == codec.I16:
		for x := range w {
			dst[2*x], dst[2*x+1] = src[2*x+1-high], src[2*x+high]
		}
	case h.bits == 16:
		for x := range w {
			for c := range size {
				dst[x*size+c] = src[2*(x*n+c)+high]
			}
		}
	case n == size:
		copy(dst[:w*size], src)
	default:
		for x := range w {
			copy(dst[x*size:][:size], src[x*n:])
		}
	}
	if h.invert {
		for i := range dst[:w] {
			dst[i] ^= 255
		}
	}
	if h.associated {
		for x := range w {
			// Pillow's unpackRGBa: 255*c/a rounded down, at most 255; black
			// where a is 0.
			p := dst[4*x:][:4]
			a := int(p[3])
			for c, v := range p[:3] {
				switch a {
				case 0:
					p[c] = 0
				case 255:
				default:
					p[c] = uint8(min(255, 255*int(v)/a))
				}
			}
		}
	}
}

// clip clamps w integers, 32-bit or signed, to unsigned 16 bits. Pillow keeps
// 32 bits and clips them to 8 bits with the same result. It reads compressed
// big-endian integers in the wrong byte order.
func (h *header) clip(dst, src []byte, w int) {
	order := binary.ByteOrder(binary.LittleEndian)
	if h.bigEndian && h.compression == none {
		order = binary.BigEndian
	}
	for x := range w {
		v := int32(0)
		if h.bits == 32 {
			v = int32(order.Uint32(src[4*x:]))
		} else {
			v = int32(int16(order.Uint16(src[2*x:])))
		}
		binary.LittleEndian.PutUint16(dst[2*x:], uint16(min(max(v, 0), math.MaxUint16)))
	}
}
