package jpeg

import (
	"bytes"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// Most of a baseline file is decoded here: where the data of the scan, or of the
// part up to the next restart marker, is ended by a marker, it is copied without
// its stuffed zeros and decoded from the copy, with no checks. How far ahead
// libjpeg fetches (see bitreader.go) cannot matter then, since the data does not
// run out; near the marker the careful ways take over.

const (
	// quickBlock is how many bytes before the marker, for each block of an MCU,
	// the quick way ends. Few MCUs take more; those are decoded again.
	quickBlock = 64
	// quickChunk is how much is copied at a time.
	quickChunk = 1 << 16
)

// quickTable is a Huffman table with what it was built from.
type quickTable struct {
	kernel.HuffTable
	spec huffSpec
	kind kernel.HuffKind
}

func (t *quickTable) build(s *huffSpec, kind kernel.HuffKind) {
	if t.spec != *s || t.kind != kind {
		t.spec, t.kind = *s, kind
		t.Build(&s.bits, &s.vals, kind)
	}
}

// quickState is the state of the decoder of undisturbed data.
type quickState struct {
	kernel.HuffReader
	on    bool
	tried bool // whether it was tried since the last marker
	off   bool // never enter: for tests, which compare with the careful ways

	next   int // the byte of the file that is copied next
	end    int // the marker
	data   int // bytes in Buf before the padding
	dc, ac [numTables]quickTable
}

// startQuick prepares for a scan.
func (d *decoder) startQuick() {
	q := &d.quick
	q.on, q.tried = false, false
	if d.damage != codec.DamagePillow {
		return
	}
	ac := kernel.HuffAC
	if d.progressive && d.ah != 0 {
		ac = kernel.HuffRefine
	}
	q.MCU = d.blocksInMCU
	for b := range d.blocksInMCU {
		c := d.scan[d.member[b]]
		q.To[b] = kernel.HuffTarget{DC: &q.dc[c.dcTab&3].HuffTable, AC: &q.ac[c.acTab&3].HuffTable, Comp: d.member[b]}
		if !d.progressive || d.ss == 0 && d.ah == 0 {
			q.dc[c.dcTab].build(&d.dcSpec[c.dcTab], kernel.HuffDC)
		}
		if !d.progressive || d.ss != 0 {
			q.ac[c.acTab].build(&d.acSpec[c.acTab], ac)
		}
	}
}

// enterQuick starts quick decoding if there is enough undisturbed data, which it
// tries once after each marker.
func (d *decoder) enterQuick() bool {
	q := &d.quick
	if q.off || q.tried || d.damage != codec.DamagePillow || d.marker != 0 || d.nbits > 63 {
		return false
	}
	q.tried = true
	margin := d.quickMargin()
	end := segmentEnd(d.data, d.pos)
	if end < d.pos+2*margin {
		return false
	}
	// Where a piece of the file ends just before the marker, how far ahead libjpeg
	// fetches does matter.
	if (end-margin-16)/chunk != (end+16)/chunk {
		return false
	}
	q.next, q.end, q.Pos, q.data = d.pos, end, 0, 0
	q.Acc, q.N = 0, uint(d.nbits)
	if d.nbits > 0 {
		q.Acc = d.acc << uint(64-d.nbits)
	}
	q.on = true
	d.copyQuick()
	return true
}

// segmentEnd is the first marker from pos on, or -1 if there is none.
func segmentEnd(data []byte, pos int) int {
	for {
		i := bytes.IndexByte(data[pos:], 0xFF)
		if i < 0 || pos+i+1 >= len(data) {
			return -1
		}
		pos += i
		if b := data[pos+1]; b != 0 && b != 0xFF {
			return pos
		} else if b == 0xFF {
			return -1 // fill bytes are left to the careful ways
		}
		pos += 2
	}
}

// copyQuick copies the next chunk behind what has not been decoded.
func (d *decoder) copyQuick() {
	q := &d.quick
	q.giveBack()
	rest := q.data - q.Pos
	raw := d.data[q.next:min(q.next+quickChunk, q.end)]
	if n := len(raw); n > 0 && raw[n-1] == 0xFF {
		raw = d.data[q.next : q.next+n+1] // with its stuffed zero
	}
	room := kernel.HuffBlockBytes * d.blocksInMCU
	buf := grow(q.Buf, rest+len(raw)+room)
	copy(buf, q.Buf[q.Pos:q.data])
	q.data = rest + unstuff(buf[rest:], raw)
	q.Buf = buf[:q.data+room]
	clear(q.Buf[q.data:])
	q.next += len(raw)
	q.Pos = 0
	if q.Stop = q.data - room; q.next == q.end {
		q.Stop = q.data - d.quickMargin()
	}
}

// quickMargin is how far before the marker the quick way ends. Progressive scans
// change what is there, so that they cannot be decoded again.
func (d *decoder) quickMargin() int {
	switch {
	case d.progressive && d.ss == 0:
		return 16 * d.blocksInMCU // a code and a value are no more than 4
	case d.progressive:
		return kernel.HuffBlockBytes
	}
	return quickBlock * d.blocksInMCU
}

// leaveQuick gives the careful ways the state.
func (d *decoder) leaveQuick() {
	q := &d.quick
	if !q.on {
		return
	}
	q.on = false
	q.giveBack()
	d.nbits, d.acc = int(q.N), 0
	if q.N > 0 {
		d.acc = q.Acc >> (64 - q.N)
	}
	// What is left of the copy has a stuffed zero for each ff.
	rest := q.Buf[q.Pos:q.data]
	d.pos = q.next - len(rest) - bytes.Count(rest, ff)
	for d.end < d.pos {
		d.end = min(d.end+chunk, len(d.data))
	}
}

// giveBack returns fetched padding to Buf. The reader fetches up to 7 bytes ahead
// of the bits it has used, and so past the data where the last MCU ends near the
// marker. The used bits are within the data, as quickMCUs checks. The lower N
// drops the padding, which is at the low end of Acc's bits.
func (q *quickState) giveBack() {
	if over := q.Pos - q.data; over > 0 {
		q.Pos -= over
		q.N -= uint(8 * over)
	}
}

var ff = []byte{0xFF}

// unstuff copies src, which has no marker, without its stuffed zeros, and gives
// the number of bytes copied.
func unstuff(dst, src []byte) int {
	n := 0
	for len(src) > 0 {
		i := bytes.IndexByte(src, 0xFF)
		if i < 0 {
			return n + copy(dst[n:], src)
		}
		n += copy(dst[n:], src[:i+1])
		src = src[i+2:]
	}
	return n
}

// aimQuick gives the reader the targets and what it decodes from.
func (d *decoder) aimQuick(x, end int) {
	q := &d.quick
	for b := range d.blocksInMCU {
		to, t := &q.To[b], &d.to[b]
		to.Blocks, to.Last, to.Step = t.blocks, t.last, t.step
	}
	copy(q.Pred[:], d.lastDC[:])
	q.X, q.Limit = x, end
}

// moreQuick reports whether an MCU can be decoded, after copying what is next.
func (d *decoder) moreQuick() bool {
	q := &d.quick
	if q.Pos > q.Stop && q.next < q.end {
		d.copyQuick()
	}
	return q.Pos <= q.Stop
}

// quickMCUs decodes MCUs from number x to end (not included) and gives the number
// of the next: less than end if there is too little data ahead.
func (d *decoder) quickMCUs(x, end int) int {
	q := &d.quick
	d.aimQuick(x, end)
	for q.X < end && d.moreQuick() {
		pos, acc, n, pred, first := q.Pos, q.Acc, q.N, q.Pred, q.X
		q.Decode()
		if q.next == q.end && q.Pos*8-int(q.N) > q.data*8 {
			// More than there is: not these MCUs.
			for b := range d.blocksInMCU {
				to := &q.To[b]
				for x := first; x < q.X; x++ {
					to.Blocks[x*to.Step] = [64]int16{}
				}
			}
			q.Pos, q.Acc, q.N, q.Pred, q.X = pos, acc, n, pred, first
			break
		}
	}
	copy(d.lastDC[:], q.Pred[:])
	return q.X
}

// quickProgressive is quickMCUs for progressive files.
func (d *decoder) quickProgressive(x, end int) (int, error) {
	q := &d.quick
	d.aimQuick(x, end)
	band := kernel.HuffBand{First: d.ss, Last: d.se, Shift: d.al, EOBRun: d.eobrun, Masks: d.to[0].masks}
	for q.X < end && d.moreQuick() {
		switch {
		case d.ss == 0 && d.ah == 0:
			if !q.DCFirst(d.al) {
				return q.X, d.errorf(codec.ErrFormat, "DC coefficient out of range")
			}
		case d.ss == 0:
			q.DCRefine(d.al)
		case d.ah == 0:
			q.ACFirst(&band)
		default:
			q.ACRefine(&band)
		}
	}
	d.eobrun = band.EOBRun
	copy(d.lastDC[:], q.Pred[:])
	return q.X, nil
}
