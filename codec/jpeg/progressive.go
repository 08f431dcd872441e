package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// startProgression checks the scan's parameters and records the bits that it
// will define.
func (e *entropy) startProgression() error {
	h := e.head
	bad := h.al > 13 || h.ah != 0 && h.al != h.ah-1
	if h.ss == 0 {
		bad = bad || h.se != 0
	} else {
		bad = bad || h.ss > h.se || h.se > 63 || h.nScan != 1
	}
	if bad {
		return e.in.errorf(codec.ErrFormat, "progressive scan of coefficients %d to %d, bits %d to %d, %d components", h.ss, h.se, h.ah, h.al, h.nScan)
	}
	for i := range h.nScan {
		ci := h.scan[i].index
		cur, prev := &e.coefs.known.cur[ci], &e.coefs.known.prev[ci]
		if h.ss != 0 && cur[0] < 0 {
			e.in.warn("AC coefficients before DC")
		}
		for k := min(h.ss, 1); k <= max(h.se, 9); k++ {
			prev[k] = 0
			if h.scans > 1 {
				prev[k] = cur[k]
			}
		}
		for k := h.ss; k <= h.se; k++ {
			if h.ah != max(cur[k], 0) {
				e.in.warn("progressive scans out of order")
			}
			cur[k] = h.al
		}
	}
	return nil
}

// consumeIMCURow decodes a row of MCUs of the current scan into the storage.
func (e *entropy) consumeIMCURow(row int) error {
	h := e.head
	for y := range h.mcuRows(row) {
		consume := e.consumeProgressive
		if !h.progressive {
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
	h := e.head
	b := 0
	for i := range h.nScan {
		c := h.scan[i]
		again = e.coefs.touch(c, row) || again
		r := &e.coefs.rows[c.index][row]
		for by := range c.mcuH {
			for bx := range c.mcuW {
				at := (y+by)*c.padW + bx
				e.to[b] = target{blocks: r.blocks[at:], step: c.mcuW}
				if h.progressive {
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
	h := e.head
	if e.bits.insufficient && h.restartInterval == 0 {
		return nil // no change, so no memory is needed
	}
	if e.aimStore(row, y) && y == 0 {
		// Values of an earlier scan of the component stay where this scan has
		// zeros.
		for i := range h.nScan {
			e.coefs.rows[h.scan[i].index][row].again = true
		}
	}
	return e.decodeMCUs(0, h.mcusPerRow)
}

// consumeProgressive decodes row y of row's MCUs in a progressive file.
func (e *entropy) consumeProgressive(row, y int) error {
	h := e.head
	aimed := false
	for x := 0; x < h.mcusPerRow; {
		if !e.bits.insufficient {
			e.coefs.lastGoodRow = row
		}
		end := h.mcusPerRow
		if !h.arithmetic {
			if h.restartInterval != 0 {
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
			case h.ss != 0 && h.ah == 0 && e.eobrun > 0:
				n = min(end-x, e.eobrun)
				e.eobrun -= n
			}
			if n > 0 {
				e.restartsToGo -= n
				x += n
				continue
			}
		} else if e.bits.insufficient && h.restartInterval == 0 {
			return nil
		}
		if !aimed {
			e.aimStore(row, y)
			aimed = true
		}
		if !h.arithmetic && (e.quick.on || e.enterQuick()) {
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
	h := e.head
	if h.ss != 0 {
		e.mask = &e.to[0].masks[x]
	}
	if h.arithmetic {
		if h.ss != 0 {
			*e.mask = 1 << 63 // any coefficient may be nonzero
		}
		return e.decodeMCUArith(&e.blockPtrs)
	}
	e.restartsToGo--
	ok := false
	switch {
	case h.ss == 0 && h.ah == 0:
		return e.dcFirst()
	case h.ss == 0:
		ok = e.dcRefine()
	case h.ah == 0:
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
	h, bits := e.head, &e.bits
	for b := range h.blocksInMCU {
		m := h.member[b] & 3
		s := bits.symbol(&e.dcTables[h.scan[m].dcTab&3])
		if s < 0 {
			return e.in.truncated()
		}
		if s != 0 {
			r, ok := bits.receive(s)
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
		e.blockPtrs[b][0] = int16(e.lastDC[m] << h.al)
	}
	return nil
}

// dcRefine decodes an MCU of a DC refinement scan.
func (e *entropy) dcRefine() bool {
	h := e.head
	for b := range h.blocksInMCU {
		bit, ok := e.bits.receive(1)
		if !ok {
			return false
		}
		e.blockPtrs[b][0] |= int16(bit << h.al)
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
	h, bits := e.head, &e.bits
	t := &e.acTables[h.scan[0].acTab&3]
	for k := h.ss; k <= h.se; k++ {
		s := bits.symbol(t)
		if s < 0 {
			return false
		}
		r := s >> 4
		s &= 15
		if s != 0 {
			k += r
			v, ok := bits.receive(s)
			if !ok {
				return false
			}
			e.put(k, int16(extend(v, s)<<h.al))
			continue
		}
		if r == 15 {
			k += 15
			continue
		}
		e.eobrun = 1<<r - 1
		if r != 0 {
			v, ok := bits.receive(r)
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
	h, bits := e.head, &e.bits
	blk, t := e.blockPtrs[0], &e.acTables[h.scan[0].acTab&3]
	p1 := int16(1) << h.al
	m1 := int16(-1) << h.al
	k := h.ss
	if e.eobrun == 0 {
	scan:
		for ; k <= h.se; k++ {
			s := bits.symbol(t)
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
				bit, ok := bits.receive(1)
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
					n, ok := bits.receive(r)
					if !ok {
						return false
					}
					e.eobrun += int(n)
				}
				break scan
			}
			// Skip r zeros and correct the coefficients between them.
			for ; k <= h.se; k++ {
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
		for ; k <= h.se; k++ {
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
