//go:build !small

package jpeg

import (
	"bytes"
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

// When a region of a baseline file without restart markers is decoded, all of
// its data is. The places where MCUs begin are noted for codec.Options.Index,
// so that a later region of the same data needs its own MCUs alone. Only an
// undisturbed file that was accepted has a note: decoding it again cannot fail.
//
// A note has the place of every eighth MCU of each row, and the scan's end: as
// unsigned varints, the bits since the place before (a byte of the file has
// eight, stuffed zeros included), and for each component the change of its DC
// predictor, in zigzag form. That is about 1 % of the file.

// noteStep is the number of MCUs from one noted place to the next in a row.
const noteStep = 8

// noteMost is the largest file in bytes that is noted. Its bits are numbered
// within an int of 32 bits.
const noteMost = 1<<28 - 1

// noter notes places while a scan is decoded.
type noter struct {
	on   bool
	done bool // the note is complete
	mcu  int  // the number of the next MCU
	note []byte
	last notedPlace

	at  int // an index in the quick reader's Buf; below 0, in tail
	raw int // the offset in the file of the byte at index at
	// tail is the bytes before Buf, which the quick reader has taken over.
	tail [noteTail]byte

	places []notedPlace // of a note that is used
}

// noteTail is the most bytes that the quick reader may hold beside Buf.
const noteTail = 8

// notedPlace is a place where an MCU begins.
type notedPlace struct {
	bit  int      // 8 times an offset in the file, and the bit in that byte
	pred [4]int16 // the DC predictors
}

// openNotes looks for a note of the open image, and begins one if there is
// none. It reports whether there is one.
func (d *decoder) openNotes() bool {
	n, x, h, r := &d.ent.notes, d.o.Index, &d.head, &d.out.region
	n.on, n.done = false, false
	if x == nil || d.out.sink == nil || len(d.in.data) > noteMost || h.restartInterval != 0 || h.arithmetic || d.ent.quick.off || d.in.warns() ||
		r.Width == d.out.width && r.Height == d.out.height {
		return false
	}
	note, full := x.Find(d.in.data, uint8(d.in.damage))
	if note != nil && d.readNote(note) {
		return true
	}
	n.on = !full && note == nil
	n.mcu, n.note, n.last = 0, n.note[:0], notedPlace{bit: 8 * d.in.pos}
	return false
}

// notesPerRow returns the number of noted places of a row of MCUs.
func (h *header) notesPerRow() int { return ceilDiv(h.mcusPerRow, noteStep) }

// due notes the next MCU's place if it is to be noted. It returns the number of
// MCUs up to the next place.
func (e *entropy) due() int {
	n := &e.notes
	column := n.mcu % e.head.mcusPerRow
	if column%noteStep == 0 {
		e.notePlace()
	}
	return min(noteStep-column%noteStep, e.head.mcusPerRow-column)
}

// notePlace appends the quick reader's place to the note.
func (e *entropy) notePlace() {
	n, q := &e.notes, &e.quick
	bit := 8*q.huff.Pos - int(q.huff.N)
	n.moveTo(q, bit>>3)
	p := notedPlace{bit: 8*n.raw + bit&7}
	for c := range p.pred {
		p.pred[c] = int16(q.huff.Pred[c])
	}
	n.note = binary.AppendUvarint(n.note, uint64(p.bit-n.last.bit))
	for c := range e.head.nScan {
		diff := p.pred[c] - n.last.pred[c]
		n.note = binary.AppendUvarint(n.note, uint64(uint16(diff<<1^diff>>15)))
	}
	n.last = p
}

// moveTo moves to an index of Buf, from where raw's byte is.
func (n *noter) moveTo(q *quickReader, at int) {
	// Each ff had a stuffed zero.
	if n.at < 0 {
		to := min(at, 0)
		n.raw += to - n.at + bytes.Count(n.tail[noteTail+n.at:noteTail+to], ff)
		n.at = to
	}
	if at > n.at {
		n.raw += at - n.at + bytes.Count(q.huff.Buf[n.at:at], ff)
		n.at = at
	}
}

// begin is called when the quick reader begins to read at an offset.
func (n *noter) begin(q *quickReader) {
	n.at, n.raw = 0, q.next
	// A segment that begins with bits of the careful decoders is none that a
	// note needs.
	n.on = n.on && n.mcu == 0 && q.huff.N == 0
}

// shift is called before the quick reader drops the bytes before Pos from Buf.
func (n *noter) shift(q *quickReader) {
	n.moveTo(q, max(n.at, (8*q.huff.Pos-int(q.huff.N))>>3))
	k := min(q.huff.Pos, noteTail)
	copy(n.tail[:], n.tail[k:])
	copy(n.tail[noteTail-k:], q.huff.Buf[q.huff.Pos-k:q.huff.Pos])
	n.at -= q.huff.Pos
}

// closeNotes keeps the note of an image that was decoded and accepted.
func (d *decoder) closeNotes() {
	n := &d.ent.notes
	if n.on && d.ent.quick.on && n.mcu == d.head.mcus() && d.in.damaged == nil {
		d.ent.notePlace()
		n.done = true
	}
	n.on = false
}

// keepNotes passes the note to the Index.
func (d *decoder) keepNotes() {
	if n := &d.ent.notes; n.done {
		d.o.Index.Keep(d.in.data, uint8(d.in.damage), n.note)
	}
}

// readNote reads the places of a note. It reports whether they are those of an
// image of this size.
func (d *decoder) readNote(note []byte) bool {
	n, h := &d.ent.notes, &d.head
	count := h.mcus()/h.mcusPerRow*h.notesPerRow() + 1
	n.places = grow(n.places, count)
	p := notedPlace{bit: 8 * d.in.pos}
	next := func() (v int) {
		u, k := binary.Uvarint(note)
		if k <= 0 || u > uint64(8*len(d.in.data)) {
			note = nil
			return 0
		}
		note = note[k:]
		return int(u)
	}
	for i := range n.places {
		p.bit += next()
		for c := range h.nScan {
			v := uint16(next())
			p.pred[c] += int16(v>>1) ^ -int16(v&1)
		}
		if note == nil || p.bit > 8*(len(d.in.data)-2) { // a marker follows the scan
			return false
		}
		n.places[i] = p
	}
	return len(note) == 0
}

// decodeNoted decodes the MCUs of the region.
func (d *decoder) decodeNoted() error {
	e, h := &d.ent, &d.head
	first, last := d.wantedMCUs()
	first, last = min(first, h.mcusPerRow), min(last, h.mcusPerRow)
	perRow := h.notesPerRow()
	for row := d.out.firstRow; row < min(d.out.lastRow, h.iMCURows); row++ {
		for y := range h.mcuRows(row) {
			at := (row*h.mcuRows(0) + y) * perRow
			from, end := e.notes.places[at+first/noteStep], e.notes.places[at+ceilDiv(last, noteStep)]
			if i := (end.bit + 7) >> 3; d.in.data[i-1] == 0xFF && d.in.data[i] != 0 {
				return d.foreignNote()
			}
			e.seek(from, end)
			for x := first &^ (noteStep - 1); x < last; {
				stop := last
				if x < first {
					stop = first
				}
				n := min(e.segMCUs, stop-x)
				if e.quickMCUs(0, n) < n {
					return d.foreignNote()
				}
				if x >= first {
					d.out.transform(&e.to, row, y, x, n)
				} else {
					clear(e.segBlocks)
				}
				clear(e.segLast)
				x += n
			}
		}
		d.out.emit(row)
	}
	return d.in.err
}

// foreignNote returns the error of a note about other data with the same hash.
func (d *decoder) foreignNote() error {
	return d.in.errorf(codec.ErrInternal, "the note of the index is about other data")
}

// seek moves the quick reader to a place. It decodes up to another one.
func (e *entropy) seek(at, end notedPlace) {
	q := &e.quick
	e.begin(0)
	for c := range e.head.nScan {
		e.lastDC[c] = int32(at.pred[c])
	}
	e.in.pos = at.bit >> 3
	q.next, q.end = at.bit>>3, (end.bit+7)>>3
	q.huff.Pos, q.data, q.huff.Acc, q.huff.N = 0, 0, 0, 0
	q.on, q.tried = true, true
	q.fill()
	if k := uint(at.bit & 7); k != 0 {
		q.huff.Acc, q.huff.N = uint64(q.huff.Buf[0])<<(56+k), 8-k
		q.huff.Pos++
	}
}
