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
