package tiff

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/codec"
)

// Values of tags, with TIFF 6.0's names.
const (
	// FillOrder
	msbFirst = 1
	lsbFirst = 2

	// PhotometricInterpretation
	whiteIsZero  = 0
	blackIsZero  = 1
	rgbPixels    = 2
	paletteIndex = 3
	separated    = 5 // CMYK
	yCbCr        = 6
	cieLab       = 8

	// PlanarConfiguration
	chunky         = 1
	separatePlanes = 2

	// SampleFormat
	unsignedSample = 1
	signedSample   = 2
	floatSample    = 3
	untypedSample  = 4

	// ExtraSamples
	unspecifiedExtra  = 0
	associatedAlpha   = 1
	unassociatedAlpha = 2
	corelAlpha        = 999 // Corel Draw 10 writes it for unassociatedAlpha

	// Predictor
	noPredictor         = 1
	horizontalPredictor = 2
	floatPredictor      = 3

	// NewSubfileType
	reducedImage = 1 << 0
	maskImage    = 1 << 2

	// T4Options
	t4TwoD = 1 << 0

	// Orientation
	uprightOrientation = 1
	firstTransposed    = 5 // from here on, width and height are exchanged
)

// maxTileSide limits the sides of tiles, in pixels.
const maxTileSide = 1 << 20

// Compression's values.
const (
	none       = 1
	ccittRLE   = 2
	ccittG3    = 3
	ccittG4    = 4
	lzwPacked  = 5
	oldJPEG    = 6
	jpegCoded  = 7
	deflate    = 8
	deflateOld = 32946
	packBits   = 32773
	lzma2      = 34925
	zstandard  = 50000
	webP       = 50001
)

var compressionNames = map[uint32]string{
	oldJPEG: "old JPEG", 32771: "16-bit aligned RLE", 32809: "ThunderScan", 34676: "SGI log", 34677: "SGI log 24",
	34887: "LERC", 33003: "JPEG 2000", 34712: "JPEG 2000", webP: "WebP", 50002: "JPEG XL",
}

// layout describes how an image's samples are stored in strips or tiles.
type layout struct {
	width, height int
	compression   uint32
	photo         uint32 // PhotometricInterpretation
	bits          int    // per sample
	samples       int    // per pixel
	planes        int    // 1, or samples for separate planes
	reverse       bool   // least significant bit first
	predictor     uint32
	twoD          bool // CCITT G3 with two-dimensional rows
	tiled         bool
	blockW        int
	blockH        int
	across, down  int
	offsets       values
	counts        values
	chopped       bool   // the blocks are parts of the strips in the file; see chop
	room          int64  // the size of every block if counts is missing
	tables        []byte // JPEGTables
	tolerant      bool   // of damaged blocks, whose end is zeros then
	subX, subY    int    // pixels of a chroma sample of packed YCbCr, else 0
}

// blocks returns the number of strips or tiles of all planes.
func (l *layout) blocks() int { return l.across * l.down * l.planes }

// rowBytes returns the number of bytes of a row of a block, of packed YCbCr
// that of a row of groups.
func (l *layout) rowBytes() int {
	if l.subX > 0 {
		return l.packed()
	}
	return (l.blockW*l.bits*(l.samples/l.planes) + 7) / 8
}

// lines returns the number of pieces of rowBytes of block i.
func (l *layout) lines(i int) int {
	if l.subX > 0 {
		return (l.rows(i) + l.subY - 1) / l.subY
	}
	return l.rows(i)
}

// chop divides the one strip of an uncompressed image, or of each plane, into
// strips of about stripBytes, as libtiff does, so that a window reads its own
// rows alone.
func (l *layout) chop() {
	const stripBytes = 64 << 10
	if l.compression != none || l.tiled || l.down > 1 || l.offsets.len() != l.planes {
		return
	}
	if rows := max(1, stripBytes/l.rowBytes()); rows < l.blockH {
		l.chopped, l.blockH = true, rows
		l.down = (l.height + rows - 1) / rows
	}
}

// offset returns where block i begins in the file.
func (l *layout) offset(i int) uint64 {
	if !l.chopped {
		return l.offsets.at64(i)
	}
	at := l.offsets.at64(i / l.down)
	if skip := uint64(i%l.down) * uint64(l.blockH) * uint64(l.rowBytes()); skip <= math.MaxUint64-at {
		return at + skip
	}
	return math.MaxUint64
}

// rows returns the number of rows of block i. The last strip is shorter than
// the others; a tile never is.
func (l *layout) rows(i int) int {
	if l.tiled {
		return l.blockH
	}
	return min(l.blockH, l.height-i%(l.across*l.down)/l.across*l.blockH)
}

// check checks the memory of one block against the limits.
func (l *layout) check(limits *codec.Limits) error {
	if err := limits.CheckSize(name, l.blockW, l.blockH, (l.bits*(l.samples/l.planes)+7)/8); err != nil {
		return err
	}
	if l.fax() {
		return limits.CheckSize(name, l.blockW, 1, 16) // the runs of two rows
	}
	return nil
}

// maxPadding bounds the pixels of strips and tiles that are decoded, as a
// multiple of Limits.Pixels. Files of tiles have less than that around their
// pixels; without the bound, a small file could have many tiles that are a
// million times as high as the image.
const maxPadding = 4

// checkWork checks the pixels of n blocks of a plane against the limits.
func (l *layout) checkWork(limits *codec.Limits, n int64) error {
	block := int64(l.blockW) * int64(l.blockH)
	if limits.Pixels > 0 && n > maxPadding*limits.Pixels/block {
		return codec.Errorf(name, -1, codec.ErrPixels, "%d strips or tiles of %dx%d pixels: the limit is %d pixels, %d times that of an image",
			n, l.blockW, l.blockH, maxPadding*limits.Pixels, maxPadding)
	}
	return nil
}

// fax reports whether the compression is one of CCITT's.
func (l *layout) fax() bool {
	return l.compression == ccittRLE || l.compression == ccittG3 || l.compression == ccittG4
}

// setSize sets the size and the compression.
func (l *layout) setSize(t *directory) error {
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
	l.width, l.height = int(w.at(0, 0)), int(ht.at(0, 0))
	l.compression, l.photo = t.get(tagCompression, none), t.get(tagPhotometric, whiteIsZero)
	switch l.compression {
	case none, ccittRLE, ccittG3, ccittG4, lzwPacked, jpegCoded, deflate, deflateOld, packBits, zstandard, lzma2, webP:
	default:
		return l.refuse()
	}
	l.tables = nil
	if l.compression == jpegCoded {
		l.tables = t.tags[tagJPEGTables].data
	}
	return nil
}

// refuse returns the error of an unsupported compression.
func (l *layout) refuse() error {
	n := compressionNames[l.compression]
	if n == "" {
		n = fmt.Sprint(l.compression)
	}
	return unsupported("compression %s", n)
}

// setBlocks sets the strips or tiles as libtiff does or, if plain, as Pillow
// does for uncompressed images.
func (l *layout) setBlocks(t *directory, plain bool) error {
	if t.refused && !plain {
		return bad(-1, "a compressed image whose directory is cut, or has a tag of a wrong type or number")
	}
	if t.hidden && !plain {
		return unsupported("a compressed image whose directory has an empty tag or values behind the file's end")
	}
	l.predictor = noPredictor
	switch l.compression {
	case lzwPacked, deflate, deflateOld, zstandard, lzma2:
		l.predictor = t.single(tagPredictor, noPredictor)
	case ccittRLE, ccittG3, ccittG4:
		if l.bits != 1 || l.samples != 1 {
			return bad(-1, "CCITT compression of %d samples of %d bits", l.samples, l.bits)
		}
		l.twoD = t.single(tagT4Options, 0)&t4TwoD != 0
	case jpegCoded, webP:
		if l.bits != 8 {
			return unsupported("%s of %d bits", map[bool]string{true: "JPEG", false: "WebP"}[l.compression == jpegCoded], l.bits)
		}
	}
	switch whole := l.bits == 8 || l.bits == 16 || l.bits == 32 || l.bits == 64; {
	case l.predictor == noPredictor, l.predictor == horizontalPredictor && whole:
	case l.predictor == floatPredictor && whole && l.bits > 8 && t.get(tagSampleFormat, unsignedSample) == floatSample:
	default:
		return unsupported("predictor %d with %d bits", l.predictor, l.bits)
	}
	if err := l.setLayout(t, plain); err != nil {
		return err
	}
	l.across, l.down = (l.width+l.blockW-1)/l.blockW, (l.height+l.blockH-1)/l.blockH
	n := int64(l.across) * int64(l.down) * int64(l.planes)
	if plain {
		return nil
	}
	if have := int64(l.offsets.len()); have < n {
		return bad(-1, "offsets of %d strips or tiles, want %d", have, n)
	}
	return l.setCounts(t, n)
}

// setLayout sets the size of the strips or tiles and the offsets. For
// compressed images, which libtiff reads, the tags of a tile's size say whether
// there are tiles; offsets and sizes may stand in the tags of strips or of
// tiles. Pillow reads plain images by the tag of the offsets.
func (l *layout) setLayout(t *directory, plain bool) error {
	l.offsets, l.counts = t.tags[tagStripOffsets], t.tags[tagStripCounts]
	l.blockW, l.blockH = l.width, int(min(t.get(tagRowsPerStrip, uint32(l.height)), uint32(l.height)))
	l.tiled = l.offsets.len() == 0
	if !plain {
		for _, tag := range [...]uint16{tagWidth, tagHeight, tagSamplesPerPixel, tagRowsPerStrip, tagPlanar, tagTileWidth, tagTileHeight} {
			if n := t.tags[tag].len(); n > 1 {
				return bad(-1, "tag %d with %d values, want 1", tag, n)
			}
		}
		l.tiled = t.tags[tagTileWidth].len() > 0 || t.tags[tagTileHeight].len() > 0
		if v := t.tags[tagTileOffsets]; v.len() > 0 {
			l.offsets = v
		}
		if v := t.tags[tagTileCounts]; v.len() > 0 {
			l.counts = v
		}
	} else if l.tiled {
		l.offsets = t.tags[tagTileOffsets]
	}
	if l.offsets.len() == 0 {
		return bad(-1, "neither strips nor tiles")
	}
	if l.tiled {
		tw, th := t.get(tagTileWidth, 0), t.get(tagTileHeight, 0)
		if tw > maxTileSide || th > maxTileSide {
			return codec.Errorf(name, -1, codec.ErrLimit, "tiles of %dx%d pixels, a side has at most %d", tw, th, maxTileSide)
		}
		l.blockW, l.blockH = int(tw), int(th)
	}
	if l.blockW == 0 || l.blockH == 0 {
		return bad(-1, "strips or tiles of %dx%d pixels", l.blockW, l.blockH)
	}
	return nil
}

// setCounts checks the sizes of n compressed strips or tiles. Like libtiff it
// estimates missing ones if there is one block in a plane, and a zero if there
// is one strip.
func (l *layout) setCounts(t *directory, n int64) error {
	have := int64(l.counts.len())
	switch {
	case have >= n && have != int64(l.offsets.len()):
		return unsupported("sizes of %d strips or tiles and offsets of %d", have, l.offsets.len())
	case have == 0 && (n == 1 || l.planes > 1 && n == int64(l.planes)):
	case n == 1 && !l.tiled && l.counts.at64(0) == 0 && l.offsets.at64(0) != 0:
	case have < n:
		return bad(-1, "sizes of %d strips or tiles, want %d", have, n)
	default:
		return nil
	}
	if t.odd {
		return bad(-1, "no sizes of strips or tiles, and a tag of unknown type")
	}
	l.counts = values{}
	if l.room = t.file.size; l.room >= t.size {
		l.room -= t.size
	}
	l.room /= int64(l.planes)
	return nil
}
