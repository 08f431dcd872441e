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
	longestBlack = 13
	longestMode  = 7
)

// endOfLine is the number of zeros that begin an end of line. In place of a run
// they have the code noRun.
const (
	endOfLine = 11
	noRun     = 1<<12 - 1
)

// runTable maps the next longestBlack bits to the run and, in the low 4 bits,
// the length of the code that they begin with, 0 if invalid.
type runTable [1 << longestBlack]uint16

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
		free := longestBlack - len(c)
		for j := range 1 << free {
			t[first<<free+j] = uint16(i<<4 | len(c))
		}
	}
	for j := range 1 << (longestBlack - endOfLine) {
		t[j] = noRun<<4 | endOfLine
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
	modeExtension
	modeEnd
)

// modes maps the next 7 bits to the mode (T.4 table 4) and the length of its
// code. The last two are the beginnings of the uncompressed mode and of an end
// of line.
var modes = [...]struct {
	bits, length, mode int
}{
	{0b1, 1, 0}, {0b011, 3, 1}, {0b010, 3, -1}, {0b001, 3, modeHorizontal}, {0b0001, 4, modePass},
	{0b000011, 6, 2}, {0b000010, 6, -2}, {0b0000011, 7, 3}, {0b0000010, 7, -3},
	{0b0000001, 7, modeExtension}, {0b0000000, 7, modeEnd},
}

var (
	errCCITTEnd  = errors.New("the CCITT data ends too early")
	errCCITTRuns = errors.New("too many runs in a row")
)

// runs holds the lengths of a row's runs, white first. Behind the n runs are
// those of earlier rows, which libtiff reads in damaged data.
type runs struct {
	v []int32
	n int
}

func (r *runs) at(i int) int {
	if i < len(r.v) {
		return int(r.v[i])
	}
	return 0
}

func (r *runs) add(n int) {
	if r.n == len(r.v) {
		r.v = append(r.v, 0)
	}
	r.v[r.n] = int32(n)
	r.n++
}

// fax decodes rows with CCITT compression as libtiff does. It ends a damaged
// row where the damage begins; the rest of the row is white. Valid files need
// this too, because libtiff misreads the last rows of some (see fax.end).
type fax struct {
	in  []byte
	pos int // in bits
	// end is the end of the data for libtiff, in bits. If libtiff needs more
	// data, it appends zeros and counts them at the next byte.
	end     int
	w       int // pixels in a row
	memory  [2]runs
	ref     *runs // of the previous row, whose sum is w
	cur     *runs
	maxRuns int
	x       int  // the end of cur, and of the pending run
	pending int  // the length of the run that is not in cur yet
	ended   bool // an end of line was read where a run or mode was wanted
	// noEOL reports whether ends of lines are optional: libtiff reads G3 data
	// without them after it found none, from there on in the whole image.
	noEOL bool
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

// reset starts an image.
func (f *fax) reset() {
	f.noEOL = false
	for i := range f.memory {
		f.memory[i].v = f.memory[i].v[:0]
	}
}

// decode fills out with rows of w pixels in whole bytes. Black pixels are 1. It
// returns the number of rows: G4 data may end before the last one.
func (f *fax) decode(out, in []byte, w, rows int, compression uint32, twoD bool) (int, error) {
	f.in, f.pos, f.end, f.w, f.ended = in, 0, 8*len(in), w, false
	f.cur, f.ref = &f.memory[0], &f.memory[1]
	f.ref.n = 0
	f.ref.add(w)
	f.ref.add(0)
	f.maxRuns = (w + 32) &^ 31
	if compression == ccittG4 || compression == ccittG3 && twoD {
		f.maxRuns *= 2
	}
	clear(out)
	n := (w + 7) / 8
	for y := 0; y < rows; y++ {
		f.cur.n, f.x, f.pending = 0, 0, 0
		lines := compression == ccittG4
		if compression == ccittG3 {
			if !f.noEOL {
				found, err := f.skipEndOfLine()
				if err != nil {
					return y, err
				}
				if !found {
					// Rows that were read are kept.
					f.noEOL, f.ended = true, false
					f.pos, f.end = 0, 8*len(in)
					y--
					continue
				}
			}
			if twoD {
				if !f.need(1) {
					return y, errCCITTEnd
				}
				lines = f.peek(1) == 0
				f.pos++
			}
		}
		var err error
		if lines {
			err = f.row2D()
		} else {
			err = f.row1D()
		}
		if err == nil || compression == ccittG4 && err == errCCITTEnd {
			if e := f.endRow(); e != nil {
				err = e
			}
		}
		if compression == ccittG4 && (err == errCCITTEnd || err == nil && f.ended) {
			if y == 0 {
				return 0, errCCITTEnd
			}
			f.draw(out[y*n : (y+1)*n])
			return y + 1, nil
		}
		if err != nil {
			return y, err
		}
		if compression == ccittRLE {
			f.pos += max(0, f.end-f.pos) & 7
		}
		f.draw(out[y*n : (y+1)*n])
		if f.cur.n < f.maxRuns {
			f.cur.add(0) // an imaginary change for the next row
		} else if compression == ccittG4 {
			return y, errCCITTRuns
		}
		f.ref, f.cur = f.cur, f.ref
	}
	return rows, nil
}

// draw sets the black pixels of cur. It cuts runs that exceed the row.
func (f *fax) draw(row []byte) {
	x := 0
	for i, n := range f.cur.v[:f.cur.n] {
		run := int(n)
		if run > f.w-x || run < 0 { // below 0 after an overflow
			run = f.w - x
			f.cur.v[i] = int32(run)
		}
		if i%2 != 0 {
			blacken(row, x, x+run)
		}
		x += run
	}
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

// skipEndOfLine skips the data up to and including the next end of line: at
// least 11 zeros and a one. It reports false if the zeros do not end.
func (f *fax) skipEndOfLine() (bool, error) {
	if !f.ended {
		for ; ; f.pos++ {
			if !f.need(endOfLine) {
				return false, errCCITTEnd
			}
			if f.peek(endOfLine) == 0 {
				break
			}
		}
	}
	for {
		if !f.need(8) {
			return false, nil
		}
		if f.peek(8) != 0 {
			break
		}
		f.pos += 8
	}
	for f.peek(1) == 0 {
		f.pos++
	}
	f.pos++
	f.ended = false
	return true, nil
}

// add ends the pending run n pixels further on.
func (f *fax) add(n int) error {
	if f.cur.n >= f.maxRuns {
		return errCCITTRuns
	}
	f.cur.add(f.pending + n)
	f.x += n
	f.pending = 0
	return nil
}

// endRow makes the row as wide as the image.
func (f *fax) endRow() error {
	if f.pending != 0 {
		if err := f.add(0); err != nil {
			return err
		}
	}
	if f.x == f.w {
		return nil
	}
	for f.x > f.w && f.cur.n > 0 {
		f.cur.n--
		f.x -= f.cur.at(f.cur.n)
	}
	switch {
	case f.x < f.w:
		f.x = max(f.x, 0)
		if f.cur.n%2 != 0 {
			if err := f.add(0); err != nil {
				return err
			}
		}
		return f.add(f.w - f.x)
	case f.x > f.w:
		if err := f.add(f.w); err != nil {
			return err
		}
		return f.add(0)
	}
	return nil
}

// run reads a run of the colour and adds it. It reports false if the data has
// no such run.
func (f *fax) run(color int) (bool, error) {
	t := runTables()[color]
	for {
		if !f.need(longestWhite + color) {
			return false, errCCITTEnd
		}
		e := t[f.peek(longestBlack)]
		n := int(e >> 4)
		f.pos += int(e & 15)
		switch {
		case e == 0:
			return false, nil
		case n == noRun:
			f.ended = true
			return false, nil
		case n < 64:
			return true, f.add(n)
		}
		f.x += n
		f.pending += n
	}
}

func (f *fax) row1D() error {
	for color := 0; ; color ^= 1 {
		ok, err := f.run(color)
		if err != nil || !ok || f.x >= f.w {
			return err
		}
		if n := f.cur.n; color == 1 && f.cur.at(n-1) == 0 && f.cur.at(n-2) == 0 {
			f.cur.n -= 2
		}
	}
}

func (f *fax) row2D() error {
	b, next := f.ref.at(0), 1 // the next change in the previous row
	// follow moves b behind x.
	follow := func() error {
		for f.cur.n > 0 && b <= f.x && b < f.w {
			if next+1 >= f.maxRuns {
				return errCCITTRuns
			}
			b += f.ref.at(next) + f.ref.at(next+1)
			next += 2
		}
		return nil
	}
	for f.x < f.w {
		if f.cur.n >= f.maxRuns {
			return errCCITTRuns
		}
		if !f.need(longestMode) {
			return errCCITTEnd
		}
		mode, length := f.mode()
		f.pos += length
		if mode < modeHorizontal {
			if err := follow(); err != nil {
				return err
			}
		}
		switch mode {
		case modePass:
			if next+1 >= f.maxRuns {
				return errCCITTRuns
			}
			b += f.ref.at(next)
			f.pending += b - f.x
			f.x = b
			b += f.ref.at(next + 1)
			next += 2
		case modeHorizontal:
			color := f.cur.n % 2
			for i := range 2 {
				end := f.ended
				ok, err := f.run(color ^ i)
				if err != nil || !ok {
					f.ended = end // an end of line does not count here
					return err
				}
			}
			if err := follow(); err != nil {
				return err
			}
		case modeExtension:
			f.cur.add(f.w - f.x)
			return nil
		case modeEnd:
			f.cur.add(f.w - f.x)
			if !f.need(4) {
				return errCCITTEnd
			}
			f.pos += 4
			f.ended = true
			return nil
		default:
			if b+min(mode, 0) < f.x {
				return nil
			}
			if err := f.add(b - f.x + mode); err != nil {
				return err
			}
			if mode < 0 {
				next--
				b -= f.ref.at(next)
			} else if next >= f.maxRuns {
				return errCCITTRuns
			} else {
				b += f.ref.at(next)
				next++
			}
		}
	}
	if f.pending == 0 {
		return nil
	}
	if f.pending+f.x < f.w {
		// A final vertical mode is wanted.
		if !f.need(1) {
			return errCCITTEnd
		}
		if f.peek(1) == 0 {
			return nil
		}
		f.pos++
	}
	return f.add(0)
}

func (f *fax) mode() (mode, length int) {
	v := f.peek(longestMode)
	for i := range modes {
		if m := &modes[i]; v>>(longestMode-m.length) == m.bits {
			return m.mode, m.length
		}
	}
	panic("tiff: no mode")
}
