package tiff

import (
	"errors"
	"strings"
	"sync"
)

// The run length codes of ITU-T T.4 tables 2 and 3: runs of 0 to 63, then of
// 64, 128, … 1728, and the codes for both colours, 1792 to 2560.
const (
	whiteCodes = "00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 " +
		"101010 101011 0100111 0001100 0001000 0010111 0000011 0000100 0101000 0101011 0010011 0100100 0011000 " +
		"00000010 00000011 00011010 00011011 00010010 00010011 00010100 00010101 00010110 00010111 00101000 00101001 " +
		"00101010 00101011 00101100 00101101 00000100 00000101 00001010 00001011 01010010 01010011 01010100 01010101 " +
		"00100100 00100101 01011000 01011001 01011010 01011011 01001010 01001011 00110010 00110011 00110100 " +
		"11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 " +
		"011010010 011010011 011010100 011010101 011010110 011010111 011011000 011011001 011011010 011011011 " +
		"010011000 010011001 010011010 011000 010011011"
	blackCodes = "0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 " +
		"000011000 0000010111 0000011000 0000001000 00001100111 00001101000 00001101100 00000110111 00000101000 " +
		"00000010111 00000011000 000011001010 000011001011 000011001100 000011001101 000001101000 000001101001 " +
		"000001101010 000001101011 000011010010 000011010011 000011010100 000011010101 000011010110 000011010111 " +
		"000001101100 000001101101 000011011010 000011011011 000001010100 000001010101 000001010110 000001010111 " +
		"000001100100 000001100101 000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 " +
		"000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111 " +
		"0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100 " +
		"0000001101101 0000001001010 0000001001011 0000001001100 0000001001101 0000001110010 0000001110011 " +
		"0000001110100 0000001110101 0000001110110 0000001110111 0000001010010 0000001010011 0000001010100 " +
		"0000001010101 0000001011010 0000001011011 0000001100100 0000001100101"
	sharedCodes = "00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 000000010110 " +
		"000000010111 000000011100 000000011101 000000011110 000000011111"
)

// The lengths of the longest codes: of a white run, a black run and a mode.
const (
	longestWhite = 12
	longestCode  = 13
	longestMode  = 7
)

// runTable maps the next longestCode bits to the run and, in the low 4 bits,
// the length of the code that they begin with, 0 if invalid.
type runTable [1 << longestCode]uint16

func newRunTable(codes string) *runTable {
	t := new(runTable)
	for i, c := range strings.Fields(codes + " " + sharedCodes) {
		if i > 63 {
			i = (i - 63) * 64
		}
		first := 0
		for _, b := range c {
			first = 2*first + int(b-'0')
		}
		free := longestCode - len(c)
		for j := range 1 << free {
			t[first<<free+j] = uint16(i<<4 | len(c))
		}
	}
	return t
}

// runTables holds the tables of white and black runs.
var runTables = sync.OnceValue(func() [2]*runTable {
	return [2]*runTable{newRunTable(whiteCodes), newRunTable(blackCodes)}
})

// The two-dimensional modes. The vertical modes are -3 to 3.
const (
	modePass = 4 + iota
	modeHorizontal
)

// modes maps the next 7 bits to the mode (T.4 table 4) and the length of its
// code.
var modes = [...]struct {
	bits, length, mode int
}{
	{0b1, 1, 0}, {0b011, 3, 1}, {0b010, 3, -1}, {0b001, 3, modeHorizontal}, {0b0001, 4, modePass},
	{0b000011, 6, 2}, {0b000010, 6, -2}, {0b0000011, 7, 3}, {0b0000010, 7, -3},
}

var (
	errCCITTCode = errors.New("not a CCITT code")
	errCCITTEnd  = errors.New("the CCITT data ends too early")
	errCCITTRow  = errors.New("a row of CCITT runs that is not as wide as the image")
)

// fax decodes rows with CCITT compression. Its rows are lists of the positions
// where the colour changes, first from white to black.
type fax struct {
	in  []byte
	pos int // in bits
	// end is the end of the data for libtiff, in bits. If libtiff needs more
	// data, it appends zeros and counts them at the next byte.
	end      int
	ref, cur []int
}

// peek returns the next n bits, at most 24. Zeros follow the data.
func (f *fax) peek(n int) int {
	v, at := 0, f.pos>>3
	for i := range 4 {
		v <<= 8
		if at+i < len(f.in) {
			v |= int(f.in[at+i])
		}
	}
	return v >> (32 - n - f.pos&7) & (1<<n - 1)
}

// need reports whether bits are left, and extends them to at least n.
func (f *fax) need(n int) bool {
	if f.end-f.pos < n {
		if f.end <= f.pos {
			return false
		}
		f.end = f.pos + n
	}
	return true
}

// decode fills out with rows of w pixels in whole bytes. Black pixels are 1.
func (f *fax) decode(out, in []byte, w, rows int, compression uint32, twoD bool) error {
	f.in, f.pos, f.end = in, 0, 8*len(in)
	f.ref = f.ref[:0]
	clear(out)
	n := (w + 7) / 8
	for y := range rows {
		lines := compression == ccittG4
		if compression == ccittG3 {
			if err := f.endOfLine(); err != nil {
				return err
			}
			if twoD {
				if !f.need(1) {
					return errCCITTEnd
				}
				lines = f.peek(1) == 0
				f.pos++
			}
		}
		f.cur = f.cur[:0]
		var err error
		if lines {
			err = f.row2D(w)
		} else {
			err = f.row1D(w)
		}
		if err != nil {
			return err
		}
		if compression == ccittRLE {
			f.pos += max(0, f.end-f.pos) & 7
		}
		row := out[y*n : (y+1)*n]
		for i := 0; i < len(f.cur); i += 2 {
			end := w
			if i+1 < len(f.cur) {
				end = f.cur[i+1]
			}
			blacken(row, f.cur[i], end)
		}
		f.ref, f.cur = f.cur, f.ref
	}
	return nil
}

// blacken sets the pixels from x to end, exclusive.
func blacken(row []byte, x, end int) {
	for ; x < end && x%8 != 0; x++ {
		row[x/8] |= 0x80 >> (x % 8)
	}
	for ; x+8 <= end; x += 8 {
		row[x/8] = 0xff
	}
	for ; x < end; x++ {
		row[x/8] |= 0x80 >> (x % 8)
	}
}

// endOfLine skips the data up to and including the next end of line: at least
// 11 zeros and a one.
func (f *fax) endOfLine() error {
	for ; ; f.pos++ {
		if !f.need(11) {
			return errCCITTEnd
		}
		if f.peek(11) == 0 {
			break
		}
	}
	for f.pos += 11; ; f.pos++ {
		if !f.need(1) {
			return errCCITTEnd
		}
		if f.peek(1) == 1 {
			f.pos++
			return nil
		}
	}
}

// run reads a run of the colour. With errCCITTCode it returns the part that it
// has read.
func (f *fax) run(color int) (int, error) {
	t := runTables()[color]
	n := 0
	for {
		if !f.need(longestWhite + color) {
			return 0, errCCITTEnd
		}
		e := t[f.peek(longestCode)]
		if e == 0 {
			return n, errCCITTCode // keep the bits of an end of line, which is searched again
		}
		f.pos += int(e & 15)
		n += int(e >> 4)
		if e>>4 < 64 {
			return n, nil
		}
		n = min(n, 2*maxSide)
	}
}

// row1D ends a damaged row as libtiff does: it ignores a run that exceeds the
// row, and the rest is white. Valid files need this too, because libtiff
// misreads the last rows of some (see fax.end).
func (f *fax) row1D(w int) error {
	x := 0
	for color := 0; x < w; color ^= 1 {
		n, err := f.run(color)
		if err == errCCITTEnd {
			return err
		}
		if n > 0 || err == nil {
			x += n
			f.cur = append(f.cur, x)
		}
		if err != nil {
			break
		}
	}
	for n := len(f.cur); x > w; n-- {
		f.cur, x = f.cur[:n-1], 0
		if n > 1 {
			x = f.cur[n-2]
		}
	}
	if x < w && len(f.cur)%2 != 0 {
		f.cur = append(f.cur, x)
	}
	return nil
}

func (f *fax) row2D(w int) error {
	x, color := -1, 0 // a row starts before its first pixel, with white
	b := 0            // index in ref; earlier changes are done
	change := func(i int) int {
		if i < len(f.ref) {
			return f.ref[i]
		}
		return w
	}
	for x < w {
		// A change to the left may move back by at most one change.
		for b = max(0, b-2)&^1 | color; b < len(f.ref) && f.ref[b] <= x; b += 2 {
		}
		if !f.need(longestMode) {
			return errCCITTEnd
		}
		mode, length := f.mode()
		if length == 0 {
			return errCCITTCode
		}
		f.pos += length
		switch mode {
		case modePass:
			x = change(b + 1)
		case modeHorizontal:
			x = max(x, 0)
			for i := range 2 {
				n, err := f.run(color ^ i)
				if err != nil {
					return err
				}
				if x += n; x > w {
					return errCCITTRow
				}
				f.cur = append(f.cur, x)
			}
		default:
			to := change(b) + mode
			if to < max(x, 0) || to > w {
				return errCCITTRow
			}
			x = to
			f.cur = append(f.cur, x)
			color ^= 1
		}
	}
	return nil
}

func (f *fax) mode() (mode, length int) {
	v := f.peek(longestMode)
	for i := range modes {
		if m := &modes[i]; v>>(longestMode-m.length) == m.bits {
			return m.mode, m.length
		}
	}
	return 0, 0
}
