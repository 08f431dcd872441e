package tiff

import (
	"math"

	"github.com/infer-prep/infer-prep/codec"
)

// header holds the directory's description of the pixels for Pillow.
type header struct {
	layout
	mode         codec.Mode
	apart        bool
	signed       bool
	float        bool
	paletteAlpha bool // index and alpha, converted to RGBA
	invert       bool
	associated   bool // colours are multiplied by alpha
	ycc          bool // YCbCr that libjpeg does not convert
	halved       bool // Pillow reads bytes as samples of 16 bits
	bigEndian    bool
}

// setMode selects the mode of Pillow's OPEN_INFO table.
func (h *header) setMode(t *directory) error {
	photo := h.photo
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
	if h.compression == jpegCoded {
		switch {
		case h.reverse: // libtiff does not reverse the bits of JPEG
			return unsupported("JPEG with fill order 2")
		case photo == yCbCr && !apart && h.bits == 8 && format == unsignedSample && nExtra == 0:
			base = 3 // libjpeg converts to RGB
		}
	}
	if photo == yCbCr && h.compression != jpegCoded && h.bits == 8 && format == unsignedSample && nExtra == 0 && !h.reverse &&
		(!apart || h.compression != none) {
		base, h.ycc = 3, true
	}
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
	h.signed, h.float = format == signedSample, format == floatSample
	if h.float && h.bits == 32 && h.samples == 1 && !h.reverse && photo <= blackIsZero && alpha == unspecifiedExtra {
		h.mode, h.planes = codec.I16, 1
		return nil
	}
	if format != unsignedSample && !(h.signed && photo == blackIsZero && h.samples == 1 && (h.bits == 8 || h.bits == 16 || h.bits == 32) && !h.reverse) {
		return unsupported("sample format %d with %d bits", format, h.bits)
	}
	ok := false
	switch h.bits {
	case 1, 2, 4:
		ok = h.samples == 1 && photo != separated
	case 8:
		ok = !h.reverse || h.samples == base && photo != separated
	case 12:
		ok = photo == blackIsZero && h.samples == 1 && !h.reverse && !h.bigEndian
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
		if h.bits >= 12 {
			h.mode = codec.I16
		}
		if h.samples > 1 && photo == whiteIsZero {
			return unsupported("extra samples of white-is-zero gray")
		}
		if alpha == unassociatedAlpha {
			h.mode = codec.LA
		}
	case yCbCr:
		h.mode = codec.RGB
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
		ok := h.bits == 8 || h.bits == 16
		switch h.mode {
		case codec.RGB, codec.CMYK:
		case codec.RGBA:
			ok = ok && !h.paletteAlpha && (!h.associated || h.compression != none)
		default:
			ok = false
		}
		if !ok {
			return unsupported("planes apart with mode %v of %d bits", h.mode, h.bits)
		}
		h.planes = h.samples
		if h.bits == 16 && h.compression == none {
			h.halved, h.bits = true, 8
		}
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
	plain := h.compression == none
	if err := h.layout.setBlocks(t, plain); err != nil {
		return err
	}
	if h.tiled && h.blockW*h.bits*h.samples/h.planes%8 != 0 {
		return unsupported("tiles whose rows are no whole bytes")
	}
	if h.tiled && h.halved {
		return unsupported("uncompressed tiles of planes of 16 bits")
	}
	if h.ycc && (!plain || small) {
		h.tolerant = true
		return h.setChroma(t)
	}
	if !plain {
		if small {
			return nil
		}
		return h.checkLibtiff(t)
	}
	if !small && h.bits == 8 && h.mode == codec.L && h.invert && h.reverse {
		return bad(-1, "8 bits of inverted gray in reverse order, which Pillow does not unpack")
	}
	n, have := int64(h.across)*int64(h.down)*int64(h.planes), int64(h.offsets.len())
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
	h.offsets.n = len(h.offsets.data)
	return nil
}

// checkLibtiff refuses what libtiff, or Pillow behind it, refuses of a
// compressed image.
func (h *header) checkLibtiff(t *directory) error {
	if v := t.tags[tagCompression]; v.len() > 1 {
		for i := range h.samples {
			if v.at(i, 0) != h.compression {
				return bad(-1, "%d values of tag %d: want equal ones, one for each sample", v.len(), tagCompression)
			}
		}
	}
	if n := t.tags[tagColorMap].len(); h.photo == paletteIndex && h.bits < 8 && (n != 3<<h.bits || t.early) {
		return bad(-1, "a palette of %d numbers, want %d behind the tag of bits", n, 3<<h.bits)
	}
	rows := t.get(tagRowsPerStrip, math.MaxUint32)
	if t.tags[tagRowsPerStrip].at64(0) > math.MaxUint32 {
		return bad(-1, "strips of %d rows, want at most %d", t.tags[tagRowsPerStrip].at64(0), uint32(math.MaxUint32))
	}
	if !h.tiled && rows != math.MaxUint32 && int64(rows)*int64(h.rowBytes()) > math.MaxInt32 {
		return codec.Errorf(name, -1, codec.ErrLimit, "strips of %d rows of %d bytes, want at most 2 GiB", rows, h.rowBytes())
	}
	return nil
}
