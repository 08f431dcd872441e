// Package lzw decompresses the LZW of GIF and of TIFF, with the limits of
// Pillow 13.0.0 and libtiff 4.7.1.
package lzw

import (
	"encoding/binary"
	"errors"
)

// The errors of Decode.
var (
	ErrEnd  = errors.New("the LZW data ends too early")
	ErrCode = errors.New("LZW code that is not in the table")
)

// Variant is what formats do in different ways.
type Variant struct {
	// Bits is the number of bits of a literal, 0 to 12. Literals above 255 have
	// their low byte.
	Bits int
	// HighFirst says that the first bit of a byte is its highest.
	HighFirst bool
	// Early makes codes longer one code before it is needed.
	Early bool
	// Clear refuses codes before the first clear code.
	Clear bool
	// Codes is the most codes of the table. With more, Full refuses the data;
	// without Full it adds no further ones.
	Codes int
	Full  bool
}

// MaxCodes is the largest Variant.Codes.
const MaxCodes = 1<<12 - 1 + 1024

// Decoder keeps the memory of a table. It must not be used by several
// goroutines at once.
type Decoder struct{ table [MaxCodes]entry }

// entry is the string of a code, which is also in the output.
type entry struct {
	first uint64 // the first 8 bytes
	at    uint64 // where it is in the output << 16 | its length
}

func (e entry) length() int { return int(e.at & 0xFFFF) }

// Decode fills out and returns the number of bytes of it that it has written.
// Excess data is ignored.
func (d *Decoder) Decode(out, in []byte, v Variant) (n int, err error) {
	clearCode := 1 << v.Bits
	table := &d.table
	for i := range clearCode {
		table[i] = entry{uint64(uint8(i)), 1}
	}
	early := 0
	if v.Early {
		early = 1
	}
	acc, have, pos := uint64(0), 0, 0
	width, free := v.Bits+1, clearCode+2
	var last entry // of length 0 after a clear code
	cleared := !v.Clear
	for n < len(out) {
		if have < width {
			switch {
			case len(in)-pos >= 4 && v.HighFirst:
				acc = acc<<32 | uint64(binary.BigEndian.Uint32(in[pos:]))
				pos, have = pos+4, have+32
			case len(in)-pos >= 4:
				acc |= uint64(binary.LittleEndian.Uint32(in[pos:])) << have
				pos, have = pos+4, have+32
			default:
				for ; have < width; have += 8 {
					if pos == len(in) {
						return n, ErrEnd
					}
					if v.HighFirst {
						acc = acc<<8 | uint64(in[pos])
					} else {
						acc |= uint64(in[pos]) << have
					}
					pos++
				}
			}
		}
		have -= width
		code := 0
		if v.HighFirst {
			code = int(acc>>(have&63)) & (1<<(width&63) - 1)
		} else {
			code = int(acc) & (1<<(width&63) - 1)
			acc >>= width & 63
		}
		if code == clearCode {
			width, free, last, cleared = v.Bits+1, clearCode+2, entry{}, true
			continue
		}
		if code == clearCode+1 {
			return n, ErrEnd
		}
		l := last.length()
		if code > free || l == 0 && (code > clearCode || !cleared) || l > 0 && free == v.Codes && v.Full {
			return n, ErrCode
		}
		e := table[code]
		again := false // the string is the last one and its own first byte
		if l > 0 {
			if again = code == free; again {
				e.first = last.first
			}
			added := entry{last.first | e.first&0xFF<<(8*uint(l)), last.at + 1}
			if free < v.Codes {
				table[free] = added
				free++
				if free == 1<<width-early && width < 12 {
					width++
				}
			}
			if again {
				e = added
			}
		}
		l = e.length()
		if len(out)-n < l+8 {
			// Near the end the bytes are written one by one.
			from := int(e.at >> 16)
			for i := range min(l, len(out)-n) {
				if i < 8 {
					out[n+i] = byte(e.first >> (8 * i))
				} else {
					out[n+i] = out[from+i]
				}
			}
		} else {
			binary.LittleEndian.PutUint64(out[n:], e.first)
			if l > 8 {
				from := int(e.at>>16) - n
				for i := n + 8; i < n+l; i += 8 {
					binary.LittleEndian.PutUint64(out[i:], binary.LittleEndian.Uint64(out[from+i:]))
				}
				if again {
					out[n+l-1] = out[n]
				}
			}
		}
		last = entry{e.first, uint64(n)<<16 | uint64(l)}
		n = min(n+l, len(out))
	}
	return n, nil
}
