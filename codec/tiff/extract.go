package tiff

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
)

// AppendTIFF appends an uncompressed TIFF of one window to b: the samples as
// ReadPadded reads them, in the byte order of the machine, and the tags that
// say what they mean, such as a palette. Decoders then give the window the
// pixels that they give the image, with these exceptions: the orientation is
// left out, bands apart are stored together, and compressed big-endian numbers
// that Pillow reads in the wrong byte order are right. GeoTIFF's tags and all
// other metadata are left out. The window may reach past the right and bottom
// edges of the image but has a pixel within it.
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
	d := &newDirectory{}
	d.short(tagBits, slices.Repeat([]uint16{uint16(f.Bits)}, f.Bands)...)
	d.long(tagWidth, uint32(w.Width))
	d.long(tagHeight, uint32(w.Height))
	d.short(tagCompression, none)
	d.short(tagPhotometric, uint16(photo))
	d.short(tagSamplesPerPixel, uint16(f.Bands))
	d.short(tagPlanar, chunky)
	d.long(tagRowsPerStrip, uint32(w.Height))
	for _, tag := range []uint16{tagColorMap, tagExtraSamples} {
		if v := t.tags[tag]; v.len() > 0 {
			list := make([]uint16, v.len())
			for k := range list {
				list[k] = uint16(min(v.at(k, 0), math.MaxUint16))
			}
			d.short(tag, list...)
		}
	}
	if kind := t.get(tagSampleFormat, unsignedSample); kind != unsignedSample {
		d.short(tagSampleFormat, slices.Repeat([]uint16{uint16(kind)}, f.Bands)...)
	}
	rowBytes := (int64(w.Width)*int64(f.Bands)*int64(f.Bits) + 7) / 8
	if rowBytes*int64(w.Height) > math.MaxUint32-1<<20 {
		return b, codec.Errorf(name, -1, codec.ErrBytes, "a window of %dx%d pixels does not fit a TIFF of 4 GiB", w.Width, w.Height)
	}
	start := len(b)
	b = d.append(b, uint32(rowBytes*int64(w.Height)))
	at, n := len(b), w.Width*w.Height*f.Bands*i.l.sampleSize()
	b = slices.Grow(b, n)[:at+n]
	if err := i.ReadPadded(b[at:], w, nil); err != nil {
		return b[:start], err
	}
	if f.Bits%8 != 0 {
		packBitsOf(b[at:], f.Bits, w.Width*f.Bands, w.Height, i.l.sampleSize())
		b = b[:at+int(rowBytes)*w.Height]
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

// newEntry is a tag to write.
type newEntry struct {
	tag, typ uint16
	count    int
	value    []byte
}

// newDirectory collects the tags of a TIFF with one strip.
type newDirectory struct{ entries []newEntry }

func (d *newDirectory) short(tag uint16, v ...uint16) {
	var b []byte
	for _, x := range v {
		b = binary.NativeEndian.AppendUint16(b, x)
	}
	d.entries = append(d.entries, newEntry{tag, typeShort, len(v), b})
}

func (d *newDirectory) long(tag uint16, v uint32) {
	d.entries = append(d.entries, newEntry{tag, typeLong, 1, binary.NativeEndian.AppendUint32(nil, v)})
}

// append appends the header and the directory. The strip of size bytes follows.
func (d *newDirectory) append(b []byte, size uint32) []byte {
	d.long(tagStripCounts, size)
	const header, entry = 8, 12
	at := header + 2 + entry*(len(d.entries)+1) + 4
	end := at
	for _, e := range d.entries {
		if len(e.value) > 4 {
			end += (len(e.value) + 1) &^ 1
		}
	}
	d.long(tagStripOffsets, uint32(end))
	slices.SortFunc(d.entries, func(a, b newEntry) int { return int(a.tag) - int(b.tag) })
	o := binary.NativeEndian
	mark := "II"
	if hostBig {
		mark = "MM"
	}
	b = append(b, mark...)
	b = o.AppendUint16(b, 42)
	b = o.AppendUint32(b, header)
	b = o.AppendUint16(b, uint16(len(d.entries)))
	var values []byte
	for _, e := range d.entries {
		b = o.AppendUint16(o.AppendUint16(b, e.tag), e.typ)
		b = o.AppendUint32(b, uint32(e.count))
		if len(e.value) <= 4 {
			b = append(append(b, e.value...), make([]byte, 4-len(e.value))...)
			continue
		}
		b = o.AppendUint32(b, uint32(at+len(values)))
		values = append(values, e.value...)
		if len(values)%2 == 1 {
			values = append(values, 0)
		}
	}
	return append(o.AppendUint32(b, 0), values...)
}
