package jpeg

import (
	"bytes"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// The quick decoder decodes most of a file. If a marker ends the data of the
// scan or restart segment, the data is copied without its stuffed zeros and
// decoded from the copy without checks. libjpeg's fetch-ahead (see
// bitreader.go) has no effect there, because the data does not run out. If MCUs
// of a baseline file need more bits than precede the marker, they are discarded
// and the careful decoders take over. In a progressive file these take over
// near the marker.

const (
	// quickBlock is the distance in bytes from the marker, for each block of an
	// MCU, from which on no chunk of the file may end.
	quickBlock = 64
	// quickAhead is the most bytes that the reader fetches ahead.
	quickAhead = 7
	// quickChunk is the number of bytes copied at a time.
	quickChunk = 1 << 16
)

// quickTable is a Huffman table and its source.
type quickTable struct {
	huff kernel.HuffTable
	spec huffSpec
	kind kernel.HuffKind
}

func (t *quickTable) build(s *huffSpec, kind kernel.HuffKind) {
	if t.spec != *s || t.kind != kind {
		t.spec, t.kind = *s, kind
		t.huff.Build(&s.bits, &s.vals, kind)
	}
}

// quickReader decodes the undisturbed data before a marker from a copy.
type quickReader struct {
	in    *input
	huff  kernel.HuffReader
	on    bool
	tried bool // quick decoding was tried since the last marker
	off   bool // disables quick decoding, for tests that compare with the careful decoders

	notes *noter

	next   int  // offset in the file of the next byte to copy
	end    int  // offset of the marker
	data   int  // bytes in huff.Buf before the padding
	margin int  // distance in bytes from the marker at which quick decoding of progressive scans ends
	redo   bool // MCUs that need more data than is left can be decoded again
	dc, ac [numTables]quickTable
}

// startQuick prepares quick decoding of a scan.
func (e *entropy) startQuick() {
	h := e.head
	q := &e.quick
	q.on, q.tried = false, false
	if e.in.warns() {
		return
	}
	ac := kernel.HuffAC
	if h.progressive && h.ah != 0 {
		ac = kernel.HuffRefine
	}
	q.huff.MCU, q.huff.Places, q.margin, q.redo = h.blocksInMCU, h.places, e.quickMargin(), !h.progressive
	for b := range h.blocksInMCU {
		c := h.scan[h.member[b]]
		q.huff.To[b] = kernel.HuffTarget{DC: &q.dc[c.dcTab&3].huff, AC: &q.ac[c.acTab&3].huff, Comp: h.member[b]}
		if h.hasDC() {
			q.dc[c.dcTab].build(&h.dcSpec[c.dcTab], kernel.HuffDC)
		}
		if h.hasAC() {
			q.ac[c.acTab].build(&h.acSpec[c.acTab], ac)
		}
	}
}

// enterQuick starts quick decoding if enough undisturbed data is left. It tries
// once after each marker.
func (e *entropy) enterQuick() bool {
	q := &e.quick
	if q.off || q.tried || e.in.warns() || e.in.marker != 0 || e.bits.nbits > 63 {
		return false
	}
	q.tried = true
	end := segmentEnd(e.in.data, e.in.pos)
	if end < e.in.pos || !q.redo && end < e.in.pos+2*q.margin {
		return false
	}
	if q.fetches(end) {
		return false
	}
	q.next, q.end, q.huff.Pos, q.data = e.in.pos, end, 0, 0
	q.huff.Acc, q.huff.N = 0, uint(e.bits.nbits)
	if e.bits.nbits > 0 {
		q.huff.Acc = e.bits.acc << uint(64-e.bits.nbits)
	}
	q.on = true
	if q.notes.on {
		q.notes.begin(q)
	}
	q.fill()
	return true
}

// fetches reports whether libjpeg's fetch-ahead has an effect before the marker
// at offset end: whether a chunk of the file ends just before it.
func (q *quickReader) fetches(end int) bool {
	return (end-q.margin-16)/chunk != (end+16)/chunk
}

// segmentEnd returns the offset of the first marker from pos on, -1 if none or
// if fill bytes precede it.
func segmentEnd(data []byte, pos int) int {
	i := kernel.FindMarker(data[pos:])
	if i < 0 || data[pos+i+1] == 0xFF { // the careful decoders handle fill bytes
		return -1
	}
	return pos + i
}

// fill copies the next chunk after the data that is not decoded yet.
func (q *quickReader) fill() {
	q.giveBack()
	if q.notes.on {
		q.notes.shift(q)
	}
	rest := q.data - q.huff.Pos
	raw := q.in.data[q.next:min(q.next+quickChunk, q.end)]
	if n := len(raw); n > 0 && raw[n-1] == 0xFF {
		raw = q.in.data[q.next : q.next+n+1] // with its stuffed zero
	}
	room := kernel.HuffBlockBytes * q.huff.MCU
	buf := grow(q.huff.Buf, rest+len(raw)+room+quickAhead)
	copy(buf, q.huff.Buf[q.huff.Pos:q.data])
	q.data = rest + kernel.Unstuff(buf[rest:], raw)
	q.huff.Buf = buf[:q.data+room+quickAhead]
	clear(q.huff.Buf[q.data:])
	q.next += len(raw)
	q.huff.Pos = 0
	switch {
	case q.next < q.end:
		q.huff.Stop = q.data - room
	case q.redo:
		q.huff.Stop = q.data + quickAhead
	default:
		q.huff.Stop = q.data - q.margin
	}
}

// quickMargin returns the distance in bytes from the marker at which quick
// decoding of a progressive scan ends, because its MCUs modify coefficients and
// cannot be decoded again. No chunk of the file may end nearer to the marker.
func (e *entropy) quickMargin() int {
	h := e.head
	switch {
	case h.progressive && h.ss == 0:
		return 16 * h.blocksInMCU // a code and its value take at most 4 bytes
	case h.progressive:
		return kernel.HuffBlockBytes
	}
	return quickBlock * h.blocksInMCU
}

// leaveQuick passes the state to the careful decoders.
func (e *entropy) leaveQuick() {
	q := &e.quick
	if !q.on {
		return
	}
	q.on = false
	q.giveBack()
	e.bits.nbits, e.bits.acc = int(q.huff.N), 0
	if q.huff.N > 0 {
		e.bits.acc = q.huff.Acc >> (64 - q.huff.N)
	}
	// Each ff that is left in the copy had a stuffed zero.
	rest := q.huff.Buf[q.huff.Pos:q.data]
	e.in.pos = q.next - len(rest) - bytes.Count(rest, ff)
	for e.in.end < e.in.pos {
		e.in.end = min(e.in.end+chunk, len(e.in.data))
	}
}

// giveBack returns fetched padding to Buf. The reader fetches up to 7 bytes
// more than it has used, and so beyond the data if the last MCU ends near the
// marker. quickMCUs checks that the used bits are within the data. The padding
// is at the low end of Acc's N bits, so a smaller N drops it.
func (q *quickReader) giveBack() {
	if over := q.huff.Pos - q.data; over > 0 {
		q.huff.Pos -= over
		q.huff.N -= uint(8 * over)
	}
}

var ff = []byte{0xFF}

// target sets the reader's targets.
func (q *quickReader) target(to *[maxMCU]target) {
	for b := range q.huff.MCU {
		h, t := &q.huff.To[b], &to[b]
		h.Blocks, h.Last, h.Step = t.blocks, t.last, t.step
	}
}

// aimQuick sets the reader's targets and range.
func (e *entropy) aimQuick(x, end int) {
	q := &e.quick
	q.target(&e.to)
	copy(q.huff.Pred[:], e.lastDC[:])
	q.huff.X, q.huff.Limit = x, end
}

// more copies the next chunk if needed and reports whether another MCU can be
// decoded.
func (q *quickReader) more() bool {
	if q.huff.Pos > q.huff.Stop && q.next < q.end {
		q.fill()
	}
	return q.huff.Pos <= q.huff.Stop
}

// quickMCUs decodes MCUs from number x to end, exclusive. It returns the number
// of the next MCU, which is less than end if too little data is left.
func (e *entropy) quickMCUs(x, end int) int {
	q := &e.quick
	e.aimQuick(x, end)
	for q.huff.X < end {
		if e.notes.on {
			q.huff.Limit = min(end, q.huff.X+e.due())
		}
		if !q.more() {
			break
		}
		pos, acc, n, pred, first := q.huff.Pos, q.huff.Acc, q.huff.N, q.huff.Pred, q.huff.X
		q.huff.Decode()
		if q.next == q.end && q.huff.Pos*8-int(q.huff.N) > q.data*8 {
			// They used padding: discard these MCUs.
			for b := range e.head.blocksInMCU {
				to := &q.huff.To[b]
				for x := first; x < q.huff.X; x++ {
					to.Blocks[x*to.Step] = [64]int16{}
				}
			}
			q.huff.Pos, q.huff.Acc, q.huff.N, q.huff.Pred, q.huff.X = pos, acc, n, pred, first
			break
		}
		e.notes.mcu += q.huff.X - first
	}
	copy(e.lastDC[:], q.huff.Pred[:])
	return q.huff.X
}

// quickProgressive is quickMCUs for progressive files.
func (e *entropy) quickProgressive(x, end int) (int, error) {
	h := e.head
	q := &e.quick
	e.aimQuick(x, end)
	band := kernel.HuffBand{First: h.ss, Last: h.se, Shift: h.al, EOBRun: e.eobrun, Masks: e.to[0].masks}
	for q.huff.X < end && q.more() {
		switch {
		case h.ss == 0 && h.ah == 0:
			if !q.huff.DCFirst(h.al) {
				return q.huff.X, e.in.errorf(codec.ErrFormat, "DC coefficient out of range")
			}
		case h.ss == 0:
			q.huff.DCRefine(h.al)
		case h.ah == 0:
			q.huff.ACFirst(&band)
		default:
			q.huff.ACRefine(&band)
		}
	}
	e.eobrun = band.EOBRun
	copy(e.lastDC[:], q.huff.Pred[:])
	return q.huff.X, nil
}
