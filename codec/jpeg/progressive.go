package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// startProgression checks the scan's parameters and records the bits that it
// will define.
func (e *entropy) startProgression() error {
	bad := e.head.al > 13 || e.head.ah != 0 && e.head.al != e.head.ah-1
	if e.head.ss == 0 {
		bad = bad || e.head.se != 0
	} else {
		bad = bad || e.head.ss > e.head.se || e.head.se > 63 || e.head.nScan != 1
	}
	if bad {
		return e.in.errorf(codec.ErrFormat, "progressive scan of coefficients %d to %d, bits %d to %d, %d components", e.head.ss, e.head.se, e.head.ah, e.head.al, e.head.nScan)
	}
	for i := range e.head.nScan {
		ci := e.head.scan[i].index
		cur, prev := &e.coefs.known.cur[ci], &e.coefs.known.prev[ci]
		if e.head.ss != 0 && cur[0] < 0 {
			e.in.warn("AC coefficients before DC")
		}
		for k := min(e.head.ss, 1); k <= max(e.head.se, 9); k++ {
			prev[k] = 0
			if e.head.scans > 1 {
				prev[k] = cur[k]
			}
		}
		for k := e.head.ss; k <= e.head.se; k++ {
			if e.head.ah != max(cur[k], 0) {
				e.in.warn("progressive scans out of order")
			}
			cur[k] = e.head.al
		}
	}
	return nil
}

// consumeIMCURow decodes a row of MCUs of the current scan into the storage.
func (e *entropy) consumeIMCURow(row int) error {
	for y := range e.head.mcuRows(row) {
		consume := e.consumeProgressive
		if !e.head.progressive {
			consume = e.consumeSequential
		}
		if err := consume(row, y); err != nil {
			return err
		}
	}
	return e.in.err
}

// aimStore makes the stored row y of row's MCUs the target, and reports whether
// an earlier scan stored data there.
func (e *entropy) aimStore(row, y int) (again bool) {
	b := 0
	for i := range e.head.nScan {
		c := e.head.scan[i]
		again = e.coefs.touch(c, row) || again
		r := &e.coefs.rows[c.index][row]
		for by := range c.mcuH {
			for bx := range c.mcuW {
				at := (y+by)*c.padW + bx
				e.to[b] = target{blocks: r.blocks[at:], step: c.mcuW}
				if e.head.progressive {
					e.to[b].masks = r.masks[at:]
				} else {
					e.to[b].last = r.last[at:]
				}
				b++
			}
		}
	}
	return again
}

// consumeSequential decodes row y of row's MCUs in a sequential file.
func (e *entropy) consumeSequential(row, y int) error {
	if e.bits.insufficient && e.head.restartInterval == 0 {
		return nil // no change, so no memory is needed
	}
	if e.aimStore(row, y) && y == 0 {
		// Values of an earlier scan of the component stay where this scan has
		// zeros.
		for i := range e.head.nScan {
			e.coefs.rows[e.head.scan[i].index][row].again = true
		}
	}
	return e.decodeMCUs(0, e.head.mcusPerRow)
}

// consumeProgressive decodes row y of row's MCUs in a progressive file.
func (e *entropy) consumeProgressive(row, y int) error {
	aimed := false
	for x := 0; x < e.head.mcusPerRow; {
		if !e.bits.insufficient {
			e.coefs.lastGoodRow = row
		}
		end := e.head.mcusPerRow
		if !e.head.arithmetic {
			if e.head.restartInterval != 0 {
				if e.restartsToGo == 0 {
					e.leaveQuick()
					if err := e.restart(); err != nil {
						return err
					}
				}
				end = min(end, x+e.restartsToGo)
			}
			// Data that changes nothing needs no memory.
			n := 0
			switch {
			case e.bits.insufficient:
				n = end - x
			case e.head.ss != 0 && e.head.ah == 0 && e.eobrun > 0:
				n = min(end-x, e.eobrun)
				e.eobrun -= n
			}
			if n > 0 {
				e.restartsToGo -= n
				x += n
				continue
			}
		} else if e.bits.insufficient && e.head.restartInterval == 0 {
			return nil
		}
		if !aimed {
			e.aimStore(row, y)
			aimed = true
		}
		if !e.head.arithmetic && (e.quick.on || e.enterQuick()) {
			next, err := e.quickProgressive(x, end)
			e.restartsToGo -= next - x
			if err != nil {
				return err
			}
			if next > x {
				x = next
				continue
			}
			e.leaveQuick()
		}
		e.aim(x)
		if err := e.progressiveMCU(x); err != nil {
			return err
		}
		x++
	}
	return nil
}

// progressiveMCU decodes MCU number x into the targets.
func (e *entropy) progressiveMCU(x int) error {
	if e.head.ss != 0 {
		e.mask = &e.to[0].masks[x]
	}
	if e.head.arithmetic {
		if e.head.ss != 0 {
			*e.mask = 1 << 63 // any coefficient may be nonzero
		}
		return e.decodeMCUArith(&e.blockPtrs)
	}
	e.restartsToGo--
	ok := false
	switch {
	case e.head.ss == 0 && e.head.ah == 0:
		return e.dcFirst()
	case e.head.ss == 0:
		ok = e.dcRefine()
	case e.head.ah == 0:
		ok = e.acFirst()
	default:
		ok = e.acRefine()
	}
	if !ok {
		return e.in.truncated()
	}
	return nil
}

// dcFirst decodes an MCU of a first DC scan.
func (e *entropy) dcFirst() error {
	for b := range e.head.blocksInMCU {
		m := e.head.member[b] & 3
		s := e.bits.symbol(&e.dcTables[e.head.scan[m].dcTab&3])
		if s < 0 {
			return e.in.truncated()
		}
		if s != 0 {
			r, ok := e.bits.receive(s)
			if !ok {
				return e.in.truncated()
			}
			diff := extend(r, s)
			v := e.lastDC[m] + diff
			if (v > e.lastDC[m]) != (diff > 0) {
				return e.in.errorf(codec.ErrFormat, "DC coefficient out of range")
			}
			e.lastDC[m] = v
		}
		e.blockPtrs[b][0] = int16(e.lastDC[m] << e.head.al)
	}
	return nil
}

// dcRefine decodes an MCU of a DC refinement scan.
func (e *entropy) dcRefine() bool {
	for b := range e.head.blocksInMCU {
		bit, ok := e.bits.receive(1)
		if !ok {
			return false
		}
		e.blockPtrs[b][0] |= int16(bit << e.head.al)
	}
	return true
}

// put stores a coefficient that was 0. Corrupt data may exceed the block's end;
// such coefficients go to the last place.
func (e *entropy) put(k int, v int16) {
	e.blockPtrs[0][kernel.NaturalOrder[k]] = v
	if v != 0 { // a value may be 0 in 16 bits
		*e.mask |= 1 << min(k, 63)
	}
}

// acFirst decodes a block of a first AC scan outside an EOB run.
func (e *entropy) acFirst() bool {
	t := &e.acTables[e.head.scan[0].acTab&3]
	for k := e.head.ss; k <= e.head.se; k++ {
		s := e.bits.symbol(t)
		if s < 0 {
			return false
		}
		r := s >> 4
		s &= 15
		if s != 0 {
			k += r
			v, ok := e.bits.receive(s)
			if !ok {
				return false
			}
			e.put(k, int16(extend(v, s)<<e.head.al))
			continue
		}
		if r == 15 {
			k += 15
			continue
		}
		e.eobrun = 1<<r - 1
		if r != 0 {
			v, ok := e.bits.receive(r)
			if !ok {
				return false
			}
			e.eobrun += int(v)
		}
		break
	}
	return true
}

// acRefine decodes a block of an AC refinement scan.
func (e *entropy) acRefine() bool {
	blk, t := e.blockPtrs[0], &e.acTables[e.head.scan[0].acTab&3]
	p1 := int16(1) << e.head.al
	m1 := int16(-1) << e.head.al
	k := e.head.ss
	if e.eobrun == 0 {
	scan:
		for ; k <= e.head.se; k++ {
			s := e.bits.symbol(t)
			if s < 0 {
				return false
			}
			r := s >> 4
			s &= 15
			v := int16(0)
			if s != 0 {
				if s != 1 {
					e.in.warn("a new coefficient of more than one bit in a refinement scan")
				}
				bit, ok := e.bits.receive(1)
				if !ok {
					return false
				}
				v = m1
				if bit != 0 {
					v = p1
				}
			} else if r != 15 {
				e.eobrun = 1 << r
				if r != 0 {
					bits, ok := e.bits.receive(r)
					if !ok {
						return false
					}
					e.eobrun += int(bits)
				}
				break scan
			}
			// Skip r zeros and correct the coefficients between them.
			for ; k <= e.head.se; k++ {
				p := &blk[kernel.NaturalOrder[k]]
				if *p == 0 {
					if r--; r < 0 {
						break
					}
				} else if !e.correct(p, p1, m1) {
					return false
				}
			}
			if v != 0 {
				e.put(k, v)
			}
		}
	}
	if e.eobrun > 0 {
		for ; k <= e.head.se; k++ {
			if p := &blk[kernel.NaturalOrder[k]]; *p != 0 && !e.correct(p, p1, m1) {
				return false
			}
		}
		e.eobrun--
	}
	return true
}

// correct reads a correction bit for a coefficient.
func (e *entropy) correct(p *int16, p1, m1 int16) bool {
	bit, ok := e.bits.receive(1)
	if ok && bit != 0 && *p&p1 == 0 {
		if *p >= 0 {
			*p += p1
		} else {
			*p += m1
		}
	}
	return ok
}
