package tiff

import "github.com/infer-prep/infer-prep/codec"

// The values of tags; TIFF 6.0 gives them meaning.
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

	// PlanarConfiguration
	chunky         = 1
	separatePlanes = 2

	// SampleFormat
	unsignedSample = 1
	signedSample   = 2

	// ExtraSamples
	unspecifiedExtra  = 0
	associatedAlpha   = 1
	unassociatedAlpha = 2
	corelAlpha        = 999 // Corel Draw 10 writes it for unassociatedAlpha

	// Predictor
	noPredictor         = 1
	horizontalPredictor = 2

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

// setMode selects the mode of Pillow's OPEN_INFO table.
func (h *header) setMode(t *directory) error {
	photo := t.get(tagPhotometric, whiteIsZero)
	switch fill := t.get(tagFillOrder, msbFirst); fill {
	case msbFirst, lsbFirst:
		h.reverse = fill == lsbFirst
	default:
		return bad(-1, "fill order %d, want 1 or 2", fill)
	}
	formats := t.tags[tagSampleFormat]
	format := formats.at(0, unsignedSample)
	for i := range formats.len() {
		if formats.at(i, unsignedSample) != format {
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
		kinds[i] = extras.at(i, unspecifiedExtra)
		unspecified = unspecified && kinds[i] == unspecifiedExtra
	}
	planar := t.get(tagPlanar, chunky)
	if planar != chunky && planar != separatePlanes && h.compression != none { // Pillow takes others for chunky
		return bad(-1, "planar configuration %d, want 1 or 2", planar)
	}
	apart := planar == separatePlanes
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
	base := map[uint32]int{whiteIsZero: 1, blackIsZero: 1, rgbPixels: 3, paletteIndex: 1, separated: 4}[photo]
	if base == 0 {
		return unsupported("photometric interpretation %d", photo)
	}
	// Alpha is the first extra sample; later ones are ignored.
	alpha := uint32(unspecifiedExtra)
	if nExtra > 0 {
		alpha = kinds[0]
		for _, k := range kinds[1:nExtra] {
			if k != unspecifiedExtra {
				return unsupported("several extra samples with a meaning")
			}
		}
	}
	if photo == rgbPixels && nExtra == 0 && h.samples == 4 {
		alpha, nExtra = unassociatedAlpha, 1 // the file lacks ExtraSamples
		if apart && h.compression != none {
			return unsupported("compressed planes of RGBA without ExtraSamples")
		}
	}
	if alpha == corelAlpha && photo == rgbPixels && h.bits == 8 && nExtra == 1 {
		alpha = unassociatedAlpha
	}
	if h.samples != base+nExtra || alpha > unassociatedAlpha {
		return unsupported("%d samples per pixel, %d of them extra, photometric interpretation %d", h.samples, nExtra, photo)
	}
	h.signed = format == signedSample
	if format != unsignedSample && !(h.signed && photo == blackIsZero && h.samples == 1 && (h.bits == 8 || h.bits == 16 || h.bits == 32) && !h.reverse) {
		return unsupported("sample format %d with %d bits", format, h.bits)
	}
	ok := false
	switch h.bits {
	case 1, 2, 4:
		ok = h.samples == 1 && photo != separated
	case 8:
		ok = !h.reverse || h.samples == base && photo != separated
	case 32:
		ok = photo == blackIsZero && h.samples == 1 && !h.reverse && (h.signed || !h.bigEndian)
	case 16:
		switch photo {
		case whiteIsZero: // not inverted in Pillow
			ok = h.samples == 1 && !h.reverse && !h.bigEndian
		case blackIsZero:
			ok = h.samples == 1 && !(h.reverse && h.bigEndian)
		case rgbPixels:
			ok = h.samples <= 4 && !h.reverse
		case separated:
			ok = h.samples == 4 && !h.reverse
		}
	}
	if !ok {
		return unsupported("%d samples of %d bits, fill order %d, photometric interpretation %d",
			h.samples, h.bits, t.get(tagFillOrder, msbFirst), photo)
	}
	switch photo {
	case whiteIsZero, blackIsZero:
		h.mode, h.invert = codec.L, photo == whiteIsZero && h.bits < 16
		if h.bits >= 16 {
			h.mode = codec.I16
		}
		if h.samples > 1 && photo == whiteIsZero {
			return unsupported("extra samples of white-is-zero gray")
		}
		if alpha == unassociatedAlpha {
			h.mode = codec.LA
		}
	case rgbPixels:
		h.mode = codec.RGB
		if alpha != unspecifiedExtra {
			h.mode, h.associated = codec.RGBA, alpha == associatedAlpha
		}
	case paletteIndex:
		h.mode = codec.P
		if t.tags[tagColorMap].len() == 0 {
			return bad(-1, "a palette image without a palette")
		}
		if alpha == unassociatedAlpha && nExtra == 1 && h.bits == 8 {
			h.mode, h.paletteAlpha = codec.RGBA, true
		}
	case separated:
		h.mode = codec.CMYK
	}
	if photo == blackIsZero && alpha == associatedAlpha || photo == paletteIndex && alpha != unspecifiedExtra && !h.paletteAlpha ||
		photo == separated && alpha != unspecifiedExtra {
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
	switch p := t.single(tagPredictor, noPredictor); {
	case p == noPredictor || h.compression != lzwPacked && h.compression != deflate && h.compression != deflateOld:
	case p == horizontalPredictor && (h.bits == 8 || h.bits == 16 || h.bits == 32):
		h.predictor = true
	default:
		return unsupported("predictor %d with %d bits", p, h.bits)
	}
	if h.compression == ccittRLE || h.compression == ccittG3 || h.compression == ccittG4 {
		if h.bits != 1 || h.samples != 1 {
			return bad(-1, "CCITT compression of %d samples of %d bits", h.samples, h.bits)
		}
		h.twoD = t.single(tagT4Options, 0)&t4TwoD != 0
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
		if tw > maxTileSide || th > maxTileSide {
			return codec.Errorf(name, -1, codec.ErrLimit, "tiles of %dx%d pixels, a side has at most %d", tw, th, maxTileSide)
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
