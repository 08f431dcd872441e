package jpeg

import (
	"bytes"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// The quick decoder decodes most of a baseline file. If a marker ends the data
// of the scan or restart segment, the data is copied without its stuffed zeros
// and decoded from the copy without checks. libjpeg's fetch-ahead (see
// bitreader.go) has no effect there, because the data does not run out. Near
// offset of the marker the careful decoders take over.

const (
	// quickBlock is the distance in bytes from the marker, for each block of an
	// MCU, at which quick decoding ends. The few MCUs that need more are
	// decoded again.
	quickBlock = 64
	// quickChunk is the number of bytes copied at a time.
	quickChunk = 1 << 16
)

// quickTable is a Huffman table and its source.
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

// quickState is the state of the quick decoder.
type quickState struct {
	kernel.HuffReader
	on    bool
	tried bool // quick decoding was tried since the last marker
	off   bool // disables quick decoding, for tests that compare with the careful decoders

	next   int // offset in the file of the next byte to copy
	end    int // offset of the marker
	data   int // bytes in Buf before the padding
	dc, ac [numTables]quickTable
}

// startQuick prepares quick decoding of a scan.
func (d *decoder) startQuick() {
	q := &d.quick
	q.on, q.tried = false, false
	if d.warns() {
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

// enterQuick starts quick decoding if enough undisturbed data is left. It tries
// once after each marker.
func (d *decoder) enterQuick() bool {
	q := &d.quick
	if q.off || q.tried || d.warns() || d.marker != 0 || d.nbits > 63 {
		return false
	}
	q.tried = true
	margin := d.quickMargin()
	end := segmentEnd(d.data, d.pos)
	if end < d.pos+2*margin {
		return false
	}
	// If a chunk of the file ends just before the marker, libjpeg's fetch-ahead
	// does have an effect.
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

// segmentEnd returns the offset of the first marker from pos on, -1 if none or
// if fill bytes precede it.
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
			return -1 // the careful decoders handle fill bytes
		}
		pos += 2
	}
}

// copyQuick copies the next chunk after the data that is not decoded yet.
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

// quickMargin returns the distance in bytes from the marker at which quick
// decoding ends. Progressive scans modify coefficients, so that their MCUs
// cannot be decoded again.
func (d *decoder) quickMargin() int {
	switch {
	case d.progressive && d.ss == 0:
		return 16 * d.blocksInMCU // a code and its value take at most 4 bytes
	case d.progressive:
		return kernel.HuffBlockBytes
	}
	return quickBlock * d.blocksInMCU
}

// leaveQuick passes the state to the careful decoders.
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
	// Each ff that is left in the copy had a stuffed zero.
	rest := q.Buf[q.Pos:q.data]
	d.pos = q.next - len(rest) - bytes.Count(rest, ff)
	for d.end < d.pos {
		d.end = min(d.end+chunk, len(d.data))
	}
}

// giveBack returns fetched padding to Buf. The reader fetches up to 7 bytes
// more than it has used, and so beyond the data if the last MCU ends near the
// marker. quickMCUs checks that the used bits are within the data. The padding
// is at the low end of Acc's N bits, so a smaller N drops it.
func (q *quickState) giveBack() {
	if over := q.Pos - q.data; over > 0 {
		q.Pos -= over
		q.N -= uint(8 * over)
	}
}

var ff = []byte{0xFF}

// unstuff copies src, which has no marker, without its stuffed zeros. It
// returns the number of bytes copied.
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

// aimQuick sets the reader's targets and range.
func (d *decoder) aimQuick(x, end int) {
	q := &d.quick
	for b := range d.blocksInMCU {
		to, t := &q.To[b], &d.to[b]
		to.Blocks, to.Last, to.Step = t.blocks, t.last, t.step
	}
	copy(q.Pred[:], d.lastDC[:])
	q.X, q.Limit = x, end
}

// moreQuick copies the next chunk if needed and reports whether another MCU can
// be decoded.
func (d *decoder) moreQuick() bool {
	q := &d.quick
	if q.Pos > q.Stop && q.next < q.end {
		d.copyQuick()
	}
	return q.Pos <= q.Stop
}

// quickMCUs decodes MCUs from number x to end, exclusive. It returns the number
// of the next MCU, which is less than end if too little data is left.
func (d *decoder) quickMCUs(x, end int) int {
	q := &d.quick
	d.aimQuick(x, end)
	for q.X < end && d.moreQuick() {
		pos, acc, n, pred, first := q.Pos, q.Acc, q.N, q.Pred, q.X
		q.Decode()
		if q.next == q.end && q.Pos*8-int(q.N) > q.data*8 {
			// They used padding: discard these MCUs.
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
