package tiff

import (
	"encoding/binary"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
)

// The tags that the decoder reads, with TIFF 6.0's numbers.
const (
	tagSubfileType     = 254
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
	tagSubIFDs         = 330
	tagExtraSamples    = 338
	tagSampleFormat    = 339
	tagJPEGTables      = 347
	tagLumaWeights     = 529
	tagSubsampling     = 530
	tagBlackWhite      = 532
	tagXMP             = 700
)

// values holds the values of a tag as stored in the file.
type values struct {
	order  binary.ByteOrder
	typ    int
	size   int    // bytes of a value; 0 if the tag is missing
	n      int    // bytes of all values
	offset uint64 // of values that are not in memory before directory.load
	data   []byte
}

func (v values) len() int {
	if v.size == 0 {
		return 0
	}
	return v.n / v.size
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
	if i >= v.len() || len(v.data) < v.n {
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

// directory is an image file directory.
type directory struct {
	file  *file
	order binary.ByteOrder
	big   bool // BigTIFF
	tags  map[uint16]values
	next  uint64 // the offset of the next directory, 0 if none
	// hidden reports a tag that libtiff reads and Pillow ignores, because it
	// has no values or those of the directory exceed the file.
	hidden bool
	// refused reports what Pillow ignores and libtiff refuses: the end of the
	// file in the directory, or a tag of a type or number that it does not
	// take.
	refused bool
	// early reports a palette before BitsPerSample, which libtiff ignores.
	early bool
	// size is that of header, directory and the values outside it, as libtiff
	// adds them. odd reports a type that libtiff does not know.
	size int64
	odd  bool
}

// typeSizes holds the sizes of the types that Pillow knows, 0 for others.
var typeSizes = [...]uint8{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}

const (
	typeASCII    = 2
	typeShort    = 3
	typeLong     = 4
	typeRational = 5
	typeDouble   = 12
	typeIFD      = 13
	typeLong8    = 16
)

// Bounds of what is read of a directory that is not in memory.
const (
	maxEntries  = 1 << 16 // of a directory; a TIFF has no more
	eagerValues = 1 << 12 // bytes of a tag that are read with its directory
)

// header reads the file's header and returns the offset of the first directory.
func (d *directory) header(f *file) (uint64, error) {
	d.file = f
	head, err := f.bytes(nil, 0, int(min(f.size, 16)))
	if err != nil {
		return 0, err
	}
	if len(head) < 8 {
		return 0, bad(0, "the file ends in its header")
	}
	d.order, d.big = binary.ByteOrder(binary.LittleEndian), false
	if head[0] == 'M' {
		d.order = binary.BigEndian
	}
	switch d.order.Uint16(head[2:]) {
	case 43:
		if len(head) < 16 {
			return 0, bad(0, "the file ends in its header")
		}
		d.big = true
		return d.order.Uint64(head[8:]), nil
	default:
		return uint64(d.order.Uint32(head[4:])), nil
	}
}

// from reads the directory at p of the file whose header h holds.
func (d *directory) from(h *directory, p uint64) error {
	d.file, d.order, d.big = h.file, h.order, h.big
	return d.read(p)
}

// read reads the directory at p as Pillow does. The first of duplicate tags
// counts. Tags larger than the file are ignored. Reading stops at a value
// behind the end of the file.
func (d *directory) read(p uint64) error {
	if d.tags == nil {
		d.tags = map[uint16]values{}
	}
	clear(d.tags)
	d.next, d.hidden, d.odd, d.refused, d.early = 0, false, false, false, false
	// The sizes in bytes of a count of entries and of an offset, in TIFF and
	// BigTIFF.
	countSize, word := uint64(2), uint64(4)
	if d.big {
		countSize, word = 8, 8
	}
	number := func(b []byte, size uint64) uint64 {
		return values{order: d.order, size: int(size), n: int(size), data: b[:size]}.at64(0)
	}
	fileSize := uint64(d.file.size)
	if p > fileSize || fileSize-p < countSize {
		return bad(int(min(p, math.MaxInt32)), "the directory is at %d, the file ends at %d", p, fileSize)
	}
	count, err := d.file.bytes(nil, p, int(countSize))
	if err != nil {
		return err
	}
	n := number(count, countSize)
	if d.file.r != nil && n > maxEntries {
		return codec.Errorf(name, int64(p), codec.ErrLimit, "a directory of %d tags, want at most %d", n, maxEntries)
	}
	self, total, step := p, uint64(0), 4+2*word
	d.size = int64(2*word + countSize + min(n, 1<<32)*step + word)
	p += countSize
	e, err := d.file.bytes(nil, p, int(min(min(n, 1<<32)*step+word, fileSize-p)))
	if err != nil {
		return err
	}
	for ; n > 0; n-- {
		if uint64(len(e)) < step {
			d.refused = true
			return nil
		}
		tag, typ, count := d.order.Uint16(e), int(d.order.Uint16(e[2:])), number(e[4:], word)
		b := e[4+word:][:word]
		e = e[step:]
		d.measure(typ, count, word)
		if count == 0 && tag != tagExtraSamples {
			d.hide(tag)
		}
		switch unknown := typ >= len(typeSizes) || typeSizes[typ] == 0; tag {
		case tagBits:
			d.refused = d.refused || unknown
		case tagSamplesPerPixel, tagRowsPerStrip, tagPlanar:
			d.refused = d.refused || unknown || count > 1
		}
		if !small {
			d.strict(tag, count, typ >= len(typeSizes) || typeSizes[typ] == 0)
		}
		if _, ok := d.tags[tag]; ok || typ >= len(typeSizes) || typeSizes[typ] == 0 || count == 0 {
			continue
		}
		if count > math.MaxInt64/8 {
			continue
		}
		size := count * uint64(typeSizes[typ])
		v := values{order: d.order, typ: typ, size: int(typeSizes[typ]), n: int(size)}
		switch {
		case size > word:
			if total = min(total+size, math.MaxInt64); total > fileSize || size > math.MaxInt {
				d.hide(tag)
				continue
			}
			v.offset = number(b, word)
			if v.offset > fileSize-size {
				d.hide(tag)
				for ; n > 1 && uint64(len(e)) >= step; n-- {
					d.hide(d.order.Uint16(e))
					e = e[step:]
				}
				d.refused = d.refused || n > 1
				return nil
			}
			if d.file.r == nil || size <= eagerValues {
				if v.data, err = d.file.bytes(nil, v.offset, int(size)); err != nil {
					return err
				}
			}
		default:
			v.data = b[:size]
		}
		d.tags[tag] = v
	}
	if uint64(len(e)) >= word {
		if d.next = number(e, word); d.next == self {
			d.next = 0
		}
	}
	if v := d.tags[tagPhotometric]; v.len() > 1 {
		delete(d.tags, tagPhotometric) // Pillow ignores this list, and takes the first value of others
	}
	return nil
}

// strict marks an entry of the directory that libtiff refuses.
func (d *directory) strict(tag uint16, count uint64, unknown bool) {
	switch tag {
	case tagBits, tagSampleFormat, tagSamplesPerPixel, tagRowsPerStrip, tagPlanar:
		d.refused = d.refused || unknown || count == 0
	case tagColorMap:
		d.early = d.tags[tagBits].len() == 0
	case tagStripOffsets, tagStripCounts, tagTileOffsets, tagTileCounts, tagExtraSamples:
		d.refused = d.refused || unknown
	}
}

// load reads the values of tags that read left in the file.
func (d *directory) load(l *codec.Limits, tags ...uint16) error {
	for _, tag := range tags {
		v, ok := d.tags[tag]
		if !ok || len(v.data) == v.n {
			continue
		}
		if l.Bytes > 0 && int64(v.n) > l.Bytes {
			return codec.Errorf(name, int64(v.offset), codec.ErrBytes, "tag %d has %d bytes, the limit is %d", tag, v.n, l.Bytes)
		}
		b, err := d.file.bytes(nil, v.offset, v.n)
		if err != nil {
			return err
		}
		v.data = b
		d.tags[tag] = v
	}
	return nil
}

// hide marks a tag that Pillow does not read.
func (d *directory) hide(tag uint16) {
	switch tag {
	case tagBits, tagSampleFormat, tagExtraSamples:
		if _, ok := d.tags[tag]; !small && !ok {
			d.refused = true
		}
	case tagStripOffsets, tagRowsPerStrip, tagStripCounts, tagT4Options, tagPredictor, tagTileWidth, tagTileHeight,
		tagTileOffsets, tagTileCounts, tagLumaWeights, tagSubsampling, tagBlackWhite:
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
		switch v.typ {
		case 3, 4, 6, 8, 9, typeIFD, typeLong8: // Python's integers
			if o := v.at(0, 1); o >= 1 && o <= 8 {
				return int(o)
			}
		}
		return 1
	}
	if v := d.tags[tagXMP]; v.size == 1 {
		return exif.XMPOrientation(v.data)
	}
	return 1
}
