package kernel

import "encoding/binary"

// HuffBits is the number of bits of one look-up in a HuffTable. The tables of a
// file fit the L1 cache with 10; 9 and 11 are slower.
const HuffBits = 10

// huffBitsDC is the number of bits of one look-up in a table for DC.
const huffBitsDC = 8

// HuffEntry describes the start of the next bits: one step of decoding a
// block, or two if the first step and the second step's code fit the look-up. A
// step is a coefficient with the zeros before it, or the end of the block.
//
//	bits 0-15   the bits of the next look-up, for BEXTR: their first bit in a
//	            number of 64 bits that begins with this look-up, and HuffBits
//	bits 16-23  the advance of all steps in the block; the end counts as 64
//	bits 24-31  the advance of the first step less that of all steps: 0 or less;
//	            for the end of the block, less that without the end
//	bits 32-47  the value of the first of two steps, else 0
//	bits 48-55  the length up to the value of the last step; if that is the end
//	            of the block, the advance of the step before it, or 0
//	bits 56-63  the length of all steps with their values, at most huffMost
//
// The value of the last step is not in the entry, because it may exceed the
// look-up: huffValue computes it.
//
// Other cases are symbols without a value except EOB, and steps that are too
// long. Bits 16-23 are then huffRare, bits 32-39 the symbol and bits 56-63 the
// length of its code. Both are 0 if the code is longer than the look-up.
//
// In a table for DC every code is one step, of which bits 48-63 are used, and
// bits 24-31 are 63 less the number of value bits.
type HuffEntry uint64

const (
	huffEnds = 64  // the bit of the advance that marks the end of the block
	huffRare = 128 // the advance of the other cases

	// huffMost is the most bits of an entry: after two of 56 bits, the index of
	// the next is known.
	huffMost = (56 - HuffBits) / 2
)

func (e HuffEntry) steps() uint  { return uint(e >> 16 & 0xFF) }
func (e HuffEntry) back() uint   { return uint(int8(e >> 24)) }
func (e HuffEntry) v1() int16    { return int16(e >> 32) }
func (e HuffEntry) at() uint     { return uint(e >> 48 & 0xFF) }
func (e HuffEntry) length() uint { return uint(e >> 56) }
func (e HuffEntry) ends() bool   { return e>>16&huffEnds != 0 }
func (e HuffEntry) rare() bool   { return e>>16&huffRare != 0 }

// huffValue returns T.81's EXTEND of the value bits of e's last step, of which
// there are some. acc starts with the entry's bits.
func huffValue(acc uint64, e HuffEntry) int16 {
	a, n := acc<<(e.at()&63), (e.at()-e.length())&63
	return int16(a>>n) - int16(^uint64(int64(a)>>63)>>n)
}

// huffDiff is huffValue for an entry of DC, which may have no value bits.
func huffDiff(acc uint64, e HuffEntry) int32 {
	a, n := acc<<(e.at()&63), uint(e>>24&63)
	return int32(a>>1>>n) - int32(^uint64(int64(a)>>63)>>1>>n)
}

// HuffTable decodes one Huffman table of T.81.
type HuffTable struct {
	Look [1 << HuffBits]HuffEntry
	// For codes of each length: Max is the largest code, or -1 without codes.
	// Offset is the index of the first code's symbol minus that code.
	Max    [17]int32
	Offset [17]int32
	Vals   [256]uint8
}

// HuffKind is the use of a table.
type HuffKind uint8

// The kinds.
const (
	HuffAC     HuffKind = iota // coefficients with the zeros before them
	HuffDC                     // differences
	HuffRefine                 // symbols alone: every entry is one of the other cases
)

// Build builds the table for counts[l] codes of l bits with the symbols vals,
// in order. The counts must be valid for their lengths.
func (t *HuffTable) Build(counts *[17]uint8, vals *[256]uint8, kind HuffKind) {
	t.Vals = *vals
	look, most := t.Look[:], HuffBits
	if kind == HuffDC {
		look, most = t.Look[:1<<huffBitsDC], huffBitsDC
	}
	code, p, i := int32(0), 0, 0
	t.Max[0] = -1
	for l := 1; l <= 16; l++ {
		n := int(counts[l])
		t.Offset[l] = int32(p) - code
		if t.Max[l] = -1; n > 0 {
			t.Max[l] = code + int32(n) - 1
		}
		if l <= most {
			for _, sym := range vals[p : p+n] {
				fill(look[i:i+1<<(most-l)], newHuffEntry(uint(l), uint(sym), kind))
				i += 1 << (most - l)
			}
		}
		code, p = (code+int32(n))<<1, p+n
	}
	fill(look[i:], huffSteps(0, 0, huffRare, 0, 0))
	if kind == HuffAC {
		t.pair()
	}
}

func fill(l []HuffEntry, e HuffEntry) {
	for i := range l {
		l[i] = e
	}
}

// newHuffEntry returns the entry of a code of l bits, as one step.
func newHuffEntry(l, sym uint, kind HuffKind) HuffEntry {
	run, size := sym>>4, sym&15
	switch {
	case kind == HuffDC && l+sym <= huffMost:
		return huffSteps(l+sym, l, 0, 63-sym, 0)
	case kind == HuffAC && sym == 0:
		// Without a value, the step stores a zero in the next coefficient.
		return huffSteps(l, 0, huffEnds, 1, 0)
	case kind == HuffAC && size > 0 && l+size <= huffMost:
		return huffSteps(l+size, l, run+1, 0, 0)
	}
	return huffSteps(l, 0, huffRare, 0, int16(sym))
}

// huffSteps returns the entry with these fields.
func huffSteps(length, at, steps, back uint, v1 int16) HuffEntry {
	return HuffEntry(64-HuffBits-length|HuffBits<<8|steps<<16) | HuffEntry(back&0xFF)<<24 |
		HuffEntry(uint16(v1))<<32 | HuffEntry(at)<<48 | HuffEntry(length)<<56
}

// pair adds second steps.
func (t *HuffTable) pair() {
	one := t.Look
	for i, e := range &one {
		l := e.length()
		if e.ends() || e.rare() || l >= HuffBits {
			continue
		}
		f := one[i<<l&(1<<HuffBits-1)]
		first := huffValue(uint64(i)<<(64-HuffBits), e)
		switch all := l + f.length(); {
		case f.rare():
		case f.ends() && all <= HuffBits:
			t.Look[i] = huffSteps(all, e.steps(), e.steps()+huffEnds, 0, first)
		case !f.ends() && l+f.at() <= HuffBits && all <= huffMost:
			t.Look[i] = huffSteps(all, l+f.at(), e.steps()+f.steps(), -f.steps(), first)
		}
	}
}

// extend is T.81's EXTEND: the value whose s low bits are r, s > 0.
func extend(r int32, s uint) int32 {
	if r < 1<<(s-1) {
		return r - (1<<s - 1)
	}
	return r
}

// symbol decodes the symbol whose code is at the top of acc and returns the
// code's length. e is its entry, if that is of the other cases, or 0. An
// invalid code has length 17 and symbol 0.
func (t *HuffTable) symbol(acc uint64, e HuffEntry) (symbol, length uint) {
	if l := e.length(); l != 0 {
		return uint(e>>32) & 0xFF, l
	}
	l := uint(1)
	if e != 0 {
		l = huffBitsDC + 1 // right for both kinds
	}
	for ; l <= 16; l++ {
		if code := int32(acc >> (64 - l)); code <= t.Max[l] {
			return uint(t.Vals[uint8(code+t.Offset[l])]), l
		}
	}
	return 0, 17
}

// HuffTarget is one block of an MCU: its tables and the destination of its
// coefficients.
type HuffTarget struct {
	DC, AC *HuffTable
	Blocks [][64]int16 // a row of blocks, starting with MCU 0
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

	// Marks, if not nil, receives the place in Buf of the first bit of each MCU
	// that Decode decodes.
	Marks []uint32

	Places *Places // of the coefficients in the blocks that Decode writes
}

// HuffBlockBytes is an upper bound of the bytes of a block plus the bytes
// fetched ahead.
const HuffBlockBytes = 512

// Decode decodes MCUs from X on into blocks that are zero, until X is Limit or
// Pos exceeds Stop. Buf must have MCU*HuffBlockBytes bytes from Stop on.
func (r *HuffReader) Decode() {
	if r.X >= r.Limit || r.Pos > r.Stop {
		return
	}
	if huffDecode(r) {
		return
	}
	buf, pos, acc, n, places := r.Buf, r.Pos, r.Acc, r.N, r.Places
	for ; r.X < r.Limit && pos <= r.Stop; r.X++ {
		if r.Marks != nil {
			r.Marks[r.X] = uint32(8*pos) - uint32(n&63)
		}
		for b := range r.MCU {
			to := &r.To[b]
			i := r.X * to.Step
			blk, dc, ac := &to.Blocks[i], to.DC, to.AC
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
			e := dc.Look[acc>>(64-huffBitsDC)]
			diff, l := int32(0), e.length()
			if !e.rare() {
				diff = huffDiff(acc, e)
			} else {
				var s uint
				s, l = dc.symbol(acc, e)
				if s &= 15; s != 0 {
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
				// 56 bits are enough for two look-ups.
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
				pos += int((63 - n) >> 3)
				n |= 56

				e = ac.Look[acc>>(64-HuffBits)]
				if k+e.steps() > 63 {
					goto special
				}
				k += e.steps()
				blk[places.At(k+e.back())] = e.v1()
				blk[places.At(k)] = huffValue(acc, e)
				acc <<= e.length() & 63
				n -= e.length()

				e = ac.Look[acc>>(64-HuffBits)]
				if k+e.steps() > 63 {
					goto special
				}
				k += e.steps()
				blk[places.At(k+e.back())] = e.v1()
				blk[places.At(k)] = huffValue(acc, e)
				acc <<= e.length() & 63
				n -= e.length()

				continue

			special:
				k2 := k + e.steps()
				if e.ends() && k+e.at() <= 63 {
					blk[places.At(k2+e.back()-huffEnds)] = e.v1()
					k += e.at()
					acc <<= e.length() & 63
					n -= e.length()
					break
				}
				if !e.rare() && !e.ends() && (e.back() == 0 || k2+e.back() <= 63) {
					blk[places.At(k2+e.back())] = e.v1()
					blk[places.At(k2)] = huffValue(acc, e)
					k = k2
					acc <<= e.length() & 63
					n -= e.length()
					break
				}
				if !e.rare() {
					e = 0 // of two steps, the first alone
				}
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (n & 63)
				pos += int((63 - n) >> 3)
				n |= 56
				s, l := ac.symbol(acc, e)
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
				blk[places.At(k)] = int16(extend(int32(acc>>((64-s)&63)), s))
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
