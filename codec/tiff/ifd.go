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
	size  int // bytes of a value: 1, 2 or 4; 0 if the tag is missing
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
	default:
		return v.order.Uint32(b)
	}
}

// directory is the first image file directory.
type directory struct {
	order binary.ByteOrder
	tags  map[uint16]values
	more  bool // there is another one
}

// typeSizes are the sizes of the integer types BYTE, SHORT, LONG and UNDEFINED (XMP).
var typeSizes = [...]int{1: 1, 3: 2, 4: 4, 7: 1}

func (d *directory) parse(data []byte) error {
	if d.tags == nil {
		d.tags = map[uint16]values{}
	}
	clear(d.tags)
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
	if len(e) < 12*n {
		return bad(int(p), "a directory of %d tags, the file ends before", n)
	}
	for range n {
		tag, typ, count := d.order.Uint16(e), int(d.order.Uint16(e[2:])), uint64(d.order.Uint32(e[4:]))
		b := e[8:12]
		e = e[12:]
		if typ >= len(typeSizes) || typeSizes[typ] == 0 || count == 0 {
			continue // rationals and strings: none of ours
		}
		size := uint64(typeSizes[typ])
		if count*size > 4 {
			at := uint64(d.order.Uint32(b))
			if at > uint64(len(data)) || count*size > uint64(len(data))-at {
				continue // Pillow drops it with a warning
			}
			b = data[at:]
		}
		d.tags[tag] = values{d.order, int(size), b[:count*size]}
	}
	if len(e) >= 4 {
		next := d.order.Uint32(e)
		d.more = next != 0 && uint64(next) != p
	}
	return nil
}

// get is a tag's first value.
func (d *directory) get(tag uint16, def uint32) uint32 { return d.tags[tag].at(0, def) }

// orientation is the tag's, else XMP's.
func (d *directory) orientation() int {
	if v := d.tags[tagOrientation]; v.len() > 0 {
		if o := v.at(0, 1); v.len() == 1 && o >= 1 && o <= 8 {
			return int(o)
		}
		return 1
	}
	if v := d.tags[tagXMP]; v.size == 1 {
		return codec.XMPOrientation(v.data)
	}
	return 1
}
