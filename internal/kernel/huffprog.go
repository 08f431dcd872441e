package kernel

import (
	"encoding/binary"
	"math/bits"
)

// HuffBand is a scan of AC coefficients of a progressive file, T.81 G.1.2.2 and
// G.1.2.3.
type HuffBand struct {
	First, Last int // zigzag indices
	Shift       int // Al
	EOBRun      int // number of following blocks that end at once
	// Masks holds, for each block, a bit for each nonzero coefficient in zigzag
	// order.
	Masks []uint64
}

// refill reads until Acc has at least 56 bits.
func (r *HuffReader) refill() {
	r.Acc |= binary.BigEndian.Uint64(r.Buf[r.Pos:]) >> (r.N & 63)
	r.Pos += int((63 - r.N) >> 3)
	r.N |= 56
}

// take removes n bits, up to 56.
func (r *HuffReader) take(n uint) uint {
	v := uint(r.Acc >> 1 >> (63 - n&63))
	r.Acc <<= n & 63
	r.N -= n
	return v
}

// difference decodes a difference of DC values. r has at least 56 bits.
func (t *HuffTable) difference(r *HuffReader) int32 {
	e := t.Look[r.Acc>>(64-huffBitsDC)]
	if !e.rare() {
		diff := huffDiff(r.Acc, e)
		r.take(e.length())
		return diff
	}
	s, l := t.symbol(r.Acc, e)
	r.take(l)
	if s &= 15; s == 0 {
		return 0
	}
	return extend(int32(r.take(s)), s)
}

// DCFirst decodes the MCUs of a first scan of DC coefficients, as Decode does.
// It returns false if a coefficient of MCU X is out of range.
func (r *HuffReader) DCFirst(shift int) bool {
	for ; r.X < r.Limit && r.Pos <= r.Stop; r.X++ {
		for b := range r.MCU {
			to := &r.To[b]
			r.refill()
			diff := to.DC.difference(r)
			p := &r.Pred[to.Comp&3]
			v := *p + diff
			if diff != 0 && (v > *p) != (diff > 0) {
				return false
			}
			*p = v
			to.Blocks[r.X*to.Step][0] = int16(v << shift)
		}
	}
	return true
}

// DCRefine decodes the MCUs of a refinement scan of DC coefficients.
func (r *HuffReader) DCRefine(shift int) {
	for ; r.X < r.Limit && r.Pos <= r.Stop; r.X++ {
		r.refill()
		for b := range r.MCU {
			to := &r.To[b]
			to.Blocks[r.X*to.Step][0] |= int16(r.take(1) << shift)
		}
	}
}

// put stores a coefficient that was 0, at the position before that of
// coefficient k. Corrupt data may exceed the block's end; the position is then
// the last one.
func put(blk *[64]int16, mask *uint64, k uint, v int16) {
	blk[NaturalPlaces.At(k)] = v
	if v != 0 { // v may be 0 in 16 bits
		*mask |= 1 << (min(k-1, 63) & 63)
	}
}

// ACFirst decodes the blocks of a first scan of AC coefficients.
func (r *HuffReader) ACFirst(band *HuffBand) {
	buf, pos, acc, n := r.Buf, r.Pos, r.Acc, r.N
	to := &r.To[0]
	t, last, shift := to.AC, uint(band.Last), band.Shift&15
	for r.X < r.Limit && pos <= r.Stop {
		if band.EOBRun > 0 {
			skip := min(band.EOBRun, r.Limit-r.X)
			band.EOBRun -= skip
			r.X += skip
			continue
		}
		blk, mask := &to.Blocks[r.X], &band.Masks[r.X]
		r.X++
		k := uint(band.First) // index of the next coefficient
		for k <= last {
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
			e := t.Look[acc>>(64-HuffBits)]
			two := int8(e>>24) < 0
			k1 := k + e.steps() + e.back() // after the first step
			if e.ends() {
				two, k1 = e.at() != 0, k+e.at()
			}
			if !e.rare() && !(two && k1 > last) {
				if two {
					put(blk, mask, k1, e.v1()<<shift)
				}
				v := huffValue(acc, e)
				acc <<= e.length() & 63
				n -= e.length()
				if e.ends() {
					break
				}
				k += e.steps()
				put(blk, mask, k, v<<shift)
				continue
			}
			if !e.rare() {
				e = 0 // of two steps, the first alone
			}
			s, l := t.symbol(acc, e)
			acc <<= l & 63
			n -= l
			run := s >> 4
			if s &= 15; s != 0 {
				k += run + 1
				put(blk, mask, k, int16(extend(int32(acc>>(64-s)), s)<<shift))
				acc <<= s
				n -= s
				continue
			}
			if run == 15 {
				k += 16
				continue
			}
			band.EOBRun = 1<<run - 1
			if run != 0 {
				band.EOBRun += int(acc >> (64 - run))
				acc <<= run
				n -= run
			}
			break
		}
	}
	r.Pos, r.Acc, r.N = pos, acc, n
}

// ACRefine decodes the blocks of a refinement scan of AC coefficients. The
// table must be of kind HuffRefine.
func (r *HuffReader) ACRefine(band *HuffBand) {
	if r.X >= r.Limit || r.Pos > r.Stop || huffRefine(r, band) {
		return
	}
	buf, pos, acc, n := r.Buf, r.Pos, r.Acc, r.N
	to := &r.To[0]
	t, first, last := to.AC, uint(band.First), uint(band.Last)
	all := ^uint64(0) >> (63 - last&63) // up to last
	p1 := int16(1) << (band.Shift & 15)
	run := band.EOBRun
	for ; r.X < r.Limit && pos <= r.Stop; r.X++ {
		blk, mask := &to.Blocks[r.X], &band.Masks[r.X]
		for k := first; k <= last; {
			at, v := last+1, int16(0)
			if run == 0 {
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
				pos += int((63 - n) >> 3)
				n |= 56
				e := t.Look[acc>>(64-HuffBits)]
				s, l := uint(e>>32)&0xFF, e.length()
				if l == 0 {
					s, l = t.symbol(acc, e)
				}
				acc <<= l & 63
				n -= l
				zeros := s >> 4
				if s&15 != 0 {
					v = p1 - int16(^acc>>63)*2*p1
					acc <<= 1
					n--
				} else if zeros != 15 {
					run = 1<<zeros + int(acc>>1>>(63-zeros))
					acc <<= zeros
					n -= zeros
				}
				if run == 0 {
					// Skip the zeros before the next coefficient, and correct
					// the nonzero coefficients between them.
					free := ^*mask & all >> k << k
					for ; zeros > 0; zeros-- {
						free &= free - 1
					}
					if free != 0 {
						at = uint(bits.TrailingZeros64(free))
					}
				}
			}
			// Each coefficient to correct has one bit.
			for which := *mask >> k << k & (1<<at - 1); which != 0; which &= which - 1 {
				if n == 0 {
					acc |= binary.BigEndian.Uint64(buf[pos:])
					pos += 7
					n = 56
				}
				p := &blk[NaturalPlaces.At(uint(bits.TrailingZeros64(which))+1)]
				if int64(acc) < 0 && *p&p1 == 0 {
					if *p >= 0 {
						*p += p1
					} else {
						*p -= p1
					}
				}
				acc <<= 1
				n--
			}
			if v != 0 {
				put(blk, mask, at+1, v)
			}
			k = at + 1
		}
		if run > 0 {
			run--
		}
	}
	band.EOBRun = run
	r.Pos, r.Acc, r.N = pos, acc, n
}
