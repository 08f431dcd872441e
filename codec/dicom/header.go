package dicom

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
)

// number is an element of VR US: -1 if the file has none.
type number = int

// header holds what the elements say about the pixels.
type header struct {
	syntax   *syntax
	order    binary.ByteOrder
	implicit bool

	rows, columns, samples, planar, allocated, stored, signed number
	frames                                                    int
	photometric                                               []byte

	pixels          element // (7FE0,0008), (7FE0,0009) or (7FE0,0010); tag 0 if there is none
	offsets, length []byte  // the extended offset table

	// Elements that only ReadValues parses.
	slope, intercept, center, width, function, shape element
	modality, voi                                    element
	palette                                          [3]element // descriptors
	colors                                           [3]element
	segmented, supplemental, alpha                   bool // palettes that are refused
}

// A named element of errors.
const (
	rowsTag        = "Rows (0028,0010)"
	columnsTag     = "Columns (0028,0011)"
	samplesTag     = "Samples per Pixel (0028,0002)"
	photometricTag = "Photometric Interpretation (0028,0004)"
	planarTag      = "Planar Configuration (0028,0006)"
	allocatedTag   = "Bits Allocated (0028,0100)"
	storedTag      = "Bits Stored (0028,0101)"
	signedTag      = "Pixel Representation (0028,0103)"
	framesTag      = "Number of Frames (0028,0008)"
)

// missing returns the error for an element that a file lacks.
func missing(tag string) error {
	return codec.Errorf(name, -1, codec.ErrFormat, "the file has no %s", tag)
}

// inflater keeps the memory of deflated files.
type inflater struct {
	r   io.ReadCloser
	out bytes.Buffer
}

// inflate returns the elements of a deflated file.
func (f *inflater) inflate(data []byte, limit int64) ([]byte, error) {
	if f.r == nil {
		f.r = flate.NewReader(bytes.NewReader(data))
	} else if err := f.r.(flate.Resetter).Reset(bytes.NewReader(data), nil); err != nil {
		return nil, bad(-1, "deflated elements: %v", err)
	}
	f.out.Reset()
	if limit <= 0 {
		limit = 1<<63 - 2
	}
	n, err := f.out.ReadFrom(io.LimitReader(f.r, limit+1))
	if n > limit {
		return nil, codec.Errorf(name, -1, codec.ErrBytes, "deflated elements of more than %d bytes, the limit", limit)
	}
	if err != nil {
		return nil, bad(-1, "deflated elements: %v", err)
	}
	return f.out.Bytes(), nil
}

// parse reads all elements up to the pixels.
func (h *header) parse(data []byte, limits codec.Limits, f *inflater) error {
	*h = header{rows: -1, columns: -1, samples: -1, planar: -1, allocated: -1, stored: -1, signed: -1, frames: 1}
	if len(data) < magicAt+len(magic) || string(data[magicAt:][:len(magic)]) != magic {
		return bad(0, "no %s at offset %d", magic, magicAt)
	}
	r := elements{data: data, pos: magicAt + len(magic), order: binary.LittleEndian}
	for {
		if len(r.data)-r.pos < 4 || r.tag(r.pos)>>16 != 2 {
			break
		}
		e, ok, err := r.next(0)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if e.tag == 0x00020010 {
			h.syntax = findSyntax(text(e.value))
		}
	}
	if h.syntax == nil {
		return missing("Transfer Syntax UID (0002,0010)")
	}
	if h.syntax.deflated {
		b, err := f.inflate(r.data[r.pos:], limits.Bytes)
		if err != nil {
			return err
		}
		r.data, r.pos = b, 0
	}
	if h.syntax.big {
		r.order = binary.BigEndian
	}
	r.implicit = h.syntax.implicit
	r.guess()
	h.order, h.implicit = r.order, r.implicit
	for {
		e, ok, err := r.next(0)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		if err := h.add(&e, r.pos); err != nil {
			return err
		}
		if e.tag>>16 >= 0x7FE0 && h.pixels.tag != 0 {
			return nil
		}
	}
}

// add keeps an element, which ends before offset end.
func (h *header) add(e *element, end int) error {
	n := func(to *number, tag string) error {
		if len(e.value) == 0 {
			return nil
		}
		if len(e.value) != 2 {
			return bad(end-len(e.value), "%s has %d bytes, want 2", tag, len(e.value))
		}
		*to = number(h.order.Uint16(e.value))
		return nil
	}
	switch e.tag {
	case 0x00280002:
		return n(&h.samples, samplesTag)
	case 0x00280004:
		h.photometric = text(e.value)
	case 0x00280006:
		return n(&h.planar, planarTag)
	case 0x00280008:
		if len(text(e.value)) == 0 {
			break
		}
		v, err := strconv.Atoi(string(text(e.value)))
		if err != nil || v < 0 || v > 1<<31-1 {
			return bad(end-len(e.value), "%s %q: want a whole number", framesTag, e.value[:min(len(e.value), 16)])
		}
		h.frames = max(v, 1)
	case 0x00280010:
		return n(&h.rows, rowsTag)
	case 0x00280011:
		return n(&h.columns, columnsTag)
	case 0x00280100:
		return n(&h.allocated, allocatedTag)
	case 0x00280101:
		return n(&h.stored, storedTag)
	case 0x00280103:
		return n(&h.signed, signedTag)
	case 0x00281050:
		h.center = *e
	case 0x00281051:
		h.width = *e
	case 0x00281052:
		h.intercept = *e
	case 0x00281053:
		h.slope = *e
	case 0x00281056:
		h.function = *e
	case 0x00281101, 0x00281102, 0x00281103:
		h.palette[e.tag-0x00281101] = *e
	case 0x00281201, 0x00281202, 0x00281203:
		h.colors[e.tag-0x00281201] = *e
	case 0x00281221, 0x00281222, 0x00281223:
		h.segmented = true
	case 0x00281204, 0x00281224:
		h.alpha = true
	case 0x00089205: // Pixel Presentation
		s := string(text(e.value))
		h.supplemental = s == "MIXED" || s == "COLOR"
	case 0x00283000:
		h.modality = *e
	case 0x00283010:
		h.voi = *e
	case 0x20500020:
		h.shape = *e
	case 0x7FE00001:
		h.offsets = e.value
	case 0x7FE00002:
		h.length = e.value
	case 0x7FE00008, 0x7FE00009, 0x7FE00010:
		h.pixels = *e
	}
	return nil
}

// check checks the elements that describe the pixels, as pydicom's
// RunnerBase._validate_options does.
func (h *header) check() error {
	if h.syntax.coding == refused {
		return unsupported("transfer syntax %s, %s: want uncompressed, RLE, JPEG Baseline, JPEG Lossless or JPEG 2000 pixels", h.syntax.uid, h.syntax.name)
	}
	if h.pixels.tag == 0 {
		return missing("Pixel Data (7FE0,0010)")
	}
	float := h.pixels.tag != 0x7FE00010
	for _, v := range [...]struct {
		n        number
		tag      string
		optional bool
	}{
		{h.rows, rowsTag, false}, {h.columns, columnsTag, false}, {h.samples, samplesTag, false},
		{h.allocated, allocatedTag, false}, {h.stored, storedTag, float}, {h.signed, signedTag, float},
	} {
		if v.n < 0 && !v.optional {
			return missing(v.tag)
		}
	}
	if len(h.photometric) == 0 {
		return missing(photometricTag)
	}
	a := int(h.allocated)
	switch {
	case h.rows == 0 || h.columns == 0:
		return bad(-1, "%dx%d pixels: want at least 1x1", h.columns, h.rows)
	case a != 1 && a != 8 && a != 16 && a != 32 && a != 64:
		return unsupported("%s %d: want 1, 8, 16, 32 or 64", allocatedTag, a)
	case !float && (h.stored < 1 || h.stored > h.allocated):
		return bad(-1, "%s %d: want 1 to %s, %d", storedTag, h.stored, allocatedTag, a)
	case !float && h.signed > 1:
		return bad(-1, "%s %d: want 0 or 1", signedTag, h.signed)
	case h.samples != 1 && h.samples != 3:
		return unsupported("%s %d: want 1 or 3", samplesTag, h.samples)
	case h.samples == 3 && h.planar < 0:
		return missing(planarTag)
	case h.samples == 3 && h.planar > 1:
		return bad(-1, "%s %d: want 0 or 1", planarTag, h.planar)
	case float && (h.pixels.tag == 0x7FE00008) != (a == 32) || float && a != 32 && a != 64:
		return bad(-1, "%s %d of floating-point pixels: want 32 or 64", allocatedTag, a)
	case float && (h.samples != 1 || h.syntax.coding != native):
		return unsupported("floating-point pixels with %d samples in transfer syntax %s", h.samples, h.syntax.name)
	case a == 1 && (h.samples != 1 || h.syntax.coding != native):
		return unsupported("pixels of 1 bit with %d samples in transfer syntax %s: want one sample, uncompressed", h.samples, h.syntax.name)
	case !float && h.signed == 0 && a > 16:
		return unsupported("uint%d pixels, which tensors do not have", a)
	}
	gray := h.is("MONOCHROME1") || h.is("MONOCHROME2") || h.is("PALETTE COLOR")
	color := h.is("RGB") || h.is("YBR_FULL") || h.is("YBR_FULL_422") || h.syntax.coding == jpeg2000 && (h.is("YBR_RCT") || h.is("YBR_ICT"))
	if h.samples == 1 && !gray || h.samples == 3 && !color {
		return unsupported("%s %q with %d samples: want MONOCHROME1, MONOCHROME2 or PALETTE COLOR with 1, or RGB, YBR_FULL or YBR_FULL_422 with 3", photometricTag, h.photometric, h.samples)
	}
	if h.is("YBR_FULL_422") && h.syntax.coding == native && (h.planar != 0 || int(h.rows)*int(h.columns)%2 != 0) {
		return unsupported("YBR_FULL_422 by planes, or with an odd number of pixels")
	}
	return nil
}

// is reports whether the photometric interpretation is s.
func (h *header) is(s string) bool { return string(h.photometric) == s }
