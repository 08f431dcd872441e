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
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/inflate"
	"github.com/infer-prep/infer-prep/codec/internal/lzw"
	"github.com/infer-prep/infer-prep/internal/kernel"
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

type decoder struct {
	dir   directory
	h     header
	data  []byte         // of the open image
	o     *codec.Options // of the open image
	block []byte         // one decompressed strip or tile
	in    []byte         // one strip's or tile's compressed bytes with reversed bits
	zr    inflate.Reader
	fax   fax
	lzw   *lzw.Decoder
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

// opencv refuses what OpenCV refuses or decodes to other pixels than Pillow.
// imread fails where it would exchange width and height. imdecode fails on
// uncompressed tiles, and imdecodemulti, which stands for it where TIFF is read
// from memory, does not turn the image.
func (d *decoder) opencv(c *codec.Config, damage codec.Damage) error {
	h, t := &d.h, &d.dir
	photo := t.get(tagPhotometric, whiteIsZero)
	var what string
	switch {
	case h.mode == codec.RGBA:
		what = "alpha"
	case h.bits > 8 && (photo != blackIsZero || h.bits != 16 || h.signed):
		what = fmt.Sprintf("samples of %d bits", h.bits)
	case h.bits == 2 || h.bits == 4 && photo != paletteIndex:
		what = fmt.Sprintf("%d bits a sample", h.bits)
	case h.samples > 4 || t.get(tagSamplesPerPixel, 1) > 4:
		what = "more than four samples a pixel"
	case h.apart && h.samples == 1 && h.compression == none:
		what = "a single plane apart"
	case !h.apart && t.tags[tagStripOffsets].len()+t.tags[tagTileOffsets].len() != h.across*h.down:
		what = "another number of offsets than of strips or tiles"
	case t.get(tagPlanar, chunky) != chunky && t.get(tagPlanar, chunky) != separatePlanes:
		what = "an unknown planar configuration"
	case h.mode == codec.P && t.tags[tagColorMap].len() < 3<<h.bits:
		what = "a palette that is too short"
	case t.tags[tagOrientation].len() > 0 && (c.Orientation >= firstTransposed || damage == codec.DamageImdecode && c.Orientation > uprightOrientation):
		what = fmt.Sprintf("orientation %d", c.Orientation)
	case damage == codec.DamageImdecode && h.tiled && h.compression == none:
		what = "uncompressed tiles"
	default:
		if t.tags[tagOrientation].len() == 0 {
			c.Orientation = uprightOrientation // not XMP's
		}
		return nil
	}
	return unsupported("%s, which OpenCV refuses or decodes to other pixels", what)
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	if o.Damage == codec.DamageTorchCodec {
		return codec.Config{}, codec.Errorf(name, -1, codec.ErrUnsupported, "TorchCodec does not read TIFF")
	}
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
		if _, ok := errors.AsType[*codec.Error](err); ok {
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
	switch h.compression {
	case packBits:
		return unpackBits(out, in)
	case lzwPacked:
		if d.lzw == nil {
			d.lzw = new(lzw.Decoder)
		}
		_, err := d.lzw.Decode(out, in, tiffLZW(h.oldLZW))
		return err
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
		d.zr.Reset(inflate.Piece(in))
		if _, err := io.ReadFull(&d.zr, out); err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
		// The checksum is verified if present. Excess data is ignored.
		if n, err := d.zr.Next(1); len(n) == 0 && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		return nil
	}
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
			kernel.AddLeft(row, n)
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
