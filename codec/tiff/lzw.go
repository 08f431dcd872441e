package tiff

import "errors"

// The codes of TIFF's LZW with a meaning of their own. lzwCodes is the size of
// libtiff's table: an encoder that does not clear it in time may add more codes
// than 12 bits can name.
const (
	lzwClear = 256
	lzwEnd   = 257
	lzwCodes = 1<<12 - 1 + 1024
)

var (
	errLZWEnd  = errors.New("the LZW data ends too early")
	errLZWCode = errors.New("LZW code that is not in the table")
)

// isOldLZW reports whether LZW data has the order of bits of libtiff before
// TIFF 6.0. It is libtiff's test: such data begins with a clear code, whose low
// bits come first.
func isOldLZW(in []byte) bool { return len(in) >= 2 && in[0] == 0 && in[1]&1 != 0 }

// lzw decompresses LZW data.
type lzw struct {
	// The string of a code above lzwEnd is out[start:start+length]: that of the
	// code before and the first byte of the next one.
	start  [lzwCodes]int
	length [lzwCodes]int
}

// decode fills out. In old data the least significant bit comes first and codes
// become longer one code later. Excess data is ignored.
func (z *lzw) decode(out, in []byte, old bool) error {
	pos, acc, have := 0, uint32(0), 0
	width, free := 9, -1 // before the first clear code no string can be added
	last, lastLen := 0, 0
	for n := 0; n < len(out); {
		for ; have < width; have += 8 {
			if pos == len(in) {
				return errLZWEnd
			}
			if old {
				acc |= uint32(in[pos]) << have
			} else {
				acc = acc<<8 | uint32(in[pos])
			}
			pos++
		}
		have -= width
		code := 0
		if old {
			code = int(acc & (1<<width - 1))
			acc >>= width
		} else {
			code = int(acc >> have & (1<<width - 1))
		}
		switch {
		case code == lzwEnd:
			return errLZWEnd
		case code == lzwClear:
			width, free, lastLen = 9, lzwEnd+1, 0
			continue
		case lastLen == 0:
			if free < 0 || code > lzwEnd {
				return errLZWCode
			}
		case free == lzwCodes || code > free:
			return errLZWCode
		default:
			z.start[free], z.length[free] = last, lastLen+1
			free++
			limit := 1<<width - 1
			if old {
				limit++
			}
			if free >= limit && width < 12 {
				width++
			}
		}
		size := 1
		if code < lzwClear {
			out[n] = byte(code)
		} else {
			size = z.length[code]
			// The string may end with its own first byte.
			from, to := z.start[code], out[n:min(n+size, len(out))]
			if k := copy(to, out[from:n]); k < len(to) {
				to[k] = to[0]
			}
		}
		last, lastLen = n, size
		n += size
	}
	return nil
}
