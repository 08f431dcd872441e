package jpeg

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/infer-prep/infer-prep/codec"
)

// Most of a baseline file is decoded here. Where the decoder is so far from a
// marker and from the end of what it has been given that neither can matter, the
// data is copied without its stuffed zeros and decoded from the copy, with no
// checks. What libjpeg would have fetched by then (see bitreader.go) follows from
// the number of bits decoded, so that the careful ways can take over exactly.

const (
	// quickBits is the length of what one look-up finds: a code with its value.
	quickBits = 11
	// quickMin is how many bytes there must be for copying them to be worth while.
	quickMin = 4096
	// quickRoom is how many bytes the decoder fetches at most beyond those it needs.
	quickRoom = 16
)

// A quickEntry says what the next quickBits bits start with:
//
//	bits 0-5    the length of the code and its value together
//	bits 8-15   how far to go in the block (1 to 16), or one of the steps below
//	bits 16-31  the value
type quickEntry uint32

const (
	// stepEnd is EOB's step. It ends any block.
	stepEnd = 64
	// stepRare is all else: ZRL, and what the bits do not hold to its end. Bits
	// 0-5 are then the length of the code and bits 16-23 its symbol, both 0 if the
	// code itself is longer than quickBits.
	stepRare = 128
)

type quickTable struct {
	look [1 << quickBits]quickEntry
	huff *huffTable
	spec huffSpec // what it was built from
	dc   bool
}

// build fills t, unless it is from the same table already.
func (t *quickTable) build(h *huffTable, s *huffSpec, dc bool) {
	if t.huff == h && t.dc == dc && t.spec == *s {
		return
	}
	t.huff, t.spec, t.dc = h, *s, dc
	i, q := 0, 0
	for l := 1; l <= quickBits; l++ {
		for range s.bits[l] {
			sym := int(s.vals[q])
			q++
			run, size := sym>>4, sym&15
			if dc {
				run, size = 0, sym
			}
			all := t.look[i : i+1<<(quickBits-l)]
			i += len(all)
			e := quickEntry(l + size)
			switch {
			case size == 0 && dc:
				e |= 1 << 8
			case size == 0 && run != 15:
				e |= stepEnd << 8
			case size == 0 || l+size > quickBits:
				e = quickEntry(l) | stepRare<<8 | quickEntry(sym)<<16
			default:
				e |= quickEntry(run+1) << 8
				n := 1 << (quickBits - l - size)
				for v := range 1 << size {
					f := e | quickEntry(uint16(extend(int32(v), size)))<<16
					for j := range all[:n] {
						all[j] = f
					}
					all = all[n:]
				}
			}
			for j := range all {
				all[j] = e
			}
		}
	}
	for ; i < len(t.look); i++ {
		t.look[i] = stepRare << 8
	}
}

// rare decodes the symbol whose code is at the top of acc, where e is its entry,
// and gives the code's length. A bad code is 17 bits and the symbol 0.
func (t *quickTable) rare(acc uint64, e quickEntry) (symbol, length uint) {
	if l := uint(e & 63); l != 0 {
		return uint(e>>16) & 0xFF, l
	}
	l := uint(quickBits + 1)
	for l < 17 && int32(acc>>(64-l)) > t.huff.maxCode[l] {
		l++
	}
	if l > 16 {
		return 0, 17
	}
	return uint(t.huff.vals[(int32(acc>>(64-l))+t.huff.valOffset[l])&0xFF]), l
}

// quick is the state of the decoder of undisturbed data.
type quickState struct {
	on   bool
	off  bool   // never enter: for tests, which compare with the careful ways
	buf  []byte // data without stuffed zeros, then quickRoom bytes
	raw  int    // where in the file buf starts
	last int    // an MCU must start at buf[last] or before
	pos  int    // next byte of buf
	acc  uint64 // unread bits, at the top; below them there may be more of buf
	n    uint   // number of unread bits, less than 64
	tail int    // bits decoded since libjpeg would last have looked whether to fetch

	startBits int // what libjpeg had fetched and not read at buf[0]

	tried        int // the end of the data when last tried
	dcLook       [numTables]quickTable
	acLook       [numTables]quickTable
	dcCur, acCur [maxMCU]*quickTable
	buffer       []byte
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
		q.dcLook[c.dcTab].build(&d.dcTables[c.dcTab], &d.dcSpec[c.dcTab], true)
		q.acLook[c.acTab].build(&d.acTables[c.acTab], &d.acSpec[c.acTab], false)
	}
	for b := range d.blocksInMCU {
		c := d.scan[d.member[b]]
		q.dcCur[b], q.acCur[b] = &q.dcLook[c.dcTab], &q.acLook[c.acTab]
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
	q.buf = q.buffer[:n+quickRoom]
	clear(q.buf[n:])
	q.last = n - room
	if q.last < 0 {
		return false
	}
	q.raw, q.pos, q.startBits, q.tail = d.pos, 0, d.nbits, 0
	q.acc, q.n = 0, uint(d.nbits)
	if d.nbits > 0 {
		q.acc = d.acc << uint(64-d.nbits)
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
	used := q.startBits + q.pos*8 - int(q.n)
	fetched := q.startBits
	if at := used - q.tail + 17; at > fetched {
		fetched += (at - fetched + 47) / 48 * 48
	}
	n := (fetched - q.startBits) / 8
	d.nbits = fetched - used
	for i := max(n-8, 0); i < n; i++ {
		d.acc = d.acc<<8 | uint64(q.buf[i])
	}
	d.pos = q.raw + n + bytes.Count(q.buf[:n], ff) // each has a stuffed zero
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

// coefPlace gives the place in a block of the coefficient before the k'th in
// zigzag order.
var coefPlace [64]uint8

func init() {
	for k := range 63 {
		coefPlace[k+1] = naturalOrder[k]
	}
}

// decodeQuick decodes an MCU; false if there is too little data ahead.
func (d *Decoder) decodeQuick(blocks *[maxMCU]*[64]int16) bool {
	q := &d.quick
	buf, pos, acc, n := q.buf, q.pos, q.acc, q.n
	if pos > q.last {
		return false
	}
	tail := uint(0)
	for b := range d.blocksInMCU {
		blk, t, ac := blocks[b], q.dcCur[b], q.acCur[b]
		acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
		pos += int((63 - n) >> 3)
		n |= 56
		e := t.look[acc>>(64-quickBits)]
		diff := int32(e) >> 16
		l := uint(e & 63)
		if e>>8&stepRare != 0 {
			var s uint
			s, l = t.rare(acc, e)
			diff = 0
			if s != 0 {
				diff = extend(int32(acc<<(l&63)>>((64-s)&63)), int(s))
			}
			l += s
		}
		acc <<= l & 63
		n -= l
		m := d.member[b] & 3
		d.lastDC[m] += diff
		blk[0] = int16(d.lastDC[m])

		k := uint(1) // the next coefficient
		for {
			// 56 bits are enough for five look-ups.
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56

			e = ac.look[acc>>(64-quickBits)]
			if k += uint(e >> 8 & 0xFF); k > 63 {
				goto special
			}
			blk[coefPlace[k]&63] = int16(e >> 16)
			acc <<= e & 63
			n -= uint(e & 63)

			e = ac.look[acc>>(64-quickBits)]
			if k += uint(e >> 8 & 0xFF); k > 63 {
				goto special
			}
			blk[coefPlace[k]&63] = int16(e >> 16)
			acc <<= e & 63
			n -= uint(e & 63)

			e = ac.look[acc>>(64-quickBits)]
			if k += uint(e >> 8 & 0xFF); k > 63 {
				goto special
			}
			blk[coefPlace[k]&63] = int16(e >> 16)
			acc <<= e & 63
			n -= uint(e & 63)

			e = ac.look[acc>>(64-quickBits)]
			if k += uint(e >> 8 & 0xFF); k > 63 {
				goto special
			}
			blk[coefPlace[k]&63] = int16(e >> 16)
			acc <<= e & 63
			n -= uint(e & 63)
			continue

		special:
			step := uint(e >> 8 & 0xFF)
			if step == stepEnd {
				k -= stepEnd
				tail = uint(e & 63)
				acc <<= e & 63
				n -= uint(e & 63)
				break
			}
			if step < stepEnd {
				// The last coefficient, or (in corrupt data) one beyond.
				blk[naturalOrder[(k-1)&127]&63] = int16(e >> 16)
				tail = uint(bits.Len16(uint16(max(int16(e>>16), -int16(e>>16)))))
				acc <<= e & 63
				n -= uint(e & 63)
				break
			}
			k -= stepRare
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
			s, l := ac.rare(acc, e)
			acc <<= l & 63
			n -= l
			tail = l
			if s&15 == 0 {
				if s != 0xF0 {
					break
				}
				if k += 16; k > 63 {
					break
				}
				continue
			}
			k += s>>4 + 1
			s &= 15
			blk[naturalOrder[(k-1)&127]&63] = int16(extend(int32(acc>>((64-s)&63)), int(s)))
			acc <<= s
			n -= s
			tail = s
			if k > 63 {
				break
			}
		}
		d.lastK[b] = int(k - 1)
	}
	q.pos, q.acc, q.n, q.tail = pos, acc, n, int(tail)
	return true
}
