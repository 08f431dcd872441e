// Package exif reads the orientation of an image from its metadata.
package exif

import (
	"bytes"
	"encoding/binary"
)

// tagOrientation is EXIF's and TIFF's tag 0x0112.
const tagOrientation = 0x0112

// Orientation returns the orientation of an EXIF block, with or without its
// "Exif\0\0" prefix, and reports whether the block has the tag. Invalid values
// count as 1, as in Pillow's ImageOps.exif_transpose. A damaged block has no
// tag.
func Orientation(exif []byte) (orientation int, found bool) {
	for range 2 { // Pillow strips the prefix once or twice
		exif = bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))
	}
	if len(exif) < 8 {
		return 1, false
	}
	var order binary.ByteOrder
	switch string(exif[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1, false
	}
	p := uint64(order.Uint32(exif[4:]))
	if p+2 > uint64(len(exif)) {
		return 1, false
	}
	n := int(order.Uint16(exif[p:]))
	for e := exif[p+2:]; n > 0 && len(e) >= 12; n, e = n-1, e[12:] {
		if order.Uint16(e) != tagOrientation {
			continue
		}
		typ, count, b := order.Uint16(e[2:]), uint64(order.Uint32(e[4:])), e[8:12]
		size := map[uint16]uint64{3: 2, 4: 4, 6: 1, 8: 2, 9: 4}[typ] // SHORT, LONG, SBYTE, SSHORT, SLONG
		if size*count > 4 {
			at := uint64(order.Uint32(b))
			if at+size*count > uint64(len(exif)) {
				return 1, false
			}
			b = exif[at:]
		}
		v := uint32(0) // the first value of a list; 0 for other types
		switch {
		case count == 0:
			continue
		case size == 1:
			v = uint32(b[0])
		case size == 2:
			v = uint32(order.Uint16(b))
		case size == 4:
			v = order.Uint32(b)
		}
		if v >= 1 && v <= 8 {
			return int(v), true
		}
		return 1, true
	}
	return 1, false
}

// XMPOrientation returns the tiff:Orientation of an XMP packet, 1 if it has
// none. Pillow uses it if EXIF has no orientation. Like Pillow, it searches the
// text and does not parse XML.
func XMPOrientation(xmp []byte) int {
	key := []byte("tiff:Orientation")
	for {
		i := bytes.Index(xmp, key)
		if i < 0 {
			return 1
		}
		xmp = xmp[i+len(key):]
		v := xmp
		switch {
		case bytes.HasPrefix(v, []byte(`="`)):
			v = v[2:]
		case bytes.HasPrefix(v, []byte(">")):
			v = v[1:]
		default:
			continue
		}
		if len(v) > 0 && v[0] >= '0' && v[0] <= '9' {
			if v[0] >= '1' && v[0] <= '8' {
				return int(v[0] - '0')
			}
			return 1
		}
	}
}

// OpenCV returns the orientation that OpenCV 5.0.0 finds in a TIFF header and
// directory, 1 if none. It takes the 16 bits where a SHORT is, whatever the
// entry's type and count. It stops at a text or fraction of the standard tags
// that lies outside the block; an orientation before it counts.
func OpenCV(b []byte) int {
	if len(b) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian // also after other marks than MM
	if b[0] == 'I' && b[1] == 'I' {
		order = binary.LittleEndian
	}
	if order.Uint16(b[2:]) != 42 {
		return 1
	}
	size := uint64(len(b))
	p := uint64(order.Uint32(b[4:]))
	if p+2 > size {
		return 1
	}
	n := order.Uint16(b[p:])
	for p += 2; n > 0 && p+2 <= size; n, p = n-1, p+12 {
		tag, rationals := order.Uint16(b[p:]), uint64(0)
		switch tag {
		case tagOrientation:
			if p+10 > size {
				return 1
			}
			if v := order.Uint16(b[p+8:]); v >= 1 && v <= 8 {
				return int(v)
			}
			return 1
		case 0x0128, 0x0213: // ResolutionUnit, YCbCrPositioning
			if p+10 > size {
				return 1
			}
			continue
		case 0x010E, 0x010F, 0x0110, 0x0131, 0x0132, 0x8298: // texts
			if p+8 > size {
				return 1
			}
			length, at := uint64(order.Uint32(b[p+4:])), uint64(8)
			if length > 4 {
				if p+12 > size {
					return 1
				}
				at = uint64(order.Uint32(b[p+8:]))
			}
			if at+length > size {
				return 1
			}
			continue
		case 0x011A, 0x011B: // XResolution, YResolution
			rationals = 1
		case 0x013E: // WhitePoint
			rationals = 2
		case 0x0211: // YCbCrCoefficients
			rationals = 3
		case 0x013F, 0x0214: // PrimaryChromaticities, ReferenceBlackWhite
			rationals = 6
		default:
			continue
		}
		if p+12 > size || uint64(order.Uint32(b[p+8:]))+8*rationals > size {
			return 1
		}
	}
	return 1
}

// TorchCodec returns the orientation that TorchCodec 0.17.0 finds in a TIFF
// header and directory, 1 if none. It takes the 16 bits where a SHORT is,
// whatever the entry's type and count. A value outside the block is 0xffff, and
// offsets wrap at 32 bits.
func TorchCodec(b []byte) int {
	little := len(b) > 1 && b[0] == 'I' && b[1] == 'I'
	const outside = 0xffff
	at16 := func(p uint32) uint16 {
		switch i := uint64(p); {
		case i+1 >= uint64(len(b)):
			return outside
		case little:
			return binary.LittleEndian.Uint16(b[i:])
		default:
			return binary.BigEndian.Uint16(b[i:])
		}
	}
	if at16(2) != 42 {
		return 1
	}
	p := uint32(outside)
	if len(b) >= 8 {
		if p = binary.BigEndian.Uint32(b[4:]); little {
			p = binary.LittleEndian.Uint32(b[4:])
		}
	}
	n := at16(p)
	for p += 2; n > 0; n, p = n-1, p+12 {
		switch at16(p) {
		case outside:
			return 1
		case tagOrientation:
			if v := at16(p + 8); v >= 1 && v <= 8 {
				return int(v)
			}
			return 1
		}
	}
	return 1
}
