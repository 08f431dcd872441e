// Package tiff decodes TIFF in two ways. Importing it registers the format with
// package codec, which decodes the first image as Pillow does. A [Reader] reads
// windows of any image as GDAL and tifffile do, in the samples' own type.
//
// # Compressions
//
// Images are stored in strips or tiles, with or without separate planes, in
// TIFF or BigTIFF. Compressions are none, PackBits, LZW (also in TIFF 5.0's
// order of bits), Deflate, Zstandard, LZMA, CCITT RLE, G3 and G4, JPEG and, for
// a Reader, WebP. JPEG and WebP need the package codec/jpeg or codec/webp in
// the program. Old JPEG (compression 6) is read as Pillow does, but not by a
// Reader. LERC, JPEG 2000, JPEG XL and others are codec.ErrUnsupported, by
// name. The build tag small leaves out Zstandard, LZMA, old JPEG, YCbCr that is
// not JPEG, windows of package codec, and its native samples.
//
// # As Pillow
//
// The decoder takes gray of 1, 2, 4, 8, 12 and 16 bits, palettes of 1 to 8
// bits, RGB and CMYK of 8 and 16 bits, with or without alpha, and YCbCr, with
// fewer chroma samples too. Associated alpha is divided out. Planes of 16 bits
// that are not compressed are read as 8 bits, as Pillow does. Damaged CCITT
// data is decoded as libtiff 4.7.2 does; where that leaves rows undefined, it
// is codec.ErrUnsupported. The rest of a damaged block of YCbCr is zeros, as
// there.
// 32-bit and signed gray integers and 32-bit floats are clipped to codec.I16.
// Old JPEG is YCbCr in strips or in one tile. It is codec.ErrUnsupported if its
// data are damaged, and in several strips of a big-endian file, of which
// libtiff reads other rows. Other files that Pillow 13.0.0 reads (Lab, …) are
// codec.ErrUnsupported, by name.
//
// The pixels are those of Pillow's Image.open(f), which applies the orientation
// tag (see codec.Config.AutoOrient).
//
// # Windows
//
// A Reader takes an io.ReaderAt, such as a store.File, and reads only the
// directories, strips and tiles that are asked for. Samples are integers of 1
// to 16, 32 and 64 bits and floats of 16, 32 and 64 bits, up to 64 bands, with
// the predictors 1 to 3. They are as stored: nothing is scaled, inverted or
// converted, except that YCbCr in JPEG becomes RGB. Complex numbers, bands of
// several types, and YCbCr with fewer chroma samples outside JPEG are
// codec.ErrUnsupported. Reference: rasterio 1.4.4 (GDAL 3.10.3) and tifffile
// 2026.3.3. They differ in CMYK and Lab, which GDAL converts to RGBA, and in
// float16, which GDAL widens; the samples here are tifffile's.
//
// Without a [Cache], a Reader decompresses a strip or tile in Deflate, LZW or
// PackBits up to the window's last row, and does not find damage after it. If
// that is the block's last row in the image, it reads the whole block.
//
// # Hostile input
//
// Sizes are checked against [codec.Limits] before anything that grows with them
// is allocated. A directory has at most 65,536 tags, a file as many images.
package tiff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/codec"
)

const name = "tiff"

func init() {
	codec.Register(codec.Format{
		Name: name,
		// The last one is BigTIFF. Pillow does not know big-endian BigTIFF.
		Magic:  []string{"II*\x00", "MM\x00*", "II+\x00"},
		Frames: true,
		New:    func() codec.FormatDecoder { return new(decoder) },
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
	file    file // the open image
	dir     directory
	h       header
	o       *codec.Options // of the open image
	blocks  blockReader
	ycc     yccToRGB
	band    codec.Raster // rows of blocks of a region
	cut     []byte       // the region's columns of band
	native  *Image       // of OpenNative
	readers freeReaders  // of OpenNative's images, and of further goroutines
	old     oldDecoder
}

func (d *decoder) parse() error {
	t, h := &d.dir, &d.h
	at, err := t.header(&d.file)
	if err != nil {
		return err
	}
	if err := t.read(at); err != nil {
		return err
	}
	if err := t.checkTypes(); err != nil {
		return err
	}
	*h = header{bigEndian: d.file.data[0] == 'M'}
	if !small && t.get(tagCompression, none) == oldJPEG {
		return d.parseOld()
	}
	if err := h.setSize(t); err != nil {
		return err
	}
	if h.compression == webP { // Pillow's libtiff is built without libwebp
		return h.refuse()
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
	case t.refused || t.hidden:
		what = "a directory that is cut, or has an empty tag or one of a wrong type or number"
	case !small && h.compression == oldJPEG:
		what = "old JPEG"
	case h.mode == codec.RGBA:
		what = "alpha"
	case photo == yCbCr && h.compression != jpegCoded:
		what = "YCbCr without JPEG"
	case h.halved:
		what = "planes of 16 bits"
	case h.compression == zstandard || h.compression == lzma2:
		what = "Zstandard or LZMA"
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
	d.file, d.o = file{data: data, size: int64(len(data))}, o
	if err := d.parse(); err != nil {
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
	if d.dir.next != 0 {
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

// start checks the limits and prepares the blocks. It returns the number of
// blocks in the file: uncompressed ones may be missing at the end.
func (d *decoder) start() (int, error) {
	h := &d.h
	if err := d.o.Limits.CheckSize(name, h.width, h.height, h.mode.Size()); err != nil {
		return 0, err
	}
	if err := h.check(&d.o.Limits); err != nil {
		return 0, err
	}
	if err := d.blocks.begin(&d.file, d.dir.order, &h.layout); err != nil {
		return 0, err
	}
	if h.ycc && h.compression != none {
		if err := d.ycc.init(&d.dir); err != nil {
			return 0, err
		}
	}
	if err := h.checkWork(&d.o.Limits, int64(h.across)*int64(h.down)); err != nil {
		return 0, err
	}
	n := int64(h.across) * int64(h.down) * int64(h.planes)
	return int(min(int64(h.offsets.len()), n)), nil
}

// palette sets dst's palette.
func (d *decoder) palette(dst *codec.Raster) {
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

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	defer d.release()
	h := &d.h
	if !small && h.compression == oldJPEG {
		return d.decodeOld(dst)
	}
	n, err := d.start()
	if err != nil {
		return err
	}
	dst.Reset(h.mode, h.width, h.height)
	if h.mode == codec.P || h.paletteAlpha {
		d.palette(dst)
	}
	if n < h.blocks() {
		h.blank(dst)
	}
	err = d.each(n, func(b *blockReader, i int) error { return d.place(b, dst, i, 0, 0) })
	if err != nil {
		return err
	}
	d.finish(dst)
	return nil
}

// inOrder calls do for the numbers from 0 to n-1, until the first error.
func inOrder(b *blockReader, n int, do func(b *blockReader, k int) error) error {
	for k := range n {
		if err := do(b, k); err != nil {
			return err
		}
	}
	return nil
}

// blank fills dst with the pixels of missing blocks: zeros, as which palettes
// have their first colour.
func (h *header) blank(dst *codec.Raster) {
	clear(dst.Pix)
	if !small && h.paletteAlpha {
		for i := 0; i+4 <= len(dst.Pix); i += 4 {
			copy(dst.Pix[i:], dst.Palette[0][:3])
		}
	}
}

// finish converts pixels whose planes are complete.
func (d *decoder) finish(dst *codec.Raster) {
	h := &d.h
	if h.subX > 0 || !h.ycc && !(h.associated && h.planes > 1) {
		return
	}
	for y := range dst.Height {
		row := dst.Pix[y*dst.Stride:][:dst.Width*h.mode.Size()]
		if h.associated {
			unassociate(row)
		} else {
			d.convert(row)
		}
	}
}

// release drops the references to the caller's memory.
func (d *decoder) release() {
	d.file.data, d.o = nil, nil
	d.h.tables = nil
}

// blockAt returns the first pixel of block i and the size of what is in the
// image.
func (h *header) blockAt(i int) (x, y, w, ht int) {
	at := i % (h.across * h.down)
	x, y = at%h.across*h.blockW, at/h.across*h.blockH
	return x, y, min(h.blockW, h.width-x), min(h.blockH, h.height-y)
}

// block decodes block i, of which what is in the image must be there.
func (d *decoder) block(b *blockReader, i int) ([]byte, error) {
	h := &d.h
	_, _, w, ht := h.blockAt(i)
	return b.read(i, h.rowBytes()*(ht-1)+(w*h.bits*(h.samples/h.planes)+7)/8)
}

// place decodes block i. The first pixel of dst is pixel (left, top) of the
// image; the block is within dst.
func (d *decoder) place(b *blockReader, dst *codec.Raster, i, left, top int) error {
	h := &d.h
	x, y, w, ht := h.blockAt(i)
	plane, rowBytes := i/(h.across*h.down), h.rowBytes()
	src, err := d.block(b, i)
	if err != nil {
		return err
	}
	if h.subX > 0 {
		d.placePacked(dst.Pix[(y-top)*dst.Stride+(x-left)*3:], src, dst.Stride, w, ht)
		return nil
	}
	for r := range ht {
		out := dst.Pix[(y-top+r)*dst.Stride+(x-left)*h.mode.Size():]
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
	return nil
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
	case h.bits == 12:
		for x := range w {
			at := 3 * x / 2
			v := uint16(src[at])<<4 | uint16(src[at+1])>>4
			if x%2 != 0 {
				v = uint16(src[at])<<8&0xF00 | uint16(src[at+1])
			}
			binary.LittleEndian.PutUint16(dst[2*x:], v)
		}
	case h.bits < 8:
		scale := uint8(1)
		if h.mode == codec.L {
			scale = 255 / (1<<h.bits - 1)
		}
		for x := range w {
			at := x * h.bits
			dst[x] = src[at/8] << (at % 8) >> (8 - h.bits) * scale
		}
	case h.mode == codec.I16 && (h.signed || h.bits == 32): // floats too
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
		unassociate(dst[:4*w])
	}
}

// unassociate divides colours by alpha as Pillow's unpackRGBa: 255*c/a rounded
// down, at most 255; black where a is 0.
func unassociate(row []byte) {
	for ; len(row) > 0; row = row[4:] {
		p := row[:4]
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

// clip clamps w numbers, of 32 bits or signed, to unsigned 16 bits. Floats are
// truncated. Pillow keeps 32 bits and clips them to 8 bits with the same
// result. It reads compressed big-endian numbers in the wrong byte order.
func (h *header) clip(dst, src []byte, w int) {
	order := binary.ByteOrder(binary.LittleEndian)
	if h.bigEndian && h.compression == none {
		order = binary.BigEndian
	}
	for x := range w {
		v := int32(0)
		if h.float {
			// NaN is 0.
			if f := math.Float32frombits(order.Uint32(src[4*x:])); f >= math.MaxUint16 {
				v = math.MaxUint16
			} else if f > 0 {
				v = int32(f)
			}
		} else if h.bits == 32 {
			v = int32(order.Uint32(src[4*x:]))
		} else {
			v = int32(int16(order.Uint16(src[2*x:])))
		}
		binary.LittleEndian.PutUint16(dst[2*x:], uint16(min(max(v, 0), math.MaxUint16)))
	}
}
