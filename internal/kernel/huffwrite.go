package kernel

import (
	"encoding/binary"
	"math/bits"
)

// A Token is a symbol and its value: bits 0 to 10 are the index of the symbol
// in HuffCodes, the others the value.
type Token uint32

// The indexes of tokens. DC tables 0 and 1 are followed by AC tables 0 and 1.
// TokenRaw+n has no symbol but a value of n bits, 0 to 16.
const (
	TokenDC  = 0
	TokenAC  = 512
	TokenRaw = 1024
)

// NewToken returns a token; see Token.
func NewToken(index uint, value uint32) Token { return Token(uint32(index) | value<<11) }

// HuffCodes holds the codes of tokens by their index. Bits 0 to 26 of an entry
// are the code, shifted left by the number of value bits that follow it. Bits
// 32 to 36 are the length of code and value together.
type HuffCodes [2048]uint64

// Build sets the codes of table n, by the order of tokens. Length l has
// counts[l] codes; the symbols vals take them in order. The counts must be
// valid for their lengths. The low four bits of a symbol are the number of
// value bits, at most 11.
func (t *HuffCodes) Build(n int, counts *[17]uint8, vals *[256]uint8) {
	table := t[256*n:][:256]
	clear(table)
	code, p := uint64(0), 0
	for l := 1; l <= 16; l++ {
		for range counts[l] {
			sym := vals[p]
			size := uint64(sym & 15)
			table[sym] = code<<size | (uint64(l)+size)<<32
			code++
			p++
		}
		code <<= 1
	}
	for n := range uint64(17) {
		t[TokenRaw+n] = n << 32
	}
}

// HuffBlockSpace is the space that HuffWriter.Block needs in Buf after N. The
// longest block has 64 codes of 27 bits, and a write stores eight bytes.
const HuffBlockSpace = 64*27/8 + 16

// HuffSource is one block of an MCU.
type HuffSource struct {
	Blocks [][64]int16 // a row of blocks, starting with MCU 0; natural order; AC coefficients are within ±1023, as those of 8-bit samples
	Masks  []uint64    // of the blocks; see HuffWriter.Block
	Step   int         // blocks from one MCU to the next
	Comp   int         // index into Pred of its DC predictor
	Table  int         // 0 or 1
}

// HuffWriter writes bits. The bytes are not stuffed.
type HuffWriter struct {
	Buf  []byte
	N    int    // bytes written to Buf
	acc  uint64 // the last bits
	bits uint   // number of bits in acc that are not in Buf[:N], 0 to 7

	Codes *HuffCodes

	// These fields are for Row.
	From  [10]HuffSource
	MCU   int // blocks in an MCU
	Pred  [4]int32
	X     int // index of the next MCU
	Limit int // index at which Row stops
	stop  int // Row starts no MCU beyond Buf[stop]
}

// Reset starts a new sequence of bits at the start of Buf.
func (w *HuffWriter) Reset() { w.N, w.acc, w.bits = 0, 0, 0 }

// Row writes the MCUs of a row from X on, until X is Limit or Buf has less than
// MCU*HuffBlockSpace bytes after N. It sets X.
func (w *HuffWriter) Row() {
	w.stop = len(w.Buf) - w.MCU*HuffBlockSpace
	if w.X >= w.Limit || w.N > w.stop {
		return
	}
	if huffRow(w) {
		return
	}
	for ; w.X < w.Limit && w.N <= w.stop; w.X++ {
		for i := range w.From[:w.MCU] {
			s := &w.From[i]
			b := &s.Blocks[w.X*s.Step]
			dc := int32(b[0])
			diff := dc - w.Pred[s.Comp]
			w.Pred[s.Comp] = dc
			w.Block(b, s.Masks[w.X*s.Step], diff, s.Table)
		}
	}
}

// Put writes the n low bits of v, whose other bits are zero. n is at most 32.
// Buf must have eight bytes after N.
func (w *HuffWriter) Put(v uint32, n uint) {
	w.acc = w.acc<<n | uint64(v)
	w.bits += n
	binary.BigEndian.PutUint64(w.Buf[w.N:], w.acc<<(64-w.bits))
	w.N += int(w.bits >> 3)
	w.bits &= 7
}

// Pad fills the last byte with ones. Buf must have eight bytes after N.
func (w *HuffWriter) Pad() {
	if w.bits > 0 {
		n := 8 - w.bits
		w.Put(1<<n-1, n)
	}
	w.acc = 0
}

// Block writes a block in the sequential mode with tables n: the DC difference
// diff, and the AC coefficients of block, which is in natural order. Bit k of
// mask is set if coefficient k in zigzag order is not zero; bit 0 is ignored.
func (w *HuffWriter) Block(block *[64]int16, mask uint64, diff int32, n int) {
	buf := w.Buf[w.N:][:HuffBlockSpace]
	dc, ac := (*[256]uint64)(w.Codes[TokenDC+256*n:]), (*[256]uint64)(w.Codes[TokenAC+256*n:])
	at, acc, nb := 0, w.acc, w.bits
	put := func(e uint64, v uint32) {
		n := uint(e >> 32)
		acc = acc<<(n&63) | uint64(uint32(e)|v)
		nb += n
		binary.BigEndian.PutUint64(buf[at:], acc<<(64-nb))
		at += int(nb >> 3)
		nb &= 7
	}
	size, v := valueBits(diff)
	put(dc[uint8(size)], v)
	before := 0 // index of the coefficient before
	for mask &^= 1; mask != 0; mask &= mask - 1 {
		k := bits.TrailingZeros64(mask)
		run := k - before - 1
		before = k
		for run > 15 {
			put(ac[0xF0], 0)
			run -= 16
		}
		size, v := valueBits(int32(block[NaturalOrder[k&63]&63]))
		put(ac[uint8(uint(run)<<4|size)], v)
	}
	if before != 63 {
		put(ac[0], 0)
	}
	w.N, w.acc, w.bits = w.N+at, acc, nb
}

// valueBits returns the size category of v and its value bits.
func valueBits(v int32) (size uint, low uint32) {
	sign := v >> 31
	v += sign
	size = uint(bits.Len32(uint32(v ^ sign)))
	return size, uint32(v) & (1<<size - 1)
}

// Tokens writes tokens. Buf must have 4*len(l)+8 bytes after N.
func (w *HuffWriter) Tokens(l []Token) {
	buf, codes := w.Buf[w.N:][:4*len(l)+8], w.Codes
	at, acc, nb := 0, w.acc, w.bits
	for _, t := range l {
		e := codes[t&2047]
		n := uint(e >> 32)
		acc = acc<<(n&63) | uint64(uint32(e)|uint32(t)>>11)
		nb += n
		binary.BigEndian.PutUint64(buf[at:], acc<<(64-nb))
		at += int(nb >> 3)
		nb &= 7
	}
	w.N, w.acc, w.bits = w.N+at, acc, nb
}

// HuffCounts counts tokens by their index.
type HuffCounts [2048]int64

// BlockTokens is the largest number of tokens of a block in sequential mode.
const BlockTokens = 64

// Block writes the tokens of a block in the sequential mode to the start of l
// and counts them; see HuffWriter.Block. The symbols are those of DC table n
// and AC table n, 0 or 1. It returns the number of tokens. l must have
// BlockTokens elements.
func (c *HuffCounts) Block(l []Token, block *[64]int16, mask uint64, diff int32, n uint) int {
	_ = l[:BlockTokens]
	at, ac := c.DC(l, diff, n), TokenAC|n&1<<8
	before := 0
	for mask &^= 1; mask != 0; mask &= mask - 1 {
		k := bits.TrailingZeros64(mask)
		run := k - before - 1
		before = k
		for run > 15 {
			c[ac|0xF0]++
			l[at] = NewToken(ac|0xF0, 0)
			at++
			run -= 16
		}
		size, v := valueBits(int32(block[NaturalOrder[k&63]&63]))
		i := ac | uint(run)<<4 | size&15
		c[i]++
		l[at] = NewToken(i, v)
		at++
	}
	if before != 63 {
		c[ac]++
		l[at] = NewToken(ac, 0)
		at++
	}
	return at
}

// DC writes the token of a DC difference to the start of l and counts it. The
// symbol is that of DC table n, 0 or 1. It returns 1, the number of tokens.
func (c *HuffCounts) DC(l []Token, diff int32, n uint) int {
	size, v := valueBits(diff)
	i := n&1<<8 | size&15
	c[i]++
	l[0] = NewToken(i, v)
	return 1
}
