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

// A quickEntry says what the next quickBits bits start with: one step, or two
// where both are in them. A step is a coefficient with the zeros before it, or
// the end of the block.
//
//	bits 0-5    the length of all
//	bits 8-15   how far the first step goes in the block: 1 to 16; 0 if it is the
//	            end; or stepRare
//	bits 16-31  the first value
//	bits 32-39  how far the second goes: 1 to 16, stepEnd, or 0 if there is none
//	bits 40-45  the length of the first
//	bit  46     set if the last step is the end of the block
//	bits 48-63  the second value; the first one if there is no second; with the
//	            end, 0 or -1 according to whether there is a first
//
// A table for DC has the first value's difference in bits 16-31, and a step of 1.
type quickEntry uint64

const (
	// stepEnd goes beyond any block.
	stepEnd = 64
	// stepRare is all else: ZRL, and what the bits do not hold to its end. Bits
	// 0-5 are then the length of the code and bits 16-23 its symbol, both 0 if the
	// code itself is longer than quickBits.
	stepRare = 128

	quickEnds = 1 << 46
)

func (e quickEntry) length() uint { return uint(e & 63) }
func (e quickEntry) step() uint   { return uint(e >> 8 & 0xFF) }

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
			var e quickEntry
			switch {
			case size == 0 && dc:
				e = quickEntry(l) | 1<<8
			case size == 0 && run != 15:
				e = quickEntry(l) | stepEnd<<32 | quickEnds | 0xFFFF<<48
			case size == 0 || l+size > quickBits:
				e = quickEntry(l) | stepRare<<8 | quickEntry(sym)<<16
			default:
				e = quickEntry(l+size)<<40 | quickEntry(l+size) | quickEntry(run+1)<<8
				n := 1 << (quickBits - l - size)
				for v := range 1 << size {
					x := quickEntry(uint16(extend(int32(v), size)))
					f := e | x<<16 | x<<48
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
	if !dc {
		t.pair()
	}
}

// pair adds second steps: what the bits after the first one start with, if it is
// no longer than they are.
func (t *quickTable) pair() {
	for i, e := range t.look {
		if s := e.step(); s == 0 || s >= stepRare {
			continue
		}
		l := e.length()
		f := t.look[i<<l&(1<<quickBits-1)]
		fl, fs := f.length(), f.step()
		if g := uint(f >> 40 & 63); g != 0 {
			fl = g // its first step alone
		}
		if l+fl > quickBits || fs >= stepRare || fl == 0 {
			continue
		}
		e = e&^(0xFFFF<<48|0x3F) | quickEntry(l+fl)
		if fs == 0 {
			e |= stepEnd<<32 | quickEnds
		} else {
			e |= quickEntry(fs)<<32 | f>>16&0xFFFF<<48
		}
		t.look[i] = e
	}
}

// rare decodes the symbol whose code is at the top of acc, where e is its entry,
// and gives the code's length. A bad code is 17 bits and the symbol 0.
func (t *quickTable) rare(acc uint64, e quickEntry) (symbol, length uint) {
	if l := e.length(); l != 0 {
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

// quickMCUs decodes MCUs from number x to end (not included) and gives the number
// of the next: less than end if there is too little data ahead.
func (d *Decoder) quickMCUs(x, end int) int {
	q := &d.quick
	buf, pos, acc, n := q.buf, q.pos, q.acc, q.n
	tail := uint(0)
	if x == end || pos > q.last {
		return x
	}
	for ; x < end && pos <= q.last; x++ {
		for b := range d.blocksInMCU {
			to := &d.to[b]
			i := x * to.step
			blk := &to.blocks[i]
			t, ac := q.dcCur[b], q.acCur[b]
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
			e := t.look[acc>>(64-quickBits)]
			diff := int32(int16(e >> 16))
			l := e.length()
			if e.step() >= stepRare {
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
				k1 := k + uint(e>>8&0xFF)
				k2 := k1 + uint(e>>32&0xFF)
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[k1&63]&63] = int16(e >> 16)
				blk[coefPlace[k2]&63] = int16(e >> 48)
				k = k2
				acc <<= e & 63
				n -= uint(e & 63)

				e = ac.look[acc>>(64-quickBits)]
				k1 = k + uint(e>>8&0xFF)
				k2 = k1 + uint(e>>32&0xFF)
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[k1&63]&63] = int16(e >> 16)
				blk[coefPlace[k2]&63] = int16(e >> 48)
				k = k2
				acc <<= e & 63
				n -= uint(e & 63)

				e = ac.look[acc>>(64-quickBits)]
				k1 = k + uint(e>>8&0xFF)
				k2 = k1 + uint(e>>32&0xFF)
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[k1&63]&63] = int16(e >> 16)
				blk[coefPlace[k2]&63] = int16(e >> 48)
				k = k2
				acc <<= e & 63
				n -= uint(e & 63)

				e = ac.look[acc>>(64-quickBits)]
				k1 = k + uint(e>>8&0xFF)
				k2 = k1 + uint(e>>32&0xFF)
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[k1&63]&63] = int16(e >> 16)
				blk[coefPlace[k2]&63] = int16(e >> 48)
				k = k2
				acc <<= e & 63
				n -= uint(e & 63)
				continue

			special:
				if e&quickEnds != 0 && k1 <= 63 {
					p := &blk[coefPlace[k1]&63]
					*p = *p&int16(e>>48) | int16(e>>16)
					k = k1
					acc <<= e & 63
					n -= uint(e & 63)
					tail = uint(e&63) - uint(e>>40&63)
					break
				}
				if e.step() < stepRare {
					// The last coefficient, or (in corrupt data) one beyond: the first
					// of the entry or its second.
					v, l := int16(e>>16), uint(e>>40&63)
					blk[naturalOrder[(k1-1)&127]&63] = v
					if k = k1; k1 <= 63 {
						v, l = int16(e>>48), e.length()
						blk[naturalOrder[(k2-1)&127]&63] = v
						k = k2
					}
					tail = uint(bits.Len16(uint16(max(v, -v))))
					acc <<= l & 63
					n -= l
					break
				}
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
			to.last[i] = uint8(k - 1)
		}
	}
	q.pos, q.acc, q.n, q.tail = pos, acc, n, int(tail)
	return x
}
