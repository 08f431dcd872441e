package tiff

import (
	"encoding/binary"
	"math"

	"github.com/infer-prep/infer-prep/codec/internal/exif"
)

// The tags that the decoder reads, with TIFF 6.0's numbers.
const (
	tagWidth           = 256
	tagHeight          = 257
	tagBits            = 258
	tagCompression     = 259
	tagPhotometric     = 262
	tagFillOrder       = 266
	tagStripOffsets    = 273
	tagOrientation     = 274
	tagSamplesPerPixel = 277
	tagRowsPerStrip    = 278
	tagStripCounts     = 279
	tagPlanar          = 284
	tagT4Options       = 292
	tagPredictor       = 317
	tagColorMap        = 320
	tagTileWidth       = 322
	tagTileHeight      = 323
	tagTileOffsets     = 324
	tagTileCounts      = 325
	tagExtraSamples    = 338
	tagSampleFormat    = 339
	tagXMP             = 700
)

// values holds the values of a tag as stored in the file.
type values struct {
	order binary.ByteOrder
	typ   int
	size  int // bytes of a value; 0 if the tag is missing
	data  []byte
}

func (v values) len() int {
	if v.size == 0 {
		return 0
	}
	return len(v.data) / v.size
}

// at returns value i, or def if it does not exist. Larger values become the
// largest uint32.
func (v values) at(i int, def uint32) uint32 {
	if i >= v.len() {
		return def
	}
	return uint32(min(v.at64(i), math.MaxUint32))
}

// at64 returns value i, or 0 if it does not exist.
func (v values) at64(i int) uint64 {
	if i >= v.len() {
		return 0
	}
	switch b := v.data[i*v.size:]; v.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(v.order.Uint16(b))
	case 4:
		return uint64(v.order.Uint32(b))
	case 8:
		return v.order.Uint64(b)
	}
	return 0
}

// directory is the first image file directory.
type directory struct {
	order binary.ByteOrder
	tags  map[uint16]values
	more  bool // another directory follows
	// hidden reports a tag that libtiff reads and Pillow ignores, because it
	// has no values or those of the directory exceed the file.
	hidden bool
	// fileSize is the size of the file, size that of header, directory and
	// the values outside it, as libtiff adds them. odd reports a type that
	// libtiff does not know.
	fileSize, size int64
	odd            bool
}

// typeSizes holds the sizes of the types that Pillow knows, 0 for others.
var typeSizes = [...]uint8{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}

const (
	typeShort = 3
	typeLong  = 4
	typeLong8 = 16
)

// parse reads the directory of a TIFF or BigTIFF as Pillow does. The first of
// duplicate tags counts. Tags larger than the file are ignored. Reading stops
// at a value behind the end of the file.
func (d *directory) parse(data []byte) error {
	if d.tags == nil {
		d.tags = map[uint16]values{}
	}
	clear(d.tags)
	d.more, d.hidden, d.odd = false, false, false
	if len(data) < 8 {
		return bad(0, "the file ends in its header")
	}
	d.order = binary.ByteOrder(binary.LittleEndian)
	if data[0] == 'M' {
		d.order = binary.BigEndian
	}
	// The sizes in bytes of a count of entries and of an offset, in TIFF and
	// BigTIFF.
	countSize, word := uint64(2), uint64(4)
	at := 4
	if data[2] == 43 {
		countSize, word, at = 8, 8, 8
		if len(data) < 16 {
			return bad(0, "the file ends in its header")
		}
	}
	number := func(b []byte, size uint64) uint64 {
		return values{order: d.order, size: int(size), data: b[:size]}.at64(0)
	}
	p := number(data[at:], word)
	if size := uint64(len(data)); p > size || size-p < countSize {
		return bad(at, "the directory is at %d, the file ends at %d", p, len(data))
	}
	n := number(data[p:], countSize)
	total := uint64(0)
	d.fileSize = int64(len(data))
	d.size = int64(2*word + countSize + min(n, 1<<32)*(4+2*word) + word)
	e := data[p+countSize:]
	for ; n > 0; n-- {
		if uint64(len(e)) < 4+2*word {
			return nil
		}
		tag, typ, count := d.order.Uint16(e), int(d.order.Uint16(e[2:])), number(e[4:], word)
		b := e[4+word:][:word]
		e = e[4+2*word:]
		d.measure(typ, count, word)
		if count == 0 {
			d.hide(tag)
		}
		if _, ok := d.tags[tag]; ok || typ >= len(typeSizes) || typeSizes[typ] == 0 || count == 0 {
			continue
		}
		if count > math.MaxInt64/8 {
			continue
		}
		size := count * uint64(typeSizes[typ])
		if size > word {
			if total = min(total+size, math.MaxInt64); total > uint64(len(data)) {
				d.hide(tag)
				continue
			}
			at := number(b, word)
			if at > uint64(len(data))-size {
				d.hide(tag)
				for step := 4 + 2*word; n > 1 && uint64(len(e)) >= step; n-- {
					d.hide(d.order.Uint16(e))
					e = e[step:]
				}
				return nil
			}
			b = data[at:]
		}
		d.tags[tag] = values{d.order, typ, int(typeSizes[typ]), b[:size]}
	}
	if uint64(len(e)) >= word {
		next := number(e, word)
		d.more = next != 0 && next != p
	}
	if v := d.tags[tagPhotometric]; v.len() > 1 {
		delete(d.tags, tagPhotometric) // Pillow ignores this list, and takes the first value of others
	}
	return nil
}

// hide marks a tag that Pillow does not read.
func (d *directory) hide(tag uint16) {
	switch tag {
	case tagStripOffsets, tagRowsPerStrip, tagStripCounts, tagT4Options, tagPredictor, tagTileWidth, tagTileHeight,
		tagTileOffsets, tagTileCounts:
		if _, ok := d.tags[tag]; !ok {
			d.hidden = true
		}
	}
}

// measure adds a tag's values to size if they stand outside its entry of word
// bytes.
func (d *directory) measure(typ int, count, word uint64) {
	size := uint64(1)
	switch {
	case typ > 18 || typ == 14 || typ == 15:
		d.odd = true
		return
	case typ == 17 || typ == 18:
		size = 8
	case typ > 0:
		size = uint64(typeSizes[typ])
	}
	if n := min(count, math.MaxInt64/16) * size; n > word {
		d.size = int64(min(uint64(d.size)+n, math.MaxInt64/2))
	}
}

// checkTypes checks that the tags are numbers.
func (d *directory) checkTypes() error {
	for _, tag := range [...]uint16{
		tagWidth, tagHeight, tagBits, tagCompression, tagPhotometric, tagFillOrder, tagStripOffsets, tagSamplesPerPixel,
		tagRowsPerStrip, tagStripCounts, tagPlanar, tagT4Options, tagPredictor, tagColorMap, tagTileWidth, tagTileHeight,
		tagTileOffsets, tagTileCounts, tagExtraSamples, tagSampleFormat,
	} {
		if v := d.tags[tag]; v.size != 0 && v.typ != typeShort && v.typ != typeLong && v.typ != typeLong8 {
			return unsupported("tag %d with type %d, want SHORT, LONG or LONG8", tag, v.typ)
		}
	}
	return nil
}

// get returns the first value of a tag.
func (d *directory) get(tag uint16, def uint32) uint32 { return d.tags[tag].at(0, def) }

// single returns the value of a tag that libtiff ignores if it has several.
func (d *directory) single(tag uint16, def uint32) uint32 {
	if v := d.tags[tag]; v.len() == 1 {
		return v.at(0, def)
	}
	return def
}

// orientation returns the tag's value, or XMP's if the tag is missing.
func (d *directory) orientation() int {
	if v := d.tags[tagOrientation]; v.len() > 0 {
		if o := v.at(0, 1); v.typ != 1 && o >= 1 && o <= 8 {
			return int(o)
		}
		return 1
	}
	if v := d.tags[tagXMP]; v.size == 1 {
		return exif.XMPOrientation(v.data)
	}
	return 1
}
