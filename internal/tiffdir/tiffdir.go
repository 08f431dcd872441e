// Package tiffdir writes directories of TIFF 6.0 and BigTIFF.
package tiffdir

import (
	"encoding/binary"
	"math"
	"slices"
)

// Directory collects the tags of an image to write. A tag that is added again
// replaces the first one.
type Directory struct {
	Order   binary.AppendByteOrder // of numbers
	Big     bool                   // a directory of a BigTIFF
	entries []entry
}

// entry is a tag.
type entry struct {
	tag, typ uint16
	count    int
	value    []byte
}

// The types of values.
const (
	typeASCII  = 2
	typeShort  = 3
	typeLong   = 4
	typeDouble = 12
	typeLong8  = 16
)

func (d *Directory) add(tag, typ uint16, count int, value []byte) {
	e := entry{tag, typ, count, value}
	if i := slices.IndexFunc(d.entries, func(e entry) bool { return e.tag == tag }); i >= 0 {
		d.entries[i] = e
		return
	}
	d.entries = append(d.entries, e)
}

// Short adds a tag of the type SHORT.
func (d *Directory) Short(tag uint16, v ...uint16) {
	b := make([]byte, 0, 2*len(v))
	for _, x := range v {
		b = d.Order.AppendUint16(b, x)
	}
	d.add(tag, typeShort, len(v), b)
}

// Long adds a tag of the type LONG.
func (d *Directory) Long(tag uint16, v uint32) {
	d.add(tag, typeLong, 1, d.Order.AppendUint32(nil, v))
}

// Offsets adds a tag of the type LONG, or LONG8 in a BigTIFF.
func (d *Directory) Offsets(tag uint16, v []int64) {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = d.number(b, x)
	}
	typ := uint16(typeLong)
	if d.Big {
		typ = typeLong8
	}
	d.add(tag, typ, len(v), b)
}

// Doubles adds a tag of the type DOUBLE.
func (d *Directory) Doubles(tag uint16, v ...float64) {
	var b []byte
	for _, x := range v {
		b = d.Order.AppendUint64(b, math.Float64bits(x))
	}
	d.add(tag, typeDouble, len(v), b)
}

// Text adds a tag of the type ASCII.
func (d *Directory) Text(tag uint16, s string) {
	d.add(tag, typeASCII, len(s)+1, append([]byte(s), 0))
}

// word returns the size of an offset in bytes.
func (d *Directory) word() int {
	if d.Big {
		return 8
	}
	return 4
}

// number appends a count or an offset.
func (d *Directory) number(b []byte, v int64) []byte {
	if d.Big {
		return d.Order.AppendUint64(b, uint64(v))
	}
	return d.Order.AppendUint32(b, uint32(v))
}

// values returns where the values that do not fit their tags begin in the file,
// if the directory begins at at.
func (d *Directory) values(at int) int {
	count := 2
	if d.Big {
		count = 8
	}
	return at + count + len(d.entries)*(4+2*d.word()) + d.word()
}

// End returns the place in the file behind the directory and its values, a
// multiple of 8, if the directory begins at at.
func (d *Directory) End(at int) int {
	end := d.values(at)
	for _, e := range d.entries {
		if len(e.value) > d.word() {
			end += align(len(e.value))
		}
	}
	return align(end)
}

// align rounds up to a multiple of 8.
func align(n int) int { return (n + 7) &^ 7 }

// Append appends the directory, which begins at at in the file, and its values.
// Unless it is the last one, the next directory begins at End(at).
func (d *Directory) Append(b []byte, at int, last bool) []byte {
	slices.SortFunc(d.entries, func(a, b entry) int { return int(a.tag) - int(b.tag) })
	place, end := d.values(at), d.End(at)
	if d.Big {
		b = d.Order.AppendUint64(b, uint64(len(d.entries)))
	} else {
		b = d.Order.AppendUint16(b, uint16(len(d.entries)))
	}
	var values []byte
	for _, e := range d.entries {
		b = d.number(d.Order.AppendUint16(d.Order.AppendUint16(b, e.tag), e.typ), int64(e.count))
		if n := len(e.value); n <= d.word() {
			b = append(append(b, e.value...), make([]byte, d.word()-n)...)
			continue
		}
		b = d.number(b, int64(place+len(values)))
		values = append(values, e.value...)
		values = append(values, make([]byte, align(len(values))-len(values))...)
	}
	next := int64(end)
	if last {
		next = 0
	}
	b = append(d.number(b, next), values...)
	return append(b, make([]byte, end-place-len(values))...)
}
