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
func (d *decoder) aim(x int) {
	for b := range d.blocksInMCU {
		t := &d.to[b]
		d.blockPtrs[b] = &t.blocks[x*t.step]
	}
}

// decodeMCUs decodes MCUs from number x to end, exclusive, of a sequential scan
// into the targets, which are zero.
func (d *decoder) decodeMCUs(x, end int) error {
	for x < end {
		if d.arithmetic {
			d.aim(x)
			if err := d.decodeMCUArith(&d.blockPtrs); err != nil {
				return err
			}
			d.noteLast(x)
			x++
			continue
		}
		if d.restartInterval != 0 && d.restartsToGo == 0 {
			d.leaveQuick()
			if err := d.restart(); err != nil {
				return err
			}
		}
		if d.quick.on || d.enterQuick() {
			stop := end
			if d.restartInterval != 0 {
				stop = min(end, x+d.restartsToGo)
			}
			next := d.quickMCUs(x, stop)
			d.restartsToGo -= next - x
			if x = next; x == stop {
				continue
			}
			d.leaveQuick()
		}
		d.aim(x)
		if err := d.decodeMCU(&d.blockPtrs); err != nil {
			return err
		}
		d.noteLast(x)
		x++
	}
	return nil
}

// noteLast records the last coefficients of MCU number x's blocks.
func (d *decoder) noteLast(x int) {
	for b := range d.blocksInMCU {
		t := &d.to[b]
		t.last[x*t.step] = uint8(d.lastK[b])
		d.lastK[b] = 0
	}
}

// decodeMCU decodes an MCU of a sequential Huffman scan into blocks, which are
// zero.
func (d *decoder) decodeMCU(blocks *[maxMCU]*[64]int16) error {
	for !d.insufficient {
		// libjpeg decodes without checks if enough data and no restart interval
		// is present. bitreader.go explains why this decoder must do so in the
		// same places. Only the slow way reports warnings, which the other
		// modes need.
		fast := !d.warns() && d.restartInterval == 0 &&
			d.marker == 0 && d.end-d.pos >= fastBytes*d.blocksInMCU
		if fast && d.decodeFast(blocks) {
			break
		}
		if ok, again := d.trySlow(blocks); !ok {
			if again {
				continue
			}
			return d.truncated()
		}
		if fast {
			// The values that the first attempt stored stay, as in libjpeg.
			for b := range d.blocksInMCU {
				d.lastK[b] = 63
			}
		}
		break
	}
	d.restartsToGo--
	return nil
}

// trySlow runs decodeSlow. If the reference's chunk of the file ends, it adds
// the next chunk and restores the MCU's start, and again is true.
func (d *decoder) trySlow(blocks *[maxMCU]*[64]int16) (ok, again bool) {
	if d.end == len(d.data) || d.damage == codec.DamageImread {
		return d.decodeSlow(blocks), false
	}
	acc, nbits, pos, last := d.acc, d.nbits, d.pos, d.lastDC
	d.hold = true
	ok = d.decodeSlow(blocks)
	d.hold = false
	if ok {
		return true, false
	}
	d.acc, d.nbits, d.pos, d.lastDC = acc, nbits, pos, last
	d.end = min(d.end+chunk, len(d.data))
	if !d.multiScan {
		for b := range d.blocksInMCU {
			*blocks[b] = [64]int16{}
		}
	}
	return false, true
}

// decodeFast decodes an MCU. At a marker it returns false and changes nothing
// but blocks.
func (d *decoder) decodeFast(blocks *[maxMCU]*[64]int16) bool {
	data, pos, acc, n := d.data, d.pos, d.acc, uint(d.nbits)
	last := d.lastDC
	hit, h := false, false
	for b := range d.blocksInMCU {
		blk, ac := blocks[b], d.acCur[b]
		if n <= 16 {
			acc, pos, h = fill48(data, pos, acc)
			n += 48
			hit = hit || h
		}
		var s int32
		{
			t := d.dcCur[b]
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
		m := d.member[b] & 3
		if d.scan[m].needed {
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
		d.lastK[b] = int(lastK)
	}
	if hit {
		return false
	}
	d.pos, d.acc, d.nbits, d.lastDC = pos, acc, int(n), last
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
func (d *decoder) decodeSlow(blocks *[maxMCU]*[64]int16) bool {
	for b := range d.blocksInMCU {
		blk, ac := blocks[b], d.acCur[b]
		s := d.symbol(d.dcCur[b])
		if s < 0 {
			return false
		}
		diff := int32(0)
		if s != 0 {
			r, ok := d.receive(s)
			if !ok {
				return false
			}
			diff = extend(r, s)
		}
		m := d.member[b] & 3
		if d.scan[m].needed {
			d.lastDC[m] += diff
			blk[0] = int16(d.lastDC[m])
		}
		lastK := 0
		for k := 1; k < 64; k++ {
			s := d.symbol(ac)
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
			v, ok := d.receive(s)
			if !ok {
				return false
			}
			blk[kernel.NaturalOrder[k]] = int16(extend(v, s))
			lastK = k
		}
		d.lastK[b] = lastK
	}
	return true
}

// segment is the number of blocks that are decoded before they become samples.
// Their coefficients take 32 KiB and stay in the L1 cache.
const segment = 64

// allocSegment allocates the targets of a single scan: a row of blocks for each
// row of an MCU, as long as a segment.
func (d *decoder) allocSegment() {
	d.segMCUs = min(max(1, segment/d.blocksInMCU), d.mcusPerRow)
	d.segBlocks = grow(d.segBlocks, d.segMCUs*d.blocksInMCU)
	d.segLast = grow(d.segLast, len(d.segBlocks))
	clear(d.segBlocks)
	clear(d.segLast)
	b, at := 0, 0
	for i := range d.nScan {
		c := d.scan[i]
		for range c.mcuH {
			n := d.segMCUs * c.mcuW
			for x := range c.mcuW {
				d.to[b] = target{blocks: d.segBlocks[at+x : at+n], last: d.segLast[at+x : at+n], step: c.mcuW}
				b++
			}
			at += n
		}
	}
}

// decodeIMCURow decodes a row of MCUs of a single-scan file and converts it to
// samples.
func (d *decoder) decodeIMCURow(row int) error {
	wanted := row >= d.firstRow && row < d.lastRow
	first, last := d.firstMCU, d.lastMCU
	if d.nScan == 1 { // an MCU is a block
		first, last = first*d.scan[0].h, last*d.scan[0].h
	}
	for y := range d.mcuRows(row) {
		for x := 0; x < d.mcusPerRow; {
			n := min(d.segMCUs, d.mcusPerRow-x)
			if x < first {
				n = min(n, first-x)
			} else if x < last {
				n = min(n, last-x)
			}
			if err := d.decodeMCUs(0, n); err != nil {
				return err
			}
			if wanted && x >= first && x < last {
				d.transform(row, y, x, n)
			}
			clear(d.segBlocks)
			clear(d.segLast)
			x += n
		}
	}
	return d.err
}

// transform computes the samples of a segment: n MCUs from column x on of row y
// of row's MCUs. It drops blocks outside the image.
func (d *decoder) transform(row, y, x, n int) {
	b := 0
	for i := range d.nScan {
		c := d.scan[i]
		if !c.needed {
			b += c.mcuW * c.mcuH
			continue
		}
		for by := range c.mcuH {
			if row == d.iMCURows-1 && y+by >= c.lastRowH {
				b += c.mcuW
				continue
			}
			at := x * c.mcuW
			k := min(n*c.mcuW, c.wBlocks-at)
			t := &d.to[b]
			c.transform(row*c.v+y+by, at, t.blocks[:k], t.last[:k])
			b += c.mcuW
		}
	}
}

// transform computes the samples of blocks, the first of which is block at of
// row y.
func (c *component) transform(y, at int, blocks [][64]int16, last []uint8) {
	dst := c.blockRow(y)[at*c.samples:]
	switch c.samples {
	case 8:
		kernel.IDCTRow(dst, c.stride, blocks, &c.quant, last)
	case 4:
		kernel.IDCTRow4(dst, c.stride, blocks, &c.quant, last)
	case 2:
		kernel.IDCTRow2(dst, c.stride, blocks, &c.quant, last)
	default:
		kernel.IDCTRow1(dst, c.stride, blocks, &c.quant, last)
	}
}
