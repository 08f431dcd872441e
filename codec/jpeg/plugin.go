package jpeg

import (
	"encoding/binary"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
)

// plugin reads the header as Pillow's JpegImagePlugin does before it passes the
// file to libjpeg. It collects metadata and refuses some files that libjpeg
// accepts. It is given each marker that libjpeg's reader finds, so that the
// header is walked once. If libjpeg refuses the file, rest walks on alone: the
// plugin's errors come first.
type plugin struct {
	meta   meta
	lax    bool // refuses nothing
	wide   bool // accepts any number of bits
	done   bool // saw the first scan, or gave up
	next   int  // offset after the last marker or its segment
	sawSOF bool
	icc0   []byte // the ICC segment that sorts first
}

// begin starts a file. It returns an error if the data is not JPEG.
func (q *plugin) begin(in *input) error {
	*q = plugin{lax: in.damage == codec.DamageLenient || in.damage.Library(), next: 2}
	if b := in.data; len(b) < 3 || b[0] != 0xFF || b[1] != mSOI || b[2] != 0xFF {
		return codec.Errorf(format, 0, codec.ErrFormat, "does not start with ff d8 ff")
	}
	return nil
}

// refuse returns an error, or gives up in lax mode.
func (q *plugin) refuse(at int, kind error, msg string, args ...any) error {
	q.done = true
	if q.lax {
		return nil
	}
	return codec.Errorf(format, int64(at), kind, msg, args...)
}

// marker reads marker c, which ends before offset p of b, and its segment.
func (q *plugin) marker(b []byte, c byte, p int) error {
	q.next = p
	if c != 0 && c < mSOF0 {
		return q.refuse(p, codec.ErrUnsupported, "marker ff%02x", c)
	}
	if c == 0 || noSegment(c) {
		return nil
	}
	if p+2 > len(b) {
		return q.refuse(p, codec.ErrFormat, "the file ends before a scan")
	}
	n := max(0, int(b[p])<<8+int(b[p+1])-2)
	p += 2
	if p+n > len(b) {
		return q.refuse(p, codec.ErrFormat, "segment ff%02x of %d bytes, the file has %d", c, n, len(b)-p)
	}
	q.next = p + n
	s := b[p : p+n]
	var bad string
	switch {
	case c == mAPP0:
		bad = q.meta.app0(s)
	case c == mAPP0+1:
		q.meta.app1(s)
	case c == mAPP0+2 && strings.HasPrefix(string(s[:min(n, 12)]), "ICC_PROFILE\x00"):
		if q.icc0 == nil || string(s) < string(q.icc0) {
			q.icc0 = s
		}
	case c == mAPP0+13:
		bad = photoshop(s)
	case c == mAPP0+14 && strings.HasPrefix(string(s[:min(n, 5)]), "Adobe") && n < 7:
		bad = "Adobe segment without a version"
	case c == mDQT:
		bad = quantTables(s)
	case isSOF(c) || c == mDHP:
		if n < 6 || (n-6)%3 != 0 {
			bad = "frame header of the wrong length"
			break
		}
		if s[0] != 8 && !q.wide {
			q.done = true
			return codec.Errorf(format, int64(p), codec.ErrUnsupported, "%d bits a sample, want 8", s[0])
		}
		if s[5] != 1 && s[5] != 3 && s[5] != 4 {
			q.done = true
			return codec.Errorf(format, int64(p), codec.ErrUnsupported, "%d components, want 1, 3 or 4", s[5])
		}
		if q.icc0 != nil && len(q.icc0) < 14 {
			bad = "ICC segment without a number"
		}
		q.icc0 = nil
		q.sawSOF = true
	}
	if bad != "" && !q.lax {
		return q.refuse(p, codec.ErrFormat, "%s", bad)
	}
	if c == mSOS {
		return q.scan()
	}
	return nil
}

// scan ends the header at the first scan.
func (q *plugin) scan() error {
	q.done = true
	if !q.sawSOF {
		return q.refuse(q.next, codec.ErrFormat, "a scan before a frame header")
	}
	if q.meta.badDPI() {
		return q.refuse(-1, codec.ErrFormat, "Exif resolution of an impossible type")
	}
	return nil
}

// rest reads the rest of a header that libjpeg refuses.
func (q *plugin) rest(b []byte) error {
	for p := q.next; !q.done; p = q.next {
		for p < len(b) && b[p] != 0xFF {
			p++
		}
		for p++; p < len(b) && b[p] == 0xFF; {
			p++
		}
		if p >= len(b) {
			return q.refuse(p, codec.ErrFormat, "the file ends before a scan")
		}
		if err := q.marker(b, b[p], p+1); err != nil {
			return err
		}
	}
	return nil
}

// noSegment reports whether Pillow treats the marker as one without parameters.
func noSegment(c byte) bool {
	return c == mJPG || c >= mRST0 && c <= mEOI || c >= 0xF0 && c <= 0xFD || c == 0xFF
}

func isSOF(c byte) bool {
	return c >= mSOF0 && c <= 0xCF && c != mDHT && c != mJPG && c != mDAC
}

// app0 reads JFIF's resolution. It returns why Pillow refuses the file, "" if
// it does not.
func (m *meta) app0(s []byte) string {
	if len(s) < 4 || string(s[:4]) != "JFIF" {
		return ""
	}
	if len(s) < 7 {
		return "JFIF segment without a version"
	}
	if len(s) >= 12 && (s[7] == 1 || s[7] == 2) {
		m.hasDPI = true
	}
	return ""
}

func (m *meta) app1(s []byte) {
	const xmp = "http://ns.adobe.com/xap/1.0/\x00"
	if m.firstAPP1 == nil {
		m.firstAPP1 = s
	}
	switch {
	case len(s) >= 6 && string(s[:6]) == "Exif\x00\x00":
		m.addExif(s)
	case len(s) >= len(xmp) && string(s[:len(xmp)]) == xmp:
		m.xmp = s[len(xmp):]
	}
}

// photoshop parses the resources of an APP13 segment. Pillow refuses a file
// whose segment ends before the length of a name.
func photoshop(s []byte) string {
	if len(s) < 14 || string(s[:14]) != "Photoshop 3.0\x00" {
		return ""
	}
	at := 14
	for at+4 <= len(s) && string(s[at:at+4]) == "8BIM" {
		at += 4
		if at+2 > len(s) {
			return ""
		}
		code := binary.BigEndian.Uint16(s[at:])
		at += 2
		if at >= len(s) {
			return "Photoshop resource without a name"
		}
		at += 1 + int(s[at])
		at += at & 1
		if at+4 > len(s) {
			return ""
		}
		size := int(binary.BigEndian.Uint32(s[at:]))
		at += 4
		if code == 0x03ED && min(size, len(s)-at) < 14 {
			return "" // Pillow stops at a truncated resolution
		}
		at += size
		at += at & 1
	}
	return ""
}

// quantTables checks the lengths of the tables in a DQT segment.
func quantTables(s []byte) string {
	for len(s) > 0 {
		n := 65
		if s[0]>>4 != 0 {
			n = 129
		}
		if len(s) < n {
			return "quantization table cut short"
		}
		s = s[n:]
	}
	return ""
}
