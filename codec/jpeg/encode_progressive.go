package jpeg

import (
	"math/bits"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// colorScans are the scans of YCbCr in libjpeg's jpeg_simple_progression.
var colorScans = []encScan{
	{comps: []int{0, 1, 2}, al: 1},
	{comps: []int{0}, ss: 1, se: 5, al: 2},
	{comps: []int{2}, ss: 1, se: 63, al: 1},
	{comps: []int{1}, ss: 1, se: 63, al: 1},
	{comps: []int{0}, ss: 6, se: 63, al: 2},
	{comps: []int{0}, ss: 1, se: 63, ah: 2, al: 1},
	{comps: []int{0, 1, 2}, ah: 1},
	{comps: []int{2}, ss: 1, se: 63, ah: 1},
	{comps: []int{1}, ss: 1, se: 63, ah: 1},
	{comps: []int{0}, ss: 1, se: 63, ah: 1},
}

// otherScans are those of other kinds of images. A scan of AC coefficients is
// repeated for every component.
var otherScans = []encScan{
	{comps: []int{0, 1, 2, 3}, al: 1},
	{ss: 1, se: 5, al: 2},
	{ss: 6, se: 63, al: 2},
	{ss: 1, se: 63, ah: 2, al: 1},
	{comps: []int{0, 1, 2, 3}, ah: 1},
	{ss: 1, se: 63, ah: 1},
}

// progressive encodes t as progressive JPEG.
func (e *Encoder) progressive(t *tensor.Tensor) {
	for r := range e.mcuRows() {
		e.transform(t, r)
	}
	e.fileHeader()
	if len(e.comps) == 3 {
		for i := range colorScans {
			e.scan(&colorScans[i])
		}
		return
	}
	all := otherScans[0].comps[:len(e.comps)]
	for _, s := range otherScans {
		if s.ss == 0 {
			s.comps = all
			e.scan(&s)
			continue
		}
		for i := range all {
			s.comps = all[i : i+1]
			e.scan(&s)
		}
	}
}

// scan encodes a scan of a progressive file.
func (e *Encoder) scan(s *encScan) {
	e.beginTokens()
	if s.ss == 0 {
		e.dcScan(s)
	} else {
		e.acScan(s)
	}
	e.writeTokens(s)
}

// dcScan makes the tokens of a scan of DC coefficients.
func (e *Encoder) dcScan(s *encScan) {
	interval := e.restart(s)
	left := interval
	mcus, rows := e.scanSize(s)
	e.resetDC()
	single := len(s.comps) == 1
	for r := range rows {
		for x := range mcus {
			if interval > 0 {
				if left == 0 {
					e.restartMarker()
					left = interval
				}
				left--
			}
			if len(e.tokens)-e.used < maxMCU {
				e.growTokens(maxMCU)
			}
			for _, i := range s.comps {
				c, pred := &e.comps[i], &e.writer.Pred[i]
				ch, cv := c.h, c.v
				if single {
					ch, cv = 1, 1
				}
				for v := range cv {
					for h := range ch {
						// Blocks outside the image repeat the DC value.
						dc := *pred
						if y, x := r*cv+v, x*ch+h; y < c.hBlocks && x < c.wBlocks {
							dc = int32(c.blocks[y*c.wBlocks+x][0])
							if s.ah == 0 {
								dc >>= s.al
							}
						}
						diff := dc - *pred
						*pred = dc
						if s.ah == 0 {
							e.used += e.counts.DC(e.tokens[e.used:], diff, uint(c.table))
						} else {
							e.tokens[e.used] = kernel.NewToken(kernel.TokenRaw+1, uint32(dc>>s.al)&1)
							e.used++
						}
					}
				}
			}
		}
	}
}

// maxEOBRun is the largest run of empty ends of blocks.
const maxEOBRun = 0x7FFF

// corrections is libjpeg's MAX_CORR_BITS: a run of empty ends ends when fewer
// than 63 more correction bits would fit.
const corrections = 1000

// acScan makes the tokens of a scan of AC coefficients.
func (e *Encoder) acScan(s *encScan) {
	c := &e.comps[s.comps[0]]
	interval := e.restart(s)
	left := interval
	band := ^uint64(0) >> (63 - s.se) &^ (1<<s.ss - 1)
	e.eobRun, e.late = 0, e.late[:0]
	table := kernel.TokenAC | uint(c.table)<<8
	for i := range c.blocks {
		if interval > 0 {
			if left == 0 {
				e.endRun(table)
				e.restartMarker()
				left = interval
			}
			left--
		}
		// A block has at most 63 symbols and 63 correction bits, and ends a run
		// with up to 1000 of them.
		if len(e.tokens)-e.used < 256 {
			e.growTokens(256)
		}
		if s.ah == 0 {
			e.acFirst(&c.blocks[i], c.masks[i]&band, s, table)
		} else {
			e.acRefine(&c.blocks[i], c.masks[i]&band, s, table)
		}
	}
	e.endRun(table)
}

// token adds a token.
func (e *Encoder) token(index uint, value uint32) {
	e.counts[index&2047]++
	e.tokens[e.used] = kernel.NewToken(index, value)
	e.used++
}

// endRun writes the run of empty ends of blocks and their correction bits.
func (e *Encoder) endRun(table uint) {
	if e.eobRun == 0 {
		return
	}
	n := uint(bits.Len32(e.eobRun)) - 1
	e.token(table|n<<4, 0)
	if n > 0 {
		e.token(kernel.TokenRaw+n, e.eobRun&(1<<n-1))
	}
	e.eobRun = 0
	e.lateBits(e.late)
	e.late = e.late[:0]
}

// lateBits writes correction bits.
func (e *Encoder) lateBits(l []uint8) {
	for len(l) > 0 {
		n := min(16, len(l))
		v := uint32(0)
		for _, b := range l[:n] {
			v = v<<1 | uint32(b)
		}
		e.token(kernel.TokenRaw+uint(n), v)
		l = l[n:]
	}
}

// acFirst makes the tokens of a block in the first scan of its band. mask marks
// the coefficients that are not zero before the shift.
func (e *Encoder) acFirst(b *[64]int16, mask uint64, s *encScan, table uint) {
	before := s.ss - 1
	for ; mask != 0; mask &= mask - 1 {
		k := bits.TrailingZeros64(mask)
		v := int32(b[kernel.NaturalOrder[k]&63])
		sign := v >> 31
		v = (v ^ sign - sign) >> s.al
		if v == 0 {
			continue
		}
		if e.eobRun > 0 {
			e.endRun(table)
		}
		run := k - before - 1
		before = k
		for run > 15 {
			e.token(table|0xF0, 0)
			run -= 16
		}
		size := uint(bits.Len32(uint32(v)))
		e.token(table|uint(run)<<4|size, uint32(v^sign)&(1<<size-1))
	}
	if before != s.se {
		if e.eobRun++; e.eobRun == maxEOBRun {
			e.endRun(table)
		}
	}
}

// acRefine makes the tokens of a block in a scan that adds a bit to its band.
// Coefficients that were not zero before get a correction bit. It follows the
// next coefficient that becomes non-zero, or the end of the block.
func (e *Encoder) acRefine(b *[64]int16, mask uint64, s *encScan, table uint) {
	// The zigzag index of the last coefficient that becomes non-zero.
	last := 0
	var size [64]uint16 // magnitudes after the shift
	for m := mask; m != 0; m &= m - 1 {
		k := bits.TrailingZeros64(m)
		v := int32(b[kernel.NaturalOrder[k]&63])
		sign := v >> 31
		v = (v ^ sign - sign) >> s.al
		size[k] = uint16(v)
		if v == 0 {
			mask &^= 1 << k
		} else if v == 1 {
			last = k
		}
	}
	run, before := 0, s.ss-1
	earlier := len(e.late) // late[:earlier] belong to the run of blocks
	for ; mask != 0; mask &= mask - 1 {
		k := bits.TrailingZeros64(mask)
		run += k - before - 1
		before = k
		for run > 15 && k <= last {
			e.zeroRun(table|0xF0, 0, &earlier, table)
			run -= 16
		}
		if v := size[k]; v > 1 {
			e.late = append(e.late, uint8(v&1))
			continue
		}
		positive := uint32(0)
		if b[kernel.NaturalOrder[k]&63] > 0 {
			positive = 1
		}
		e.zeroRun(table|uint(run)<<4|1, positive, &earlier, table)
		run = 0
	}
	if run > 0 || before != s.se || len(e.late) > earlier {
		e.eobRun++
		if e.eobRun == maxEOBRun || len(e.late) > corrections-63 {
			e.endRun(table)
		}
	}
}

// zeroRun writes a symbol of acRefine: first the pending run of blocks with its
// correction bits, and after the symbol those of this block.
func (e *Encoder) zeroRun(index uint, value uint32, earlier *int, table uint) {
	own := e.late[*earlier:]
	if e.eobRun > 0 {
		e.late = e.late[:*earlier]
		e.endRun(table)
	}
	e.token(index, value)
	e.lateBits(own)
	e.late, *earlier = e.late[:0], 0
}
