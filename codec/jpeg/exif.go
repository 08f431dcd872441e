package jpeg

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
)

// meta holds the metadata that Pillow's plugin collects from the application
// segments.
type meta struct {
	exif      []byte // the Exif segments, joined, with the first one's "Exif\0\0"
	first     []byte // the first Exif segment that is not empty, without it
	firstAPP1 []byte // the first APP1 segment, whatever it holds
	hasExif   bool
	joined    bool // exif is a copy, not part of the file
	xmp       []byte
	hasDPI    bool // from JFIF
}

// addExif records an APP1 Exif segment, "Exif\0\0" included.
func (m *meta) addExif(s []byte) {
	if len(m.first) == 0 {
		m.first = s[6:]
	}
	if !m.hasExif {
		m.exif, m.hasExif = s, true
		return
	}
	if !m.joined {
		m.exif, m.joined = bytes.Clone(m.exif), true
	}
	m.exif = append(m.exif, s[6:]...)
}

const (
	tagOrientation    = 0x0112
	tagXResolution    = 0x011A
	tagResolutionUnit = 0x0128
)

// tiffSize is the size of a value of each TIFF type that Pillow knows, 0 for
// others.
var tiffSize = [17]int64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}

// tiffValue is the value of a tag.
type tiffValue struct {
	typ  uint16
	data []byte
}

// exifIFD reads the required tags of the first directory as Pillow's
// ImageFileDirectory_v2 does. ok is false if the header is invalid.
func (m *meta) exifIFD() (tags [3]tiffValue, order binary.ByteOrder, empty, ok bool) {
	b := m.exif
	for range 2 {
		b = bytes.TrimPrefix(b, []byte("Exif\x00\x00"))
	}
	if len(b) == 0 {
		return tags, nil, true, true
	}
	if len(b) < 8 {
		return tags, nil, false, false
	}
	switch string(b[:4]) {
	case "MM\x00\x2a", "MM\x2a\x00", "MM\x00\x2b":
		order = binary.BigEndian
	case "II\x2a\x00", "II\x00\x2a":
		order = binary.LittleEndian
	default: // little-endian BigTIFF too: Pillow reads only 8 bytes of header
		return tags, nil, false, false
	}
	n := int64(len(b))
	at := int64(order.Uint32(b[4:]))
	if at+2 > n {
		return tags, order, false, true
	}
	count := int(order.Uint16(b[at:]))
	at += 2
	total := int64(0)
	var seen [1 << 16 / 64]uint64 // tags with a value; duplicates are skipped
	for range count {
		if at+12 > n {
			break
		}
		tag, typ := order.Uint16(b[at:]), order.Uint16(b[at+2:])
		num := int64(order.Uint32(b[at+4:]))
		v := b[at+8 : at+12]
		at += 12
		i := -1
		switch tag {
		case tagOrientation:
			i = 0
		case tagXResolution:
			i = 1
		case tagResolutionUnit:
			i = 2
		}
		if seen[tag/64]&(1<<(tag%64)) != 0 || int(typ) >= len(tiffSize) || tiffSize[typ] == 0 {
			continue
		}
		size := num * tiffSize[typ]
		if size > 4 {
			// Pillow skips the value if all values together are larger than the
			// data.
			if total += size; total > n {
				continue
			}
			off := int64(order.Uint32(v))
			if off+size > n {
				break // Pillow stops reading the directory
			}
			v = b[off : off+size]
		} else {
			v = v[:size]
		}
		if size == 0 {
			continue
		}
		seen[tag/64] |= 1 << (tag % 64)
		if i >= 0 {
			tags[i] = tiffValue{typ, v}
		}
	}
	return tags, order, false, true
}

// orientation returns Pillow's getexif().get(0x0112) if it is 2 to 8, else 1;
// or OpenCV's orientation.
func (m *meta) orientation(damage codec.Damage) int {
	switch {
	case damage.OpenCV():
		return exif.OpenCV(m.first)
	case damage == codec.DamageTorchCodec:
		return exif.TorchCodec(m.firstAPP1[min(6, len(m.firstAPP1)):])
	}
	if m.hasExif {
		tags, order, _, ok := m.exifIFD()
		if !ok {
			return 1
		}
		if v := tags[0]; v.data != nil {
			return v.orientation(order)
		}
	}
	// If the tag is missing, Pillow searches XMP:
	// tiff:Orientation(="|>)([0-9]).
	for x := m.xmp; ; {
		_, after, found := bytes.Cut(x, []byte("tiff:Orientation"))
		if !found {
			return 1
		}
		x = after
		rest, ok := bytes.CutPrefix(x, []byte(`="`))
		if !ok {
			rest, ok = bytes.CutPrefix(x, []byte(">"))
		}
		if ok && len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
			return validOrientation(float64(rest[0] - '0'))
		}
	}
}

func validOrientation(f float64) int {
	if f >= 1 && f <= 8 && f == math.Trunc(f) {
		return int(f)
	}
	return 1
}

// orientation returns the first value as a number. Pillow ignores bytes and
// text.
func (v tiffValue) orientation(order binary.ByteOrder) int {
	b := v.data
	var f float64
	switch v.typ {
	case 3:
		f = float64(order.Uint16(b))
	case 4, 13:
		f = float64(order.Uint32(b))
	case 5:
		f = float64(order.Uint32(b)) / float64(order.Uint32(b[4:]))
	case 6:
		f = float64(int8(b[0]))
	case 8:
		f = float64(int16(order.Uint16(b)))
	case 9:
		f = float64(int32(order.Uint32(b)))
	case 10:
		f = float64(int32(order.Uint32(b))) / float64(int32(order.Uint32(b[4:])))
	case 11:
		f = float64(math.Float32frombits(order.Uint32(b)))
	case 12:
		f = math.Float64frombits(order.Uint64(b))
	case 16:
		f = float64(order.Uint64(b))
	}
	return validOrientation(f)
}

// badDPI reports whether Pillow fails on the file's resolution. Pillow reads it
// from Exif if JFIF has none, and fails on text or bytes of length one.
func (m *meta) badDPI() bool {
	if m.hasDPI || !m.hasExif {
		return false
	}
	tags, _, empty, ok := m.exifIFD()
	if !ok || empty || tags[1].data == nil || tags[2].data == nil {
		return false
	}
	b := tags[1].data
	switch tags[1].typ {
	case 1, 7:
		return len(b) == 1
	case 2:
		s := strings.TrimSuffix(string(b), "\x00")
		return s == "" || len(s) == 1 && s[0] >= '0' && s[0] <= '9'
	}
	return false
}
