// Package lzw decompresses the LZW of GIF and of TIFF, with the limits of
// Pillow 13.0.0 and libtiff 4.7.1.
package lzw

import (
	"encoding/binary"
	"errors"

	"github.com/infer-prep/infer-prep/internal/kernel"
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
const MaxCodes = kernel.LZWCodes

// Decoder keeps the memory of a table. It must not be used by several
// goroutines at once.
type Decoder struct{ state kernel.LZW }

// minRun is the number of codes for which kernel.LZW.Run is worth its call.
const minRun = 16

// Decode fills out and returns the number of bytes of it that it has written.
// Excess data is ignored.
func (d *Decoder) Decode(out, in []byte, v Variant) (n int, err error) {
	clearCode := 1 << v.Bits
	z := &d.state
	first, length, start := &z.First, &z.Length, &z.Start
	for i := range clearCode {
		first[i], length[i] = uint64(uint8(i)), 1
	}
	early := 0
	if v.Early {
		early = 1
	}
	// With HighFirst the next bit is the highest of acc, else the lowest.
	acc, have, pos := uint64(0), 0, 0
	high := v.HighFirst
	width, free := v.Bits+1, clearCode+2
	last, lastAt := uint64(0), 0 // the string before
	l := 0                       // its length, 0 after a clear code
	cleared := !v.Clear
	run := kernel.HasLZW()
	for n < len(out) {
		if run && l > 0 {
			most := v.Codes
			if width < 12 {
				most = min(most, 1<<width-early)
			}
			if most-free > minRun {
				z.Bit, z.N, z.Width, z.Free, z.Clear, z.Last, z.LastLen = 8*pos-have, n, width, free, clearCode, last, l
				z.Run(out, in, most, high)
				n, free, last, l = z.N, z.Free, z.Last, z.LastLen
				lastAt = n - l
				pos, have = (z.Bit+7)/8, -z.Bit&7
				acc = 0
				if have > 0 && high {
					acc = uint64(in[pos-1]) << (64 - have)
				} else if have > 0 {
					acc = uint64(in[pos-1]) >> (8 - have)
				}
			}
		}
		if len(in)-pos >= 8 {
			// At least 56 bits; those above are the same as before.
			if high {
				acc |= binary.BigEndian.Uint64(in[pos:]) >> (have & 63)
			} else {
				acc |= binary.LittleEndian.Uint64(in[pos:]) << (have & 63)
			}
			pos += (63 - have) >> 3
			have |= 56
		} else {
			for ; have < width; have += 8 {
				if pos == len(in) {
					return n, ErrEnd
				}
				if high {
					acc |= uint64(in[pos]) << (56 - have)
				} else {
					acc |= uint64(in[pos]) << have
				}
				pos++
			}
		}
		var code int
		if high {
			code = int(acc >> ((64 - width) & 63))
			acc <<= width & 63
		} else {
			code = int(acc & (1<<(width&63) - 1))
			acc >>= width & 63
		}
		have -= width
		if code == clearCode {
			width, free, l, cleared = v.Bits+1, clearCode+2, 0, true
			continue
		}
		if code == clearCode+1 {
			return n, ErrEnd
		}
		if code > free || l == 0 && (code > clearCode || !cleared) || l > 0 && free == v.Codes && v.Full {
			return n, ErrCode
		}
		e, size, from := first[code], int(length[code]), start[code]
		again := false // the string is the last one and its own first byte
		if l > 0 {
			again = code == free
			if again {
				e, size, from = last|last&0xFF<<(8*uint(l)), l+1, lastAt
			}
			if free < v.Codes {
				first[free], length[free], start[free] = last|e&0xFF<<(8*uint(l)), uint16(l+1), lastAt
				free++
				if free == 1<<width-early && width < 12 {
					width++
				}
			}
		}
		if len(out)-n < size+8 {
			// Near the end the bytes are written one by one.
			for i := range min(size, len(out)-n) {
				if i < 8 {
					out[n+i] = byte(e >> (8 * i))
				} else {
					out[n+i] = out[from+i]
				}
			}
		} else {
			binary.LittleEndian.PutUint64(out[n:], e)
			if size > 8 {
				from -= n
				for i := n + 8; i < n+size; i += 8 {
					binary.LittleEndian.PutUint64(out[i:], binary.LittleEndian.Uint64(out[from+i:]))
				}
				if again {
					out[n+size-1] = out[n]
				}
			}
		}
		last, lastAt, l = e, n, size
		n = min(n+size, len(out))
	}
	return n, nil
}
