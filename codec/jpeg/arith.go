package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// arithReader decodes binary decisions, T.81 annex D, with libjpeg's registers.
type arithReader struct {
	in *input

	c  int64 // base of the interval, and input bits below it
	a  int64 // size of the interval
	ct int   // bits of input left in c; -16 at first; -1 after an error

	// A statistics bin holds the index of its state in qeTable. The top bit is
	// its more probable symbol.
	dcStats [arithTabs][64]uint8
	acStats [arithTabs][256]uint8
	fixed   uint8 // a bin of probability 1/2
	context [maxScan]int
	ended   bool // the data ended, which is a fatal error
}

// fixedBin is the state that never changes.
const fixedBin = 113

// startArith prepares the arithmetic decoder for a scan.
func (e *entropy) startArith() error {
	h := e.head
	if e.in.damage == codec.DamageImread {
		e.in.end = len(e.in.data) // the end of a chunk has no effect
	}
	for i := range h.nScan {
		c := h.scan[i]
		if h.hasDC() && c.dcTab >= arithTabs {
			return e.in.errorf(codec.ErrFormat, "arithmetic table %d", c.dcTab)
		}
	}
	e.resetArith()
	return nil
}

func (e *entropy) resetArith() {
	h := e.head
	a := &e.arith
	for i := range h.nScan {
		c := h.scan[i]
		if h.hasDC() {
			a.dcStats[c.dcTab] = [64]uint8{}
			e.lastDC[i] = 0
			a.context[i] = 0
		}
		if h.hasAC() {
			a.acStats[c.acTab] = [256]uint8{}
		}
	}
	a.c, a.a, a.ct = 0, 0, -16
	a.fixed = fixedBin
	a.ended = false
	e.restartsToGo = h.restartInterval
}

// byte reads a byte. After a marker it returns zeros, which is allowed here.
// The decoder cannot wait for data: Pillow fails where its chunk of the file
// ends.
func (a *arithReader) byte() int64 {
	if a.in.marker != 0 || a.ended {
		return 0
	}
	if a.in.pos >= a.in.end && (!a.in.padded() || a.in.pos < len(a.in.data)) {
		a.ended = true
		return 0
	}
	b, ok := a.raw()
	for ok && b == 0xFF {
		if b, ok = a.raw(); !ok {
			break
		}
		if b == 0 {
			return 0xFF
		}
		if b != 0xFF {
			a.in.marker = b
			return 0
		}
	}
	if !ok {
		if a.in.noMarker() != nil {
			a.ended = true
		}
		return 0
	}
	return int64(b)
}

func (a *arithReader) raw() (byte, bool) {
	if a.in.pos >= a.in.end {
		return 0, false
	}
	b := a.in.data[a.in.pos]
	a.in.pos++
	return b, true
}

// decide decodes one binary decision.
func (a *arithReader) decide(st *uint8) bool {
	for a.a < 0x8000 {
		if a.ct--; a.ct < 0 {
			a.c = a.c<<8 | a.byte()
			if a.ct += 8; a.ct < 0 {
				if a.ct++; a.ct == 0 {
					a.a = 0x8000 // 0x10000 after the shift
				}
			}
		}
		a.a <<= 1
	}
	sv := *st
	q := &qeTable[sv&0x7F]
	qe := int64(q.qe)
	a.a -= qe
	temp := a.a << a.ct
	if a.c >= temp {
		a.c -= temp
		// The less probable symbol, unless its interval is larger.
		if a.a < qe {
			*st = sv&0x80 ^ q.nextMPS
		} else {
			*st = sv&0x80 ^ q.nextLPS
			sv ^= 0x80
		}
		a.a = qe
	} else if a.a < 0x8000 {
		if a.a < qe {
			*st = sv&0x80 ^ q.nextLPS
			sv ^= 0x80
		} else {
			*st = sv&0x80 ^ q.nextMPS
		}
	}
	return sv>>7 != 0
}

// bad abandons the segment.
func (a *arithReader) bad() {
	a.in.warn("bad arithmetic code")
	a.ct = -1
}

// magnitude decodes the bits of a value below the highest one, and the value's
// sign. m is the value's category.
func (a *arithReader) magnitude(st *uint8, m int32, neg bool) int32 {
	v := m
	for m >>= 1; m != 0; m >>= 1 {
		if a.decide(st) {
			v |= m
		}
	}
	v++
	if neg {
		v = -v
	}
	return v
}

// dc decodes the DC difference of component i of the scan. lower and upper are
// the conditioning bounds.
func (a *arithReader) dc(i, tab int, lower, upper uint8) (diff int32, ok bool) {
	stats := &a.dcStats[tab]
	at := a.context[i]
	if !a.decide(&stats[at]) {
		a.context[i] = 0
		return 0, true
	}
	neg := a.decide(&stats[at+1])
	at += 2
	sign := 0
	if neg {
		at++
		sign = 1
	}
	m := int32(0)
	if a.decide(&stats[at]) {
		m = 1
		at = 20
		for a.decide(&stats[at]) {
			if m <<= 1; m == 0x8000 {
				a.bad()
				return 0, false
			}
			at++
		}
	}
	switch {
	case m < 1<<lower>>1:
		a.context[i] = 0
	case m > 1<<upper>>1:
		a.context[i] = 12 + 4*sign
	default:
		a.context[i] = 4 + 4*sign
	}
	return a.magnitude(&stats[at+14], m, neg), true
}

// ac decodes the value of a nonzero AC coefficient, after its zero decisions.
// at is the coefficient's bin, kx the conditioning value.
func (a *arithReader) ac(stats *[256]uint8, at, k int, kx uint8) (int32, bool) {
	neg := a.decide(&a.fixed)
	at += 2
	m := int32(0)
	if a.decide(&stats[at]) {
		m = 1
		if a.decide(&stats[at]) {
			m = 2
			at = 217
			if k <= int(kx) {
				at = 189
			}
			for a.decide(&stats[at]) {
				if m <<= 1; m == 0x8000 {
					a.bad()
					return 0, false
				}
				at++
			}
		}
	}
	return a.magnitude(&stats[at+14], m, neg), true
}

// band decodes the AC coefficients first to last of a block, shifted left by
// al.
func (a *arithReader) band(blk *[64]int16, tab, first, last, al int, kx uint8) (lastK int, ok bool) {
	stats := &a.acStats[tab]
	for k := first; k <= last; k++ {
		at := 3 * (k - 1)
		if a.decide(&stats[at]) {
			break // end of block
		}
		for !a.decide(&stats[at+1]) {
			at += 3
			if k++; k > last {
				a.bad()
				return lastK, false
			}
		}
		v, ok := a.ac(stats, at, k, kx)
		if !ok {
			return lastK, false
		}
		blk[kernel.NaturalOrder[k]] = int16(v << al)
		lastK = k
	}
	return lastK, true
}

// refine decodes the coefficients first to last of a block of an AC refinement
// scan.
func (a *arithReader) refine(blk *[64]int16, tab, first, last, al int) {
	stats := &a.acStats[tab]
	p1, m1 := int16(1)<<al, int16(-1)<<al
	// The end of the block in the previous stage.
	kex := last
	for kex > 0 && blk[kernel.NaturalOrder[kex]] == 0 {
		kex--
	}
	for k := first; k <= last; k++ {
		at := 3 * (k - 1)
		if k > kex && a.decide(&stats[at]) {
			return
		}
		for {
			p := &blk[kernel.NaturalOrder[k]]
			if *p != 0 {
				if a.decide(&stats[at+2]) {
					if *p < 0 {
						*p += m1
					} else {
						*p += p1
					}
				}
				break
			}
			if a.decide(&stats[at+1]) {
				*p = p1
				if a.decide(&a.fixed) {
					*p = m1
				}
				break
			}
			at += 3
			if k++; k > last {
				a.bad()
				return
			}
		}
	}
}

// arithDC decodes the DC coefficient of component i of the scan to lastDC.
func (e *entropy) arithDC(i int) bool {
	h := e.head
	tab := h.scan[i].dcTab
	diff, ok := e.arith.dc(i, tab, h.arithL[tab], h.arithU[tab])
	e.lastDC[i] += diff
	return ok
}

// decodeMCUArith decodes an MCU of any arithmetic-coded scan.
func (e *entropy) decodeMCUArith(blocks *[maxMCU]*[64]int16) error {
	h := e.head
	if h.restartInterval != 0 {
		if e.restartsToGo == 0 {
			if err := e.arithRestart(); err != nil {
				return err
			}
		}
		e.restartsToGo--
	}
	refineDC := h.progressive && h.ss == 0 && h.ah != 0
	if e.arith.ct == -1 && !refineDC {
		return nil
	}
	switch {
	case !h.progressive:
		for b := range h.blocksInMCU {
			m := h.member[b]
			if !e.arithDC(m) {
				break
			}
			blocks[b][0] = int16(e.lastDC[m])
			tab := h.scan[m].acTab
			k, ok := e.arith.band(blocks[b], tab, 1, 63, 0, h.arithK[tab])
			e.lastK[b] = k
			if !ok {
				e.lastK[b] = 63
				break
			}
		}
	case refineDC:
		for b := range h.blocksInMCU {
			if e.arith.decide(&e.arith.fixed) {
				blocks[b][0] |= 1 << h.al
			}
		}
	case h.ss == 0:
		for b := range h.blocksInMCU {
			m := h.member[b]
			if !e.arithDC(m) {
				break
			}
			blocks[b][0] = int16(e.lastDC[m] << h.al)
		}
	case h.ah == 0:
		tab := h.scan[0].acTab
		e.arith.band(blocks[0], tab, h.ss, h.se, h.al, h.arithK[tab])
	default:
		e.arith.refine(blocks[0], h.scan[0].acTab, h.ss, h.se, h.al)
	}
	if e.arith.ended {
		return e.in.errorf(codec.ErrFormat, "the data ends within arithmetic-coded data, which cannot wait for more")
	}
	return nil
}

// arithRestart skips a restart marker. Its data must be available too.
func (e *entropy) arithRestart() error {
	hold := e.in.hold
	e.in.hold = e.in.damage == codec.DamagePillow
	e.bits.nbits = 0
	err := e.restart()
	e.in.hold = hold
	if err == errSuspended {
		err = e.in.errorf(codec.ErrFormat, "the data ends within arithmetic-coded data, which cannot wait for more")
	}
	if err == nil {
		e.bits.insufficient = false
		e.resetArith()
	}
	return err
}

// qe is a state of the probability estimation in T.81 table D.2.
type qe struct {
	qe      uint16
	nextLPS uint8 // the top bit exchanges the symbols
	nextMPS uint8
}

// qeTable is the standard's table and one more state, that of the fixed bin.
var qeTable = [114]qe{
	{0x5a1d, 1 | 0x80, 1}, {0x2586, 14, 2}, {0x1114, 16, 3}, {0x080b, 18, 4}, {0x03d8, 20, 5}, {0x01da, 23, 6},
	{0x00e5, 25, 7}, {0x006f, 28, 8}, {0x0036, 30, 9}, {0x001a, 33, 10}, {0x000d, 35, 11}, {0x0006, 9, 12},
	{0x0003, 10, 13}, {0x0001, 12, 13}, {0x5a7f, 15 | 0x80, 15}, {0x3f25, 36, 16}, {0x2cf2, 38, 17}, {0x207c, 39, 18},
	{0x17b9, 40, 19}, {0x1182, 42, 20}, {0x0cef, 43, 21}, {0x09a1, 45, 22}, {0x072f, 46, 23}, {0x055c, 48, 24},
	{0x0406, 49, 25}, {0x0303, 51, 26}, {0x0240, 52, 27}, {0x01b1, 54, 28}, {0x0144, 56, 29}, {0x00f5, 57, 30},
	{0x00b7, 59, 31}, {0x008a, 60, 32}, {0x0068, 62, 33}, {0x004e, 63, 34}, {0x003b, 32, 35}, {0x002c, 33, 9},
	{0x5ae1, 37 | 0x80, 37}, {0x484c, 64, 38}, {0x3a0d, 65, 39}, {0x2ef1, 67, 40}, {0x261f, 68, 41}, {0x1f33, 69, 42},
	{0x19a8, 70, 43}, {0x1518, 72, 44}, {0x1177, 73, 45}, {0x0e74, 74, 46}, {0x0bfb, 75, 47}, {0x09f8, 77, 48},
	{0x0861, 78, 49}, {0x0706, 79, 50}, {0x05cd, 48, 51}, {0x04de, 50, 52}, {0x040f, 50, 53}, {0x0363, 51, 54},
	{0x02d4, 52, 55}, {0x025c, 53, 56}, {0x01f8, 54, 57}, {0x01a4, 55, 58}, {0x0160, 56, 59}, {0x0125, 57, 60},
	{0x00f6, 58, 61}, {0x00cb, 59, 62}, {0x00ab, 61, 63}, {0x008f, 61, 32}, {0x5b12, 65 | 0x80, 65}, {0x4d04, 80, 66},
	{0x412c, 81, 67}, {0x37d8, 82, 68}, {0x2fe8, 83, 69}, {0x293c, 84, 70}, {0x2379, 86, 71}, {0x1edf, 87, 72},
	{0x1aa9, 87, 73}, {0x174e, 72, 74}, {0x1424, 72, 75}, {0x119c, 74, 76}, {0x0f6b, 74, 77}, {0x0d51, 75, 78},
	{0x0bb6, 77, 79}, {0x0a40, 77, 48}, {0x5832, 80 | 0x80, 81}, {0x4d1c, 88, 82}, {0x438e, 89, 83}, {0x3bdd, 90, 84},
	{0x34ee, 91, 85}, {0x2eae, 92, 86}, {0x299a, 93, 87}, {0x2516, 86, 71}, {0x5570, 88 | 0x80, 89}, {0x4ca9, 95, 90},
	{0x44d9, 96, 91}, {0x3e22, 97, 92}, {0x3824, 99, 93}, {0x32b4, 99, 94}, {0x2e17, 93, 86}, {0x56a8, 95 | 0x80, 96},
	{0x4f46, 101, 97}, {0x47e5, 102, 98}, {0x41cf, 103, 99}, {0x3c3d, 104, 100}, {0x375e, 99, 93}, {0x5231, 105, 102},
	{0x4c0f, 106, 103}, {0x4639, 107, 104}, {0x415e, 103, 99}, {0x5627, 105 | 0x80, 106}, {0x50e7, 108, 107}, {0x4b85, 109, 103},
	{0x5597, 110, 109}, {0x504f, 111, 107}, {0x5a10, 110 | 0x80, 111}, {0x5522, 112, 109}, {0x59eb, 112 | 0x80, 111}, {0x5a1d, 113, 113},
}
