package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// coefBits says, for each component and coefficient (in zigzag order), how many
// low bits are still unknown: -1 if all. prev is the state before the last scan
// of the component.
type coefBits struct {
	cur, prev [maxComps][64]int
}

func (b *coefBits) reset(n int) {
	for i := range n {
		for k := range 64 {
			b.cur[i][k], b.prev[i][k] = -1, -1
		}
	}
}

// startProgression checks the scan's parameters and notes what it will make known.
func (d *Decoder) startProgression() error {
	bad := d.al > 13 || d.ah != 0 && d.al != d.ah-1
	if d.ss == 0 {
		bad = bad || d.se != 0
	} else {
		bad = bad || d.ss > d.se || d.se > 63 || d.nScan != 1
	}
	if bad {
		return d.errorf(codec.ErrFormat, "progressive scan of coefficients %d to %d, bits %d to %d, %d components", d.ss, d.se, d.ah, d.al, d.nScan)
	}
	for i := range d.nScan {
		ci := d.scan[i].index
		cur, prev := &d.bits.cur[ci], &d.bits.prev[ci]
		if d.ss != 0 && cur[0] < 0 {
			d.warn("AC coefficients before DC")
		}
		for k := min(d.ss, 1); k <= max(d.se, 9); k++ {
			prev[k] = 0
			if d.scans > 1 {
				prev[k] = cur[k]
			}
		}
		for k := d.ss; k <= d.se; k++ {
			if d.ah != max(cur[k], 0) {
				d.warn("progressive scans out of order")
			}
			cur[k] = d.al
		}
	}
	return nil
}

// coefStore holds the coefficients of files of several scans. A component's row
// of MCUs gets its memory when the first data for it is decoded.
type coefStore struct {
	slabs [][][64]int16
	free  [][64]int16
	total int // blocks in slabs
	want  int // blocks that the image may still take
	rows  [maxComps][][][64]int16
	last  [maxComps][]uint8 // of every block
}

func (s *coefStore) reset(d *Decoder) {
	// One slab for what took several the last time.
	if len(s.slabs) > 1 {
		s.slabs = append(s.slabs[:0], make([][64]int16, s.total))
		clear(s.slabs[1:cap(s.slabs)])
	}
	s.free = nil
	if len(s.slabs) > 0 {
		s.free = s.slabs[0]
	}
	s.want = 0
	for i := range d.comps {
		c := &d.comps[i]
		s.want += c.padW * c.padH
		s.rows[i] = grow(s.rows[i], d.iMCURows)
		clear(s.rows[i])
		s.last[i] = grow(s.last[i], c.padW*c.padH)
		clear(s.last[i])
		c.rows, c.last = s.rows[i], s.last[i]
	}
}

// alloc gives n blocks of zeros. Memory grows by doubling, but not beyond the image.
func (s *coefStore) alloc(n int) [][64]int16 {
	if len(s.free) < n {
		m := max(n, min(s.total, s.want))
		s.free = make([][64]int16, m)
		s.slabs = append(s.slabs, s.free)
		s.total += m
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	s.want -= n
	clear(b)
	return b
}

// touch gives the row of MCUs of c its memory.
func (d *Decoder) touch(c *component, row int) {
	if c.rows[row] == nil {
		c.rows[row] = d.store.alloc(c.padW * c.v)
	}
}

// consumeIMCURow decodes a row of MCUs of the current scan into storage.
func (d *Decoder) consumeIMCURow(row int) error {
	for y := range d.mcuRows(row) {
		consume := d.consumeProgressive
		if !d.progressive {
			consume = d.consumeSequential
		}
		if err := consume(row, y); err != nil {
			return err
		}
	}
	return d.err
}

// aimStore makes the y'th row of MCUs of row the targets.
func (d *Decoder) aimStore(row, y int) {
	b := 0
	for i := range d.nScan {
		c := d.scan[i]
		d.touch(c, row)
		for by := range c.mcuH {
			for bx := range c.mcuW {
				at := (y+by)*c.padW + bx
				d.to[b] = target{c.rows[row][at:], c.last[row*c.v*c.padW+at:], c.mcuW}
				b++
			}
		}
	}
}

// consumeSequential decodes the y'th row of MCUs of row, of a sequential file.
func (d *Decoder) consumeSequential(row, y int) error {
	if d.insufficient && d.restartInterval == 0 {
		return nil // what changes nothing needs no memory
	}
	d.aimStore(row, y)
	return d.decodeMCUs(0, d.mcusPerRow)
}

// consumeProgressive decodes the y'th row of MCUs of row, of a progressive file.
func (d *Decoder) consumeProgressive(row, y int) error {
	aimed := false
	for x := range d.mcusPerRow {
		if !d.insufficient {
			d.lastGoodRow = row
		}
		if !d.arithmetic {
			if d.restartInterval != 0 && d.restartsToGo == 0 {
				if err := d.restart(); err != nil {
					return err
				}
			}
			// What changes nothing needs no memory.
			switch {
			case d.insufficient:
				d.restartsToGo--
				continue
			case d.ss != 0 && d.ah == 0 && d.eobrun > 0:
				d.eobrun--
				d.restartsToGo--
				continue
			}
		} else if d.insufficient && d.restartInterval == 0 {
			continue
		}
		if !aimed {
			d.aimStore(row, y)
			aimed = true
		}
		d.aim(x)
		if err := d.progressiveMCU(x); err != nil {
			return err
		}
	}
	return nil
}

// progressiveMCU decodes MCU number x, which is aimed at.
func (d *Decoder) progressiveMCU(x int) error {
	if d.ss != 0 {
		d.blockLast = &d.to[0].last[x]
	}
	if d.arithmetic {
		if d.ss != 0 {
			*d.blockLast = 63
		}
		return d.decodeMCUArith(&d.blockPtrs)
	}
	d.restartsToGo--
	ok := false
	switch {
	case d.ss == 0 && d.ah == 0:
		return d.dcFirst()
	case d.ss == 0:
		ok = d.dcRefine()
	case d.ah == 0:
		ok = d.acFirst()
	default:
		ok = d.acRefine()
	}
	if !ok {
		return d.truncated()
	}
	return nil
}

// dcFirst decodes an MCU of a first DC scan.
func (d *Decoder) dcFirst() error {
	for b := range d.blocksInMCU {
		m := d.member[b] & 3
		s := d.symbol(&d.dcTables[d.scan[m].dcTab&3])
		if s < 0 {
			return d.truncated()
		}
		if s != 0 {
			r, ok := d.receive(s)
			if !ok {
				return d.truncated()
			}
			diff := extend(r, s)
			v := d.lastDC[m] + diff
			if (v > d.lastDC[m]) != (diff > 0) {
				return d.errorf(codec.ErrFormat, "DC coefficient out of range")
			}
			d.lastDC[m] = v
		}
		d.blockPtrs[b][0] = int16(d.lastDC[m] << d.al)
	}
	return nil
}

// dcRefine decodes an MCU of a DC refinement scan.
func (d *Decoder) dcRefine() bool {
	for b := range d.blocksInMCU {
		bit, ok := d.receive(1)
		if !ok {
			return false
		}
		d.blockPtrs[b][0] |= int16(bit << d.al)
	}
	return true
}

// acFirst decodes a block of a first AC scan that is not in an EOB run.
func (d *Decoder) acFirst() bool {
	blk, t := d.blockPtrs[0], &d.acTables[d.scan[0].acTab&3]
	for k := d.ss; k <= d.se; k++ {
		s := d.symbol(t)
		if s < 0 {
			return false
		}
		r := s >> 4
		s &= 15
		if s != 0 {
			k += r
			v, ok := d.receive(s)
			if !ok {
				return false
			}
			blk[naturalOrder[k]] = int16(extend(v, s) << d.al)
			*d.blockLast = max(*d.blockLast, uint8(k))
			continue
		}
		if r == 15 {
			k += 15
			continue
		}
		d.eobrun = 1<<r - 1
		if r != 0 {
			v, ok := d.receive(r)
			if !ok {
				return false
			}
			d.eobrun += int(v)
		}
		break
	}
	return true
}

// acRefine decodes a block of an AC refinement scan.
func (d *Decoder) acRefine() bool {
	blk, t := d.blockPtrs[0], &d.acTables[d.scan[0].acTab&3]
	p1 := int16(1) << d.al
	m1 := int16(-1) << d.al
	k := d.ss
	if d.eobrun == 0 {
	scan:
		for ; k <= d.se; k++ {
			s := d.symbol(t)
			if s < 0 {
				return false
			}
			r := s >> 4
			s &= 15
			v := int16(0)
			if s != 0 {
				if s != 1 {
					d.warn("a new coefficient of more than one bit in a refinement scan")
				}
				bit, ok := d.receive(1)
				if !ok {
					return false
				}
				v = m1
				if bit != 0 {
					v = p1
				}
			} else if r != 15 {
				d.eobrun = 1 << r
				if r != 0 {
					bits, ok := d.receive(r)
					if !ok {
						return false
					}
					d.eobrun += int(bits)
				}
				break scan
			}
			// Pass over r zeros, correcting the coefficients between them.
			for ; k <= d.se; k++ {
				p := &blk[naturalOrder[k]]
				if *p == 0 {
					if r--; r < 0 {
						break
					}
				} else if !d.correct(p, p1, m1) {
					return false
				}
			}
			if v != 0 {
				blk[naturalOrder[k]] = v
				*d.blockLast = max(*d.blockLast, uint8(k))
			}
		}
	}
	if d.eobrun > 0 {
		for ; k <= d.se; k++ {
			if p := &blk[naturalOrder[k]]; *p != 0 && !d.correct(p, p1, m1) {
				return false
			}
		}
		d.eobrun--
	}
	return true
}

// correct reads a correction bit for a coefficient.
func (d *Decoder) correct(p *int16, p1, m1 int16) bool {
	bit, ok := d.receive(1)
	if ok && bit != 0 && *p&p1 == 0 {
		if *p >= 0 {
			*p += p1
		} else {
			*p += m1
		}
	}
	return ok
}

// outputIMCURow turns a row of MCUs of stored coefficients into samples.
func (d *Decoder) outputIMCURow(row int, smooth bool) {
	for i := range d.comps {
		c := &d.comps[i]
		if !c.needed {
			continue
		}
		n := c.v
		if row == d.iMCURows-1 {
			if n = c.hBlocks % c.v; n == 0 {
				n = c.v
			}
		}
		if smooth {
			d.smoothRow(c, row, n)
			continue
		}
		coefs := c.rows[row]
		// The blocks that the region comes from.
		from, to := min(d.firstMCU*c.h, c.wBlocks), min(d.lastMCU*c.h, c.wBlocks)
		for y := range n {
			dst := c.blockRow(row*c.v + y)
			if coefs == nil {
				for j := range dst[:8*c.stride] {
					dst[j] = 128
				}
				continue
			}
			at := y*c.padW + from
			last := c.last[row*c.v*c.padW+at:]
			kernel.IDCTRow(dst[from*8:], c.stride, coefs[at:at+to-from], &c.quant, last[:to-from])
		}
	}
}
