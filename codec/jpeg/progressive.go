package jpeg

import (
	"math/bits"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// coefBits holds the number of unknown low bits of each component's
// coefficients in zigzag order, -1 if all bits are unknown. prev is the state
// before the component's last scan.
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

// startProgression checks the scan's parameters and records the bits that it
// will define.
func (d *decoder) startProgression() error {
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

// A slab hands out zeroed pieces of memory and keeps them from image to image.
// It doubles as it grows, up to the most that the image can need.
type slab[T any] struct {
	parts [][]T
	next  int // the first part that this image has not used
	free  []T
	total int // elements in parts
	want  int // most elements that can still be requested
}

// reset starts an image. The parts stay as they are: one large part in their
// place would need as much memory again until the collector frees them.
func (s *slab[T]) reset(want int) { s.next, s.free, s.want = 0, nil, want }

func (s *slab[T]) alloc(n int) []T {
	for len(s.free) < n && s.next < len(s.parts) {
		s.free = s.parts[s.next]
		s.next++
	}
	if len(s.free) < n {
		m := max(n, min(s.total, s.want))
		s.free = make([]T, m)
		s.parts = append(s.parts, s.free)
		s.next = len(s.parts)
		s.total += m
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	s.want -= n
	clear(b)
	return b
}

// stored is a row of MCUs of a component, in files with several scans.
type stored struct {
	blocks [][64]int16
	last   []uint8  // sequential: upper bound of the zigzag index of each block's last coefficient
	again  bool     // sequential: more than one scan stored here, so last is invalid
	masks  []uint64 // progressive: bit k is set if coefficient k in zigzag order is not 0
}

// coefStore holds the coefficients of files with several scans. It allocates a
// component's row of MCUs when the first data for it is decoded.
type coefStore struct {
	blocks slab[[64]int16]
	lasts  slab[uint8]
	masks  slab[uint64]
	rows   [maxComps][]stored
}

func (s *coefStore) reset(d *decoder) {
	want := 0
	for i := range d.comps {
		c := &d.comps[i]
		want += c.padW * c.padH
		s.rows[i] = grow(s.rows[i], d.iMCURows)
		clear(s.rows[i])
		c.rows = s.rows[i]
	}
	s.blocks.reset(want)
	s.lasts.reset(want)
	s.masks.reset(want)
}

// touch allocates the row of MCUs of c and reports whether it was allocated
// before.
func (d *decoder) touch(c *component, row int) bool {
	r := &c.rows[row]
	if r.blocks != nil {
		return true
	}
	n := c.padW * c.v
	r.blocks = d.store.blocks.alloc(n)
	if d.progressive {
		r.masks = d.store.masks.alloc(n)
	} else {
		r.last = d.store.lasts.alloc(n)
	}
	return false
}

// consumeIMCURow decodes a row of MCUs of the current scan into the storage.
func (d *decoder) consumeIMCURow(row int) error {
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

// aimStore makes the stored row y of row's MCUs the target, and reports whether
// an earlier scan stored data there.
func (d *decoder) aimStore(row, y int) (again bool) {
	b := 0
	for i := range d.nScan {
		c := d.scan[i]
		again = d.touch(c, row) || again
		r := &c.rows[row]
		for by := range c.mcuH {
			for bx := range c.mcuW {
				at := (y+by)*c.padW + bx
				d.to[b] = target{blocks: r.blocks[at:], step: c.mcuW}
				if d.progressive {
					d.to[b].masks = r.masks[at:]
				} else {
					d.to[b].last = r.last[at:]
				}
				b++
			}
		}
	}
	return again
}

// consumeSequential decodes row y of row's MCUs in a sequential file.
func (d *decoder) consumeSequential(row, y int) error {
	if d.insufficient && d.restartInterval == 0 {
		return nil // no change, so no memory is needed
	}
	if d.aimStore(row, y) && y == 0 {
		// Values of an earlier scan of the component stay where this scan has
		// zeros.
		for i := range d.nScan {
			d.scan[i].rows[row].again = true
		}
	}
	return d.decodeMCUs(0, d.mcusPerRow)
}

// consumeProgressive decodes row y of row's MCUs in a progressive file.
func (d *decoder) consumeProgressive(row, y int) error {
	aimed := false
	for x := 0; x < d.mcusPerRow; {
		if !d.insufficient {
			d.lastGoodRow = row
		}
		end := d.mcusPerRow
		if !d.arithmetic {
			if d.restartInterval != 0 {
				if d.restartsToGo == 0 {
					d.leaveQuick()
					if err := d.restart(); err != nil {
						return err
					}
				}
				end = min(end, x+d.restartsToGo)
			}
			// Data that changes nothing needs no memory.
			n := 0
			switch {
			case d.insufficient:
				n = end - x
			case d.ss != 0 && d.ah == 0 && d.eobrun > 0:
				n = min(end-x, d.eobrun)
				d.eobrun -= n
			}
			if n > 0 {
				d.restartsToGo -= n
				x += n
				continue
			}
		} else if d.insufficient && d.restartInterval == 0 {
			return nil
		}
		if !aimed {
			d.aimStore(row, y)
			aimed = true
		}
		if !d.arithmetic && (d.quick.on || d.enterQuick()) {
			next, err := d.quickProgressive(x, end)
			d.restartsToGo -= next - x
			if err != nil {
				return err
			}
			if next > x {
				x = next
				continue
			}
			d.leaveQuick()
		}
		d.aim(x)
		if err := d.progressiveMCU(x); err != nil {
			return err
		}
		x++
	}
	return nil
}

// progressiveMCU decodes MCU number x into the targets.
func (d *decoder) progressiveMCU(x int) error {
	if d.ss != 0 {
		d.mask = &d.to[0].masks[x]
	}
	if d.arithmetic {
		if d.ss != 0 {
			*d.mask = 1 << 63 // any coefficient may be nonzero
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
func (d *decoder) dcFirst() error {
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
func (d *decoder) dcRefine() bool {
	for b := range d.blocksInMCU {
		bit, ok := d.receive(1)
		if !ok {
			return false
		}
		d.blockPtrs[b][0] |= int16(bit << d.al)
	}
	return true
}

// put stores a coefficient that was 0. Corrupt data may exceed the block's end;
// such coefficients go to the last place.
func (d *decoder) put(k int, v int16) {
	d.blockPtrs[0][kernel.NaturalOrder[k]] = v
	if v != 0 { // a value may be 0 in 16 bits
		*d.mask |= 1 << min(k, 63)
	}
}

// acFirst decodes a block of a first AC scan outside an EOB run.
func (d *decoder) acFirst() bool {
	t := &d.acTables[d.scan[0].acTab&3]
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
			d.put(k, int16(extend(v, s)<<d.al))
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
func (d *decoder) acRefine() bool {
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
			// Skip r zeros and correct the coefficients between them.
			for ; k <= d.se; k++ {
				p := &blk[kernel.NaturalOrder[k]]
				if *p == 0 {
					if r--; r < 0 {
						break
					}
				} else if !d.correct(p, p1, m1) {
					return false
				}
			}
			if v != 0 {
				d.put(k, v)
			}
		}
	}
	if d.eobrun > 0 {
		for ; k <= d.se; k++ {
			if p := &blk[kernel.NaturalOrder[k]]; *p != 0 && !d.correct(p, p1, m1) {
				return false
			}
		}
		d.eobrun--
	}
	return true
}

// correct reads a correction bit for a coefficient.
func (d *decoder) correct(p *int16, p1, m1 int16) bool {
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

// outputIMCURow converts a row of MCUs of stored coefficients to samples.
func (d *decoder) outputIMCURow(row int, smooth bool) {
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
		r := &c.rows[row]
		// The blocks that contribute to the region.
		from, to := min(d.firstMCU*c.h, c.wBlocks), min(d.lastMCU*c.h, c.wBlocks)
		d.segLast = grow(d.segLast, to-from)
		for y := range n {
			if r.blocks == nil {
				dst := c.blockRow(row*c.v + y)[:c.samples*c.stride]
				for j := range dst {
					dst[j] = 128
				}
				continue
			}
			a, b := y*c.padW+from, y*c.padW+to
			last := d.segLast
			for i := range last {
				switch {
				case d.progressive:
					last[i] = uint8(63 - bits.LeadingZeros64(r.masks[a+i]|1))
				case r.again:
					last[i] = 63
				default:
					last[i] = r.last[a+i]
				}
			}
			c.transform(row*c.v+y, from, r.blocks[a:b], last)
		}
	}
}
