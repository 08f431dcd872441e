package tiff

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/tiffdir"
)

// AppendTIFF appends an uncompressed TIFF of one window to b. It has the
// samples that ReadPadded reads, and the tags that say what they mean, such as
// a palette. Numbers are little-endian on every machine, because Pillow refuses
// some big-endian files. Decoders give the window the pixels that they give the
// image, with three exceptions. The orientation is left out. Separate planes
// are stored as one. Compressed big-endian numbers, which Pillow reads in the
// wrong byte order, are right. GeoTIFF's tags and all other metadata are left
// out. The window may reach past the right and bottom edges of the image, but
// at least one pixel must be within it.
func (i *Image) AppendTIFF(b []byte, w codec.Region) ([]byte, error) {
	f, err := i.Info()
	if err != nil {
		return b, err
	}
	t := &i.dir
	if err := t.load(&i.r.limits, tagColorMap, tagExtraSamples); err != nil {
		return b, err
	}
	if w.Width < 1 || w.Height < 1 {
		_, err := i.Size(w)
		return b, err
	}
	if err := i.r.limits.CheckSize(name, w.Width, w.Height, f.Bands*i.l.sampleSize()); err != nil {
		return b, err
	}
	photo := i.l.photo
	if photo == yCbCr && i.l.compression == jpegCoded {
		photo = rgbPixels
	}
	d := &tiffdir.Directory{Order: binary.LittleEndian}
	d.Short(tagBits, slices.Repeat([]uint16{uint16(f.Bits)}, f.Bands)...)
	d.Long(tagWidth, uint32(w.Width))
	d.Long(tagHeight, uint32(w.Height))
	d.Short(tagCompression, none)
	d.Short(tagPhotometric, uint16(photo))
	d.Short(tagSamplesPerPixel, uint16(f.Bands))
	d.Short(tagPlanar, chunky)
	d.Long(tagRowsPerStrip, uint32(w.Height))
	for _, tag := range []uint16{tagColorMap, tagExtraSamples} {
		if v := t.tags[tag]; v.len() > 0 {
			list := make([]uint16, v.len())
			for k := range list {
				list[k] = uint16(min(v.at(k, 0), math.MaxUint16))
			}
			d.Short(tag, list...)
		}
	}
	if kind := t.get(tagSampleFormat, unsignedSample); kind != unsignedSample {
		d.Short(tagSampleFormat, slices.Repeat([]uint16{uint16(kind)}, f.Bands)...)
	}
	rowBytes := (int64(w.Width)*int64(f.Bands)*int64(f.Bits) + 7) / 8
	if rowBytes*int64(w.Height) > math.MaxUint32-1<<20 {
		return b, codec.Errorf(name, -1, codec.ErrBytes, "a window of %dx%d pixels does not fit a TIFF of 4 GiB", w.Width, w.Height)
	}
	start := len(b)
	d.Long(tagStripCounts, uint32(rowBytes*int64(w.Height)))
	d.Long(tagStripOffsets, 0) // counts for End
	const header = 8
	d.Long(tagStripOffsets, uint32(d.End(header)))
	b = append(b, "II*\x00"...)
	b = d.Append(binary.LittleEndian.AppendUint32(b, header), header, true)
	at, n := len(b), w.Width*w.Height*f.Bands*i.l.sampleSize()
	b = slices.Grow(b, n)[:at+n]
	if err := i.ReadPadded(b[at:], w, nil); err != nil {
		return b[:start], err
	}
	if f.Bits%8 != 0 {
		packBitsOf(b[at:], f.Bits, w.Width*f.Bands, w.Height, i.l.sampleSize())
		b = b[:at+int(rowBytes)*w.Height]
	} else if hostBig {
		size := i.l.sampleSize()
		swapSamples(b[at:], 1, n/size, n, size)
	}
	return b, nil
}

// packBitsOf packs rows of n samples of size bytes into width bits each, the
// highest bit first, in place. Each row begins with a byte of its own.
func packBitsOf(b []byte, width, n, rows, size int) {
	out := 0
	for y := range rows {
		bits, have := uint32(0), 0
		for x := range n {
			at := (y*n + x) * size
			v := uint32(b[at])
			if size == 2 {
				v = uint32(binary.NativeEndian.Uint16(b[at:]))
			}
			bits, have = bits<<width|v, have+width
			for ; have >= 8; have -= 8 {
				b[out] = byte(bits >> (have - 8))
				out++
			}
		}
		if have > 0 {
			b[out] = byte(bits << (8 - have))
			out++
		}
	}
}
