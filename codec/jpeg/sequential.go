package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// fastBytes is the most bytes that one block can take: libjpeg's BUFSIZE.
const fastBytes = 64 * 8

// A target is the destination of the coefficients of one block of each MCU.
type target struct {
	blocks [][64]int16 // the row of blocks from MCU number 0 on
	last   []uint8     // upper bound of the zigzag index of each block's last coefficient
	masks  []uint64    // in progressive files, in place of last: see stored
	step   int         // blocks from one MCU to the next
}

// aim sets blockPtrs to the blocks of MCU number x.
func (e *entropy) aim(x int) {
	for b := range e.head.blocksInMCU {
		t := &e.to[b]
		e.blockPtrs[b] = &t.blocks[x*t.step]
	}
}

// decodeMCUs decodes MCUs from number x to end, exclusive, of a sequential scan
// into the targets, which are zero.
func (e *entropy) decodeMCUs(x, end int) error {
	h := e.head
	for x < end {
		if h.arithmetic {
			e.aim(x)
			if err := e.decodeMCUArith(&e.blockPtrs); err != nil {
				return err
			}
			e.noteLast(x)
			x++
			continue
		}
		if h.restartInterval != 0 && e.restartsToGo == 0 {
			e.leaveQuick()
			if err := e.restart(); err != nil {
				return err
			}
		}
		if e.quick.on || e.enterQuick() {
			stop := end
			if h.restartInterval != 0 {
				stop = min(end, x+e.restartsToGo)
			}
			next := e.quickMCUs(x, stop)
			e.restartsToGo -= next - x
			if x = next; x == stop {
				continue
			}
			e.leaveQuick()
		}
		e.aim(x)
		if err := e.decodeMCU(&e.blockPtrs); err != nil {
			return err
		}
		e.noteLast(x)
		x++
	}
	return nil
}

// noteLast records the last coefficients of MCU number x's blocks.
func (e *entropy) noteLast(x int) {
	for b := range e.head.blocksInMCU {
		t := &e.to[b]
		t.last[x*t.step] = uint8(e.lastK[b])
		e.lastK[b] = 0
	}
}

// decodeMCU decodes an MCU of a sequential Huffman scan into blocks, which are
// zero.
func (e *entropy) decodeMCU(blocks *[maxMCU]*[64]int16) error {
	h := e.head
	for !e.bits.insufficient {
		// libjpeg decodes without checks if enough data and no restart interval
		// is present. bitreader.go explains why this decoder must do so in the
		// same places. Only the slow way reports warnings, which the other
		// modes need.
		fast := !e.in.warns() && h.restartInterval == 0 &&
			e.in.marker == 0 && e.in.end-e.in.pos >= fastBytes*h.blocksInMCU
		if fast && e.decodeFast(blocks) {
			break
		}
		if ok, again := e.trySlow(blocks); !ok {
			if again {
				continue
			}
			return e.in.truncated()
		}
		if fast {
			// The values that the first attempt stored stay, as in libjpeg.
			for b := range h.blocksInMCU {
				e.lastK[b] = 63
			}
		}
		break
	}
	e.restartsToGo--
	return nil
}

// trySlow runs decodeSlow. If the reference's chunk of the file ends, it adds
// the next chunk and restores the MCU's start, and again is true.
func (e *entropy) trySlow(blocks *[maxMCU]*[64]int16) (ok, again bool) {
	h := e.head
	if e.in.end == len(e.in.data) || e.in.damage == codec.DamageImread {
		return e.decodeSlow(blocks), false
	}
	acc, nbits, pos, last := e.bits.acc, e.bits.nbits, e.in.pos, e.lastDC
	e.in.hold = true
	ok = e.decodeSlow(blocks)
	e.in.hold = false
	if ok {
		return true, false
	}
	e.bits.acc, e.bits.nbits, e.in.pos, e.lastDC = acc, nbits, pos, last
	e.in.end = min(e.in.end+chunk, len(e.in.data))
	if !h.multiScan {
		for b := range h.blocksInMCU {
			*blocks[b] = [64]int16{}
		}
	}
	return false, true
}

// decodeFast decodes an MCU. At a marker it returns false and changes nothing
// but blocks.
func (e *entropy) decodeFast(blocks *[maxMCU]*[64]int16) bool {
	data, pos, acc, n := e.in.data, e.in.pos, e.bits.acc, uint(e.bits.nbits)
	last := e.lastDC
	hit, h := false, false
	for b := range e.head.blocksInMCU {
		blk, ac := blocks[b], e.acCur[b]
		if n <= 16 {
			acc, pos, h = fill48(data, pos, acc)
			n += 48
			hit = hit || h
		}
		var s int32
		{
			t := e.dcCur[b]
			e := t.look[uint8(acc>>((n-lookBits)&63))]
			n -= uint(e >> 8)
			s = int32(e & 0xFF)
			if e >= 9<<8 {
				s, n = longCode(t, acc, n)
			}
		}
		if s != 0 {
			if n <= 16 {
				acc, pos, h = fill48(data, pos, acc)
				n += 48
				hit = hit || h
			}
			n -= uint(s)
			s = extend(int32(acc>>(n&63))&(1<<s-1), int(s))
		}
		m := e.head.member[b] & 3
		if e.head.scan[m].needed {
			last[m] += s
			blk[0] = int16(last[m])
		}
		k, lastK := uint(1), uint(0)
		for k < 64 {
			if n <= 16 {
				acc, pos, h = fill48(data, pos, acc)
				n += 48
				hit = hit || h
			}
			e := uint(ac.look[uint8(acc>>((n-lookBits)&63))])
			n -= e >> 8
			if e >= 9<<8 {
				var s int32
				s, n = longCode(ac, acc, n)
				e = uint(s)
			}
			k += e >> 4 & 15
			s := e & 15
			if s == 0 {
				if e&0xF0 != 0xF0 {
					break
				}
				k++
				continue
			}
			if n <= 16 {
				acc, pos, h = fill48(data, pos, acc)
				n += 48
				hit = hit || h
			}
			n -= s
			v := int32(acc>>(n&63)) & (1<<(s&31) - 1)
			// T.81's EXTEND: a first bit of 0 means negative.
			v -= (v>>((s-1)&31) - 1) & (1<<(s&31) - 1)
			blk[kernel.NaturalOrder[k&127]&63] = int16(v)
			lastK = k
			k++
		}
		e.lastK[b] = int(lastK)
	}
	if hit {
		return false
	}
	e.in.pos, e.bits.acc, e.bits.nbits, e.lastDC = pos, acc, int(n), last
	return true
}

// longCode decodes the rest of a code of more than 8 bits, after its first 9
// bits.
func longCode(t *huffTable, acc uint64, n uint) (int32, uint) {
	l := 9
	code := int32(acc>>(n&63)) & (1<<9 - 1)
	for code > t.maxCode[l] {
		n--
		code = code<<1 | int32(acc>>(n&63))&1
		l++
	}
	if l > 16 {
		return 0, n // an invalid code
	}
	return int32(t.vals[(code+t.valOffset[l])&0xFF]), n
}

// decodeSlow decodes an MCU, with checks for markers and the end of the data.
func (e *entropy) decodeSlow(blocks *[maxMCU]*[64]int16) bool {
	h, bits := e.head, &e.bits
	for b := range h.blocksInMCU {
		blk, ac := blocks[b], e.acCur[b]
		s := bits.symbol(e.dcCur[b])
		if s < 0 {
			return false
		}
		diff := int32(0)
		if s != 0 {
			r, ok := bits.receive(s)
			if !ok {
				return false
			}
			diff = extend(r, s)
		}
		m := h.member[b] & 3
		if h.scan[m].needed {
			e.lastDC[m] += diff
			blk[0] = int16(e.lastDC[m])
		}
		lastK := 0
		for k := 1; k < 64; k++ {
			s := bits.symbol(ac)
			if s < 0 {
				return false
			}
			r := s >> 4
			s &= 15
			if s == 0 {
				if r != 15 {
					break
				}
				k += 15
				continue
			}
			k += r
			v, ok := bits.receive(s)
			if !ok {
				return false
			}
			blk[kernel.NaturalOrder[k]] = int16(extend(v, s))
			lastK = k
		}
		e.lastK[b] = lastK
	}
	return true
}

// segment is the number of blocks that are decoded before they become samples.
// Their coefficients take 24 KiB. 64 and 96 blocks are a few per cent slower:
// the tables and the inverse DCT replace each other in the L1 cache more often.
const segment = 192

// allocSegment allocates the targets of a single scan, as long as a segment.
func (e *entropy) allocSegment() {
	h := e.head
	e.segMCUs = min(max(1, segment/h.blocksInMCU), h.mcusPerRow)
	e.segBlocks = grow(e.segBlocks, e.segMCUs*h.blocksInMCU)
	e.segLast = grow(e.segLast, len(e.segBlocks))
	clear(e.segBlocks)
	clear(e.segLast)
	h.layout(&e.to, e.segBlocks, e.segLast, e.segMCUs)
}

// layout sets the targets of n MCUs: a row of blocks for each row of an MCU,
// one after the other.
func (h *header) layout(to *[maxMCU]target, blocks [][64]int16, last []uint8, n int) {
	b, at := 0, 0
	for _, c := range h.scan[:h.nScan] {
		for range c.mcuH {
			end := at + n*c.mcuW
			for x := range c.mcuW {
				to[b] = target{blocks: blocks[at+x : end], last: last[at+x : end], step: c.mcuW}
				b++
			}
			at = end
		}
	}
}

// decodeRow decodes a row of MCUs of a single-scan file and converts it to
// samples.
func (d *decoder) decodeRow(row int) error {
	e, h := &d.ent, &d.head
	if h.lossless {
		return d.losslessRow(row)
	}
	wanted := row >= d.out.firstRow && row < d.out.lastRow
	first, last := d.wantedMCUs()
	for y := range h.mcuRows(row) {
		for x := 0; x < h.mcusPerRow; {
			if parallel && len(e.runs) > 0 {
				x += d.decodeRun(row, y, x, wanted)
				continue
			}
			n := min(e.segMCUs, h.mcusPerRow-x)
			if x < first {
				n = min(n, first-x)
			} else if x < last {
				n = min(n, last-x)
			}
			if err := d.decodeSegment(row, y, x, n, wanted && x >= first && x < last); err != nil {
				return err
			}
			x += n
		}
	}
	return d.in.err
}

// wantedMCUs returns the columns of the scan's MCUs that contribute to the
// region's pixels.
func (d *decoder) wantedMCUs() (first, last int) {
	first, last = d.out.firstMCU, d.out.lastMCU
	if h := &d.head; h.nScan == 1 { // an MCU is a block
		first, last = first*h.scan[0].h, last*h.scan[0].h
	}
	return first, last
}

// decodeSegment decodes n MCUs, which are those from column x on of row y of
// row's MCUs, and converts wanted ones to samples.
func (d *decoder) decodeSegment(row, y, x, n int, wanted bool) error {
	e := &d.ent
	if err := e.decodeMCUs(0, n); err != nil {
		return err
	}
	if wanted {
		d.out.transform(&e.to, row, y, x, n)
	}
	clear(e.segBlocks)
	clear(e.segLast)
	return nil
}
