package dicom

import (
	"bytes"
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
)

// Values holds the elements of a file that say what its samples mean. It
// refers to no memory of the file.
type Values struct {
	Photometric string // MONOCHROME1, MONOCHROME2, PALETTE COLOR, RGB, …
	Bits        int    // Bits Stored, 1 to 64; 0 if the file has none
	Signed      bool   // Pixel Representation is 1
	// Slope and Intercept turn samples into modality values. Each is nil if the
	// file has none.
	Slope, Intercept *float64
	Modality         *LUT // the modality LUT, nil if the file has none
	// Windows lists the centres and widths of windows.
	Centers, Widths []float64
	Function        string // VOI LUT Function in upper case; LINEAR if the file has none
	VOI             []LUT  // the VOI LUTs
}

// Palette is the colours of PALETTE COLOR, PS3.3, C.7.9.
type Palette struct {
	First  int // the sample that the first entry is for
	Bits   int // of the entries: 8 or 16
	Colors [3][]uint16
}

// ReadPalette reads the palette of a file, as pydicom's apply_color_lut does. A
// file without one is codec.ErrFormat. Segmented and supplemental palettes, and
// those with alpha, are codec.ErrUnsupported. The zero limits mean
// codec.DefaultLimits. Errors are of type *codec.Error.
func ReadPalette(data []byte, limits codec.Limits) (*Palette, error) {
	var h header
	if err := h.parse(data, limits.WithDefaults(), new(inflater)); err != nil {
		return nil, err
	}
	switch {
	case h.supplemental:
		return nil, unsupported("a supplemental palette (0008,9205)")
	case h.alpha:
		return nil, unsupported("a palette with alpha (0028,1204)")
	case h.palette[0].tag == 0:
		return nil, missing("Red Palette Color Lookup Table Descriptor (0028,1101)")
	case h.colors[0].tag == 0 && h.segmented:
		return nil, unsupported("a segmented palette (0028,1221)")
	}
	n, p, err := h.descriptor(&h.palette[0])
	if err != nil {
		return nil, err
	}
	t := &Palette{First: p.First}
	for c := range t.Colors {
		e := &h.colors[c]
		if e.tag == 0 {
			return nil, missing([...]string{"Red", "Green", "Blue"}[c] + " Palette Color Lookup Table Data (0028,120" + string(rune('1'+c)) + ")")
		}
		size := len(e.value) / n
		if size*n != len(e.value) || size != 1 && size != 2 || c > 0 && size*8 != t.Bits {
			return nil, bad(-1, "a palette of %d bytes: want %d or %d for %d entries, equal for all colours", len(e.value), n, 2*n, n)
		}
		if t.Bits = 8 * size; size == 2 && h.syntax.big {
			return nil, unsupported("a big-endian palette of 16 bits, whose bytes pydicom exchanges")
		}
		t.Colors[c] = make([]uint16, n)
		for i := range t.Colors[c] {
			if size == 1 {
				t.Colors[c][i] = uint16(e.value[i])
			} else {
				t.Colors[c][i] = h.order.Uint16(e.value[2*i:])
			}
		}
	}
	return t, nil
}

// descriptor reads the descriptor of a LUT: the number of its entries, the
// first sample, and the bits of an entry.
func (h *header) descriptor(e *element) (n int, t LUT, err error) {
	if len(e.value) != 6 {
		return 0, t, bad(-1, "the LUT descriptor (%04x,%04x) has %d bytes: want 6", e.tag>>16, e.tag&0xFFFF, len(e.value))
	}
	word := func(i int) int { return int(h.order.Uint16(e.value[2*i:])) }
	t = LUT{First: word(1), Bits: word(2)}
	if e.vr == "SS" || e.vr != "US" && h.signed == 1 {
		t.First = int(int16(word(1)))
	}
	if n = word(0); n == 0 {
		n = maxEntries
	}
	return n, t, nil
}

// LUT is a lookup table of PS3.3, C.11.1.1 and C.11.2.1.1.
type LUT struct {
	First int // the sample that the first entry is for
	Bits  int // of the entries
	Data  []uint16
}

// isNumber reports whether an element is the number v.
func isNumber(e *element, v float64) bool {
	f, err := decimals(nil, e)
	return err == nil && len(f) == 1 && f[0] == v
}

// maxDecimals bounds the values of an element; files have a few windows.
const maxDecimals = 1024

// decimals appends the values of an element of VR DS to dst.
func decimals(dst []float64, e *element) ([]float64, error) {
	if len(text(e.value)) == 0 {
		return dst, nil
	}
	n := len(dst)
	for rest, more := text(e.value), true; more; {
		var s []byte
		s, rest, more = bytes.Cut(rest, []byte(`\`))
		v, err := strconv.ParseFloat(string(text(s)), 64)
		if err != nil || len(dst)-n == maxDecimals {
			return dst, bad(-1, "element (%04x,%04x) %q: want up to %d decimal numbers", e.tag>>16, e.tag&0xFFFF, e.value[:min(len(e.value), 32)], maxDecimals)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// ReadValues reads the elements of a file that say what its samples mean. The
// zero limits mean codec.DefaultLimits. Errors are of type *codec.Error.
func ReadValues(data []byte, limits codec.Limits) (*Values, error) {
	var h header
	if err := h.parse(data, limits.WithDefaults(), new(inflater)); err != nil {
		return nil, err
	}
	v := &Values{Photometric: string(h.photometric), Bits: max(int(h.stored), 0), Signed: h.signed == 1, Function: "LINEAR"}
	for _, x := range []struct {
		e  *element
		to **float64
	}{{&h.slope, &v.Slope}, {&h.intercept, &v.Intercept}} {
		l, err := decimals(nil, x.e)
		if err != nil {
			return nil, err
		}
		if len(l) > 1 {
			return nil, bad(-1, "element (%04x,%04x) has %d values: want 1", x.e.tag>>16, x.e.tag&0xFFFF, len(l))
		}
		if len(l) == 1 {
			*x.to = &l[0]
		}
	}
	var err error
	if v.Centers, err = decimals(nil, &h.center); err != nil {
		return nil, err
	}
	if v.Widths, err = decimals(nil, &h.width); err != nil {
		return nil, err
	}
	if f := text(h.function.value); len(f) > 0 {
		v.Function = string(bytes.ToUpper(f))
	}
	l, err := h.luts(&h.modality, 1)
	if err != nil {
		return nil, err
	}
	if len(l) > 0 {
		v.Modality = &l[0]
	}
	v.VOI, err = h.luts(&h.voi, maxLUTs)
	return v, err
}

const (
	maxLUTs    = 64 // of a sequence; files have a few
	maxEntries = 1 << 16
)

// luts returns the first n LUTs of a sequence.
func (h *header) luts(e *element, n int) (l []LUT, err error) {
	r := elements{order: h.order, implicit: h.implicit}
	err = r.items(e.value, func(item *elements) error {
		if len(l) == n {
			return nil
		}
		t, err := h.lut(item)
		l = append(l, t)
		return err
	})
	return l, err
}

// lut reads the LUT of an item, as pydicom does: entries of VR OW are words of
// 16 bits, whatever their number of bits.
func (h *header) lut(item *elements) (LUT, error) {
	var descriptor, data element
	for {
		e, ok, err := item.next(0)
		if err != nil {
			return LUT{}, err
		}
		if !ok {
			break
		}
		switch e.tag {
		case 0x00283002:
			descriptor = e
		case 0x00283006:
			data = e
		}
	}
	descriptor.tag = 0x00283002
	n, t, err := h.descriptor(&descriptor)
	if err != nil {
		return LUT{}, err
	}
	if t.Bits != 8 && (t.Bits < 10 || t.Bits > 16) {
		return LUT{}, unsupported("LUT Descriptor (0028,3002): entries of %d bits: want 8 or 10 to 16", t.Bits)
	}
	if len(data.value) < 2*n {
		return LUT{}, bad(-1, "LUT Data (0028,3006) has %d bytes: want %d entries of 2 bytes", len(data.value), n)
	}
	t.Data = make([]uint16, n)
	for i := range t.Data {
		t.Data[i] = h.order.Uint16(data.value[2*i:])
		if t.Bits == 8 && t.Data[i] > 255 {
			return LUT{}, bad(-1, "LUT Data (0028,3006): entry %d is %d, of 8 bits", i, t.Data[i])
		}
	}
	return t, nil
}
