package jpeg

import (
	"bytes"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// Most of a baseline file is decoded here. Where the decoder is so far from a
// marker and from the end of what it has been given that neither can matter, the
// data is copied without its stuffed zeros and decoded from the copy, with no
// checks. What libjpeg would have fetched by then (see bitreader.go) follows from
// the number of bits decoded, so that the careful ways can take over exactly.

const (
	// quickMin is how many bytes there must be for copying them to be worth while.
	quickMin = 4096
	// quickRoom is how many bytes the decoder fetches at most beyond those it needs.
	quickRoom = 16
)

// quickTable is a Huffman table with what it was built from.
type quickTable struct {
	kernel.HuffTable
	spec huffSpec
}

func (t *quickTable) build(s *huffSpec, dc bool) {
	if t.spec != *s {
		t.spec = *s
		t.Build(&s.bits, &s.vals, dc)
	}
}

// quickState is the state of the decoder of undisturbed data.
type quickState struct {
	kernel.HuffReader
	on  bool
	off bool // never enter: for tests, which compare with the careful ways
	raw int  // where in the file Buf starts

	startBits int // what libjpeg had fetched and not read at Buf[0]

	tried  int // the end of the data when last tried
	dc, ac [numTables]quickTable
	buffer []byte
}

// startQuick prepares for a scan.
func (d *Decoder) startQuick() {
	q := &d.quick
	q.on, q.tried = false, 0
	if d.damage != codec.DamagePillow || d.restartInterval != 0 {
		return
	}
	for i := range d.nScan {
		c := d.scan[i]
		q.dc[c.dcTab].build(&d.dcSpec[c.dcTab], true)
		q.ac[c.acTab].build(&d.acSpec[c.acTab], false)
	}
	q.MCU = d.blocksInMCU
	for b := range d.blocksInMCU {
		c := d.scan[d.member[b]]
		q.To[b] = kernel.HuffTarget{DC: &q.dc[c.dcTab].HuffTable, AC: &q.ac[c.acTab].HuffTable, Comp: d.member[b]}
	}
}

// enterQuick starts quick decoding if there is enough undisturbed data, which it
// tries once for each piece of the file.
func (d *Decoder) enterQuick() bool {
	q := &d.quick
	room := fastBytes*d.blocksInMCU + quickRoom
	if q.off || q.tried == d.end || d.end-d.pos < room+quickMin || d.nbits > 63 {
		return false
	}
	q.tried = d.end
	// libjpeg's unread bits come first.
	q.buffer = grow(q.buffer, d.end-d.pos+quickRoom)
	n := unstuff(q.buffer, d.data[d.pos:d.end])
	q.Buf = q.buffer[:n+quickRoom]
	clear(q.Buf[n:])
	q.Stop = n - room
	if q.Stop < 0 {
		return false
	}
	q.raw, q.Pos, q.startBits, q.Tail = d.pos, 0, d.nbits, 0
	q.Acc, q.N = 0, uint(d.nbits)
	if d.nbits > 0 {
		q.Acc = d.acc << uint(64-d.nbits)
	}
	q.on = true
	return true
}

// leaveQuick gives the careful ways the state that libjpeg would have.
func (d *Decoder) leaveQuick() {
	q := &d.quick
	if !q.on {
		return
	}
	q.on = false
	// It fetches 48 bits when there are 16 or fewer: so where it last looked it
	// had 17 to 64, and of those the number that makes whole fetches.
	used := q.startBits + q.Pos*8 - int(q.N)
	fetched := q.startBits
	if at := used - int(q.Tail) + 17; at > fetched {
		fetched += (at - fetched + 47) / 48 * 48
	}
	n := (fetched - q.startBits) / 8
	d.nbits = fetched - used
	for i := max(n-8, 0); i < n; i++ {
		d.acc = d.acc<<8 | uint64(q.Buf[i])
	}
	d.pos = q.raw + n + bytes.Count(q.Buf[:n], ff) // each has a stuffed zero
}

var ff = []byte{0xFF}

// unstuff copies src up to its first marker without stuffed zeros, and gives the
// number of bytes copied.
func unstuff(dst, src []byte) int {
	n := 0
	for len(src) > 0 {
		i := bytes.IndexByte(src, 0xFF)
		if i < 0 {
			i = len(src)
		}
		n += copy(dst[n:], src[:i])
		if i+1 >= len(src) || src[i+1] != 0 {
			return n
		}
		dst[n] = 0xFF
		n++
		src = src[i+2:]
	}
	return n
}

// quickMCUs decodes MCUs from number x to end (not included) and gives the number
// of the next: less than end if there is too little data ahead.
func (d *Decoder) quickMCUs(x, end int) int {
	q := &d.quick
	for b := range d.blocksInMCU {
		to, t := &q.To[b], &d.to[b]
		to.Blocks, to.Last, to.Step = t.blocks, t.last, t.step
	}
	q.X, q.Limit = x, end
	copy(q.Pred[:], d.lastDC[:])
	q.Decode()
	copy(d.lastDC[:], q.Pred[:])
	return q.X
}
