package dicom

import (
	"bytes"
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

const (
	magicAt = 128 // bytes of the preamble
	magic   = "DICM"

	undefined = 0xFFFFFFFF // a length
	maxDepth  = 32         // of sequences within sequences; files have a few
)

// Tags that end or begin something.
const (
	tagItem        = 0xFFFEE000
	tagItemEnd     = 0xFFFEE00D
	tagSequenceEnd = 0xFFFEE0DD
)

func bad(at int, msg string, args ...any) error {
	return codec.Errorf(name, int64(at), codec.ErrFormat, msg, args...)
}

func unsupported(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrUnsupported, msg, args...)
}

// element is a data element. The value of a sequence is its items.
type element struct {
	tag   uint32
	vr    string // "" if the element has none
	value []byte
	short bool // the file ends within the value
}

// elements reads the data elements of a data set, as pydicom's
// data_element_generator does.
type elements struct {
	data     []byte
	pos      int
	order    binary.ByteOrder
	implicit bool
}

// isVR reports whether two bytes look like a VR.
func isVR(b []byte) bool { return b[0] >= 'A' && b[0] <= 'Z' && b[1] >= 'A' && b[1] <= 'Z' }

// longVRs lists the VRs whose elements have a length of 32 bits.
const longVRs = "OB OD OF OL OV OW SQ SV UC UN UR UT UV"

// vrs holds the names of VRs, so that reading one allocates nothing.
const vrs = "AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US " + longVRs

func vrName(b []byte) string {
	for i := 0; i < len(vrs); i += 3 {
		if vrs[i] == b[0] && vrs[i+1] == b[1] {
			return vrs[i : i+2]
		}
	}
	return "??"
}

func isLong(vr string) bool {
	for i := 0; i < len(longVRs); i += 3 {
		if longVRs[i:i+2] == vr {
			return true
		}
	}
	return false
}

// guess decides by the first element whether the elements have VRs.
func (r *elements) guess() {
	if b := r.data[r.pos:]; len(b) >= 6 {
		r.implicit = !isVR(b[4:6])
	}
}

func (r *elements) tag(at int) uint32 {
	return uint32(r.order.Uint16(r.data[at:]))<<16 | uint32(r.order.Uint16(r.data[at+2:]))
}

// next reads an element. ok is false at the end of the data, and after the end
// of an item of undefined length.
func (r *elements) next(depth int) (e element, ok bool, err error) {
	at := r.pos
	if len(r.data)-at < 8 {
		r.pos = len(r.data)
		return e, false, nil
	}
	e.tag = r.tag(at)
	n := r.order.Uint32(r.data[at+4:])
	r.pos += 8
	if !r.implicit && isVR(r.data[at+4:]) {
		e.vr = vrName(r.data[at+4:])
		n = uint32(r.order.Uint16(r.data[at+6:]))
		if isLong(e.vr) {
			if len(r.data)-r.pos < 4 {
				return e, false, bad(at, "the file ends in element (%04x,%04x)", e.tag>>16, e.tag&0xFFFF)
			}
			n = r.order.Uint32(r.data[r.pos:])
			r.pos += 4
		}
	}
	if e.tag == tagItemEnd {
		return e, false, nil
	}
	if n == undefined {
		from := r.pos
		implicit := r.implicit
		r.implicit = implicit || e.vr == "UN" // PS3.5, 6.2.2
		err = r.skipItems(depth + 1)
		r.implicit = implicit
		e.value = r.data[from:r.pos]
		return e, err == nil, err
	}
	if int64(n) > int64(len(r.data)-r.pos) {
		n, e.short = uint32(len(r.data)-r.pos), true
	}
	e.value = r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return e, true, nil
}

// skipItems moves behind the delimiter of a sequence of undefined length, or of
// fragments.
func (r *elements) skipItems(depth int) error {
	if depth > maxDepth {
		return codec.Errorf(name, int64(r.pos), codec.ErrLimit, "more than %d sequences within each other", maxDepth)
	}
	for {
		_, n, end, err := r.item(depth)
		if err != nil || end {
			return err
		}
		if n >= 0 {
			r.pos += n
		}
	}
}

// item reads the head of an item, at whose value r then is. n is the length of
// the value. An item of undefined length has an n of -1, and r is behind it:
// its elements are the bytes from at to r.pos. end reports the delimiter of the
// sequence, or the end of the data.
func (r *elements) item(depth int) (at, n int, end bool, err error) {
	if len(r.data)-r.pos < 8 {
		return 0, 0, false, bad(r.pos, "the file ends within a sequence or its items")
	}
	tag, length := r.tag(r.pos), r.order.Uint32(r.data[r.pos+4:])
	r.pos += 8
	switch {
	case tag == tagSequenceEnd:
		return r.pos, 0, true, nil
	case tag != tagItem:
		return 0, 0, false, bad(r.pos-8, "tag (%04x,%04x), want an item of a sequence", tag>>16, tag&0xFFFF)
	case length != undefined:
		if int64(length) > int64(len(r.data)-r.pos) {
			return 0, 0, false, bad(r.pos-8, "an item of %d bytes, the file has %d", length, len(r.data)-r.pos)
		}
		return r.pos, int(length), false, nil
	}
	at = r.pos
	for {
		_, ok, err := r.next(depth)
		if err != nil {
			return 0, 0, false, err
		}
		if !ok {
			break
		}
	}
	if r.tag(max(r.pos-8, 0)) != tagItemEnd {
		return 0, 0, false, bad(r.pos, "the file ends within an item")
	}
	return at, -1, false, nil
}

// items calls f for each item of a sequence's value.
func (r *elements) items(value []byte, f func(item *elements) error) error {
	s := elements{data: value, order: r.order, implicit: r.implicit}
	for s.pos < len(s.data) {
		at, n, end, err := s.item(1)
		if err != nil || end {
			return err
		}
		if n >= 0 {
			s.pos = at + n
		}
		in := elements{data: s.data[at:s.pos], order: r.order, implicit: r.implicit}
		if !in.implicit {
			in.guess()
		}
		if err := f(&in); err != nil {
			return err
		}
	}
	return nil
}

// text returns a value without the padding of text.
func text(value []byte) []byte { return bytes.Trim(value, " \x00") }
