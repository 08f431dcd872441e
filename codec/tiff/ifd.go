package tiff

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

// The tags that matter here, with TIFF 6.0's numbers.
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

// values are a tag's values, as they lie in the file.
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

// at is value i, def if there is none.
func (v values) at(i int, def uint32) uint32 {
	if i >= v.len() {
		return def
	}
	switch b := v.data[i*v.size:]; v.size {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(v.order.Uint16(b))
	case 4:
		return v.order.Uint32(b)
	}
	return def
}

// directory is the first image file directory.
type directory struct {
	order binary.ByteOrder
	tags  map[uint16]values
	more  bool // there is another one
}

// typeSizes are the sizes of the types that Pillow knows; 0 for others.
var typeSizes = [...]uint8{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}

const (
	typeShort = 3
	typeLong  = 4
)

// parse reads the directory as Pillow does: of a tag that is there twice the
// first counts, tags that are too large for the file are left out, and reading
// stops where the file ends.
func (d *directory) parse(data []byte) error {
	if d.tags == nil {
		d.tags = map[uint16]values{}
	}
	clear(d.tags)
	d.more = false
	if len(data) < 8 {
		return bad(0, "the file ends in its header")
	}
	d.order = binary.ByteOrder(binary.LittleEndian)
	if data[0] == 'M' {
		d.order = binary.BigEndian
	}
	p := uint64(d.order.Uint32(data[4:]))
	if p+2 > uint64(len(data)) {
		return bad(4, "the directory is at %d, the file ends at %d", p, len(data))
	}
	n := int(d.order.Uint16(data[p:]))
	e := data[p+2:]
	total := uint64(0)
	for range n {
		if len(e) < 12 {
			return nil
		}
		tag, typ, count := d.order.Uint16(e), int(d.order.Uint16(e[2:])), uint64(d.order.Uint32(e[4:]))
		b := e[8:12]
		e = e[12:]
		if _, ok := d.tags[tag]; ok || typ >= len(typeSizes) || typeSizes[typ] == 0 || count == 0 {
			continue
		}
		size := count * uint64(typeSizes[typ])
		if size > 4 {
			if total += size; total > uint64(len(data)) {
				continue
			}
			at := uint64(d.order.Uint32(b))
			if at+size > uint64(len(data)) {
				return nil
			}
			b = data[at:]
		}
		d.tags[tag] = values{d.order, typ, int(typeSizes[typ]), b[:size]}
	}
	if len(e) >= 4 {
		next := d.order.Uint32(e)
		d.more = next != 0 && uint64(next) != p
	}
	if v := d.tags[tagPhotometric]; v.len() > 1 {
		delete(d.tags, tagPhotometric) // Pillow has it as missing, and other lists as their first value
	}
	return nil
}

// checkTypes refuses tags that are no numbers.
func (d *directory) checkTypes() error {
	for _, tag := range [...]uint16{
		tagWidth, tagHeight, tagBits, tagCompression, tagPhotometric, tagFillOrder, tagStripOffsets, tagSamplesPerPixel,
		tagRowsPerStrip, tagStripCounts, tagPlanar, tagT4Options, tagPredictor, tagColorMap, tagTileWidth, tagTileHeight,
		tagTileOffsets, tagTileCounts, tagExtraSamples, tagSampleFormat,
	} {
		if v := d.tags[tag]; v.size != 0 && v.typ != typeShort && v.typ != typeLong {
			return bad(-1, "tag %d has type %d, want SHORT or LONG", tag, v.typ)
		}
	}
	return nil
}

// get is a tag's first value.
func (d *directory) get(tag uint16, def uint32) uint32 { return d.tags[tag].at(0, def) }

// orientation is the tag's, else XMP's.
func (d *directory) orientation() int {
	if v := d.tags[tagOrientation]; v.len() > 0 {
		if o := v.at(0, 1); v.typ != 1 && o >= 1 && o <= 8 {
			return int(o)
		}
		return 1
	}
	if v := d.tags[tagXMP]; v.size == 1 {
		return codec.XMPOrientation(v.data)
	}
	return 1
}
