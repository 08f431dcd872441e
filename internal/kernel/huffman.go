package kernel

import "encoding/binary"

// HuffBits is the number of bits of one look-up in a HuffTable.
const HuffBits = 11

// HuffEntry describes the start of the next HuffBits bits: one step of decoding
// a block, or two if the bits contain both. A step is a coefficient with the
// zeros before it, or the end of the block.
//
//	bits 0-7    the length of both steps
//	bits 8-15   the advance of the first step in the block, 1 to 16; 0 for the
//	            end of the block; or HuffRare
//	bits 16-23  the advance of both steps; the end of the block counts as 64
//	bits 24-29  the length of the first step if it is a coefficient, else 0
//	bit  30     set if the last step is the end of the block
//	bits 32-47  the first value; 0 if there is none
//	bits 48-63  the second value, or the first value if there is no second; if
//	            the last step is the end, -1 without a first value, else 0
//
// HuffRare marks all other cases: symbols without a value except EOB, and steps
// that do not end within the bits. Bits 0-7 are then the length of the code and
// bits 32-39 its symbol. Both are 0 if the code is longer than HuffBits.
//
// In a table for DC, bits 32-47 are the difference, and every step is 1.
type HuffEntry uint64

// HuffRare is the step of an entry that needs the slow path.
const HuffRare = 128

const huffEnds = 1 << 30

func (e HuffEntry) length() uint { return uint(e & 0xFF) }
func (e HuffEntry) step() uint   { return uint(e >> 8 & 0xFF) }
func (e HuffEntry) steps() uint  { return uint(e >> 16 & 0xFF) }
func (e HuffEntry) first() uint  { return uint(e >> 24 & 63) }
func (e HuffEntry) v1() int16    { return int16(e >> 32) }
func (e HuffEntry) v2() int16    { return int16(e >> 48) }

// HuffTable decodes one Huffman table of T.81.
type HuffTable struct {
	Look [1 << HuffBits]HuffEntry
	// For codes of HuffBits+1+i bits: Max is the largest code, or -1 without
	// codes. Offset is the index of the first code's symbol minus that code.
	Max    [16 - HuffBits]int32
	Offset [16 - HuffBits]int32
	Vals   [256]uint8
}

// HuffKind is the use of a table.
type HuffKind uint8

// The kinds.
const (
	HuffAC     HuffKind = iota // coefficients with the zeros before them
	HuffDC                     // differences
	HuffRefine                 // symbols alone: every entry is HuffRare
)

// Build builds the table for counts[l] codes of l bits with the symbols vals,
// in order. The counts must be valid for their lengths.
func (t *HuffTable) Build(counts *[17]uint8, vals *[256]uint8, kind HuffKind) {
	t.Vals = *vals
	code, p := int32(0), 0
	for l := 1; l <= 16; l++ {
		n := int(counts[l])
		if i := l - HuffBits - 1; i >= 0 {
			t.Offset[i] = int32(p) - code
			if t.Max[i] = -1; n > 0 {
				t.Max[i] = code + int32(n) - 1
			}
		}
		code, p = (code+int32(n))<<1, p+n
	}
	i, q := 0, 0
	for l := 1; l <= HuffBits; l++ {
		for range counts[l] {
			sym := int(vals[q])
			q++
			run, size := sym>>4, sym&15
			if kind == HuffDC {
				run, size = 0, sym
			}
			all := t.Look[i : i+1<<(HuffBits-l)]
			i += len(all)
			var e HuffEntry
			switch {
			case kind == HuffDC && size == 0:
				e = HuffEntry(l) | 1<<8 | 1<<16
			case kind == HuffAC && sym == 0:
				e = HuffEntry(l) | 64<<16 | huffEnds | 0xFFFF<<48
			case kind == HuffRefine || size == 0 || l+size > HuffBits:
				e = HuffEntry(l) | HuffRare<<8 | HuffRare<<16 | HuffEntry(sym)<<32
			default:
				e = HuffEntry(l+size) | HuffEntry(run+1)<<8 | HuffEntry(run+1)<<16 | HuffEntry(l+size)<<24
				n := 1 << (HuffBits - l - size)
				for v := range 1 << size {
					x := HuffEntry(uint16(extend(int32(v), uint(size))))
					f := e | x<<32 | x<<48
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
	for ; i < len(t.Look); i++ {
		t.Look[i] = HuffRare<<8 | HuffRare<<16
	}
	if kind == HuffAC {
		t.pair()
	}
}

// pair adds second steps: the step that follows the first one, if it fits the
// remaining bits.
func (t *HuffTable) pair() {
	for i, e := range &t.Look {
		if s := e.step(); s == 0 || s == HuffRare {
			continue
		}
		l := e.length()
		f := t.Look[i<<l&(1<<HuffBits-1)]
		fs, fl := f.step(), f.first() // its first step
		if fs == 0 {
			fl = f.length()
		}
		if fs == HuffRare || l+fl > HuffBits {
			continue
		}
		e = e&^(0xFFFF<<48|0xFF0000|0xFF) | HuffEntry(l+fl)
		if fs == 0 {
			e |= HuffEntry(e.step()+64)<<16 | huffEnds
		} else {
			e |= HuffEntry(e.step()+fs)<<16 | HuffEntry(uint16(f.v1()))<<48
		}
		t.Look[i] = e
	}
}

// extend is T.81's EXTEND: the value whose s low bits are r, s > 0.
func extend(r int32, s uint) int32 {
	if r < 1<<(s-1) {
		return r - (1<<s - 1)
	}
	return r
}

// rare decodes the symbol whose code is at the top of acc and returns the
// code's length. e is its entry. An invalid code has length 17 and symbol 0.
func (t *HuffTable) rare(acc uint64, e HuffEntry) (symbol, length uint) {
	if l := e.length(); l != 0 {
		return uint(e>>32) & 0xFF, l
	}
	for i, m := range t.Max {
		if code := int32(acc >> (63 - HuffBits - i)); code <= m {
			return uint(t.Vals[uint8(code+t.Offset[i])]), uint(HuffBits + 1 + i)
		}
	}
	return 0, 17
}

// HuffTarget is one block of an MCU: its tables and the destination of its
// coefficients.
type HuffTarget struct {
	DC, AC *HuffTable
	Blocks [][64]int16 // a row of blocks, starting with MCU 0; natural order
	Last   []uint8     // the zigzag index of each block's last coefficient, or more
	Step   int         // blocks from one MCU to the next
	Comp   int         // index into Pred of its DC predictor
}

// HuffReader decodes the MCUs of a baseline scan without checks.
type HuffReader struct {
	Buf  []byte // data without stuffed zeros
	Pos  int    // index of the next byte
	Stop int    // no MCU starts beyond Buf[Stop]
	Acc  uint64 // unread bits, at the top; the bits below may hold more of Buf
	N    uint   // number of unread bits, less than 64

	To    [10]HuffTarget
	MCU   int // blocks in an MCU
	Pred  [4]int32
	X     int // index of the next MCU
	Limit int // index at which decoding stops
}

// HuffBlockBytes is an upper bound of the bytes of a block plus the bytes
// fetched ahead.
const HuffBlockBytes = 512

// coefPlace returns, for k, twice the position in a block of coefficient k-1 in
// zigzag order. Corrupt data may exceed the last coefficient.
var coefPlace = func() (t [256]uint8) {
	x, y := 0, 0
	for k := 1; k < 256; k++ {
		if k > 64 {
			t[k] = 2 * 63
			continue
		}
		t[k] = uint8(2 * (8*y + x))
		switch up := (x+y)%2 == 0; {
		case up && x == 7:
			y++
		case up && y == 0:
			x++
		case up:
			x, y = x+1, y-1
		case y == 7:
			x++
		case x == 0:
			y++
		default:
			x, y = x-1, y+1
		}
	}
	return t
}()

// Decode decodes MCUs from X on into blocks that are zero, until X is Limit or
// Pos exceeds Stop. Buf must have MCU*HuffBlockBytes bytes from Stop on.
func (r *HuffReader) Decode() {
	if r.X >= r.Limit || r.Pos > r.Stop {
		return
	}
	if huffDecode(r) {
		return
	}
	buf, pos, acc, n := r.Buf, r.Pos, r.Acc, r.N
	for ; r.X < r.Limit && pos <= r.Stop; r.X++ {
		for b := range r.MCU {
			to := &r.To[b]
			i := r.X * to.Step
			blk, dc, ac := &to.Blocks[i], to.DC, to.AC
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
			e := dc.Look[acc>>(64-HuffBits)]
			diff, l := int32(e.v1()), e.length()
			if e.step() == HuffRare {
				var s uint
				s, l = dc.rare(acc, e)
				diff = 0
				if s != 0 {
					diff = extend(int32(acc<<(l&63)>>((64-s)&63)), s)
				}
				l += s
			}
			acc <<= l & 63
			n -= l
			p := &r.Pred[to.Comp&3]
			*p += diff
			blk[0] = int16(*p)

			k := uint(1) // index of the next coefficient
			for {
				// 56 bits are enough for five look-ups.
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
				pos += int((63 - n) >> 3)
				n |= 56

				e = ac.Look[acc>>(64-HuffBits)]
				k2 := k + e.steps()
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[uint8(k+e.step())]>>1&63] = e.v1()
				blk[coefPlace[k2]>>1&63] = e.v2()
				k = k2
				acc <<= e & 63
				n -= e.length()

				e = ac.Look[acc>>(64-HuffBits)]
				k2 = k + e.steps()
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[uint8(k+e.step())]>>1&63] = e.v1()
				blk[coefPlace[k2]>>1&63] = e.v2()
				k = k2
				acc <<= e & 63
				n -= e.length()

				e = ac.Look[acc>>(64-HuffBits)]
				k2 = k + e.steps()
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[uint8(k+e.step())]>>1&63] = e.v1()
				blk[coefPlace[k2]>>1&63] = e.v2()
				k = k2
				acc <<= e & 63
				n -= e.length()

				e = ac.Look[acc>>(64-HuffBits)]
				k2 = k + e.steps()
				if k2 > 63 {
					goto special
				}
				blk[coefPlace[uint8(k+e.step())]>>1&63] = e.v1()
				blk[coefPlace[k2]>>1&63] = e.v2()
				k = k2
				acc <<= e & 63
				n -= e.length()
				continue

			special:
				k1 := k + e.step()
				if e&huffEnds != 0 && k1 <= 63 {
					p := &blk[coefPlace[k1]>>1&63]
					*p = *p&e.v2() | e.v1()
					k = k1
					acc <<= e & 63
					n -= e.length()
					break
				}
				if e.step() != HuffRare {
					// This is the last coefficient or, in corrupt data, one
					// beyond: the first or the second of the entry.
					v, l := e.v1(), e.first()
					blk[coefPlace[uint8(k1)]>>1&63] = v
					if k = k1; k1 <= 63 {
						v, l = e.v2(), e.length()
						k = k2
						blk[coefPlace[uint8(k)]>>1&63] = v
					}
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
				blk[coefPlace[uint8(k)]>>1&63] = int16(extend(int32(acc>>((64-s)&63)), s))
				acc <<= s
				n -= s
				if k > 63 {
					break
				}
			}
			to.Last[i] = uint8(k - 1)
		}
	}
	r.Pos, r.Acc, r.N = pos, acc, n
}
