package kernel

import (
	"encoding/binary"
	"math/bits"
)

// VP8Reader decodes the bits of a partition of VP8 (RFC 6386, section 7).
type VP8Reader struct {
	Buf   []byte
	Pos   int
	Value uint64 // the next bits of Buf, the first one highest; zeros after them
	Range uint64 // the range minus 1
	Bits  int    // the number of valid bits in Value, minus 8
	// Ended reports that a bit was read when fewer than 8 bits were left, which
	// libwebp takes for the end of the data.
	Ended bool
}

// Init starts to read buf.
func (r *VP8Reader) Init(buf []byte) {
	*r = VP8Reader{Buf: buf, Range: 254, Bits: -8}
	r.fill()
}

// fill adds bits; Bits is negative.
func (r *VP8Reader) fill() {
	if n := len(r.Buf); r.Pos <= n-8 {
		r.Value |= binary.BigEndian.Uint64(r.Buf[r.Pos:]) >> 8 << (uint(-r.Bits) & 63)
		r.Pos += 7
		r.Bits += 56
		return
	}
	r.fillByte()
}

func (r *VP8Reader) fillByte() {
	if r.Pos < len(r.Buf) {
		r.Value |= uint64(r.Buf[r.Pos]) << (uint(48-r.Bits) & 63)
		r.Pos++
	} else {
		r.Ended = true
	}
	r.Bits += 8
}

// Bit reads a bit that is 0 with a probability of prob/256.
func (r *VP8Reader) Bit(prob uint8) int {
	if r.Bits < 0 {
		r.fill()
	}
	split := r.Range*uint64(prob)>>8 + 1
	bit := 0
	rest := split
	if r.Value >= split<<56 {
		r.Value -= split << 56
		rest = r.Range + 1 - split
		bit = 1
	}
	shift := bits.LeadingZeros8(uint8(rest))
	r.Range = rest<<shift - 1
	r.Value <<= shift
	r.Bits -= shift
	return bit
}

// Uint reads a number of n bits, the highest one first.
func (r *VP8Reader) Uint(n int) int {
	v := 0
	for range n {
		v = v<<1 | r.Bit(128)
	}
	return v
}

// Int reads a number of n bits and its sign.
func (r *VP8Reader) Int(n int) int {
	v := r.Uint(n)
	if r.Bit(128) != 0 {
		return -v
	}
	return v
}

// VP8Probs holds the probabilities of a plane's tokens by the position of a
// coefficient and the context. Those of position 16 are never read. They are in
// the highest 16 bits, where the assembly multiplies them.
type VP8Probs [17][3][12]uint64

// Set sets a probability.
func (p *VP8Probs) Set(position, context, i int, prob uint8) {
	p[position][context][i] = uint64(prob) << 48
}

// The order of the blocks of a macroblock.
const (
	VP8Y2     = 0 // the means of the luma blocks, if they are stored apart
	VP8Luma   = 1 // 4 x 4 blocks
	VP8Chroma = 17
	VP8Blocks = 25
)

// VP8Large is a bit of VP8Macroblock.Bits. Without it and those above, the
// coefficients are below 4096.
const VP8Large = 1 << 12

// VP8Macroblock holds the coefficients of a macroblock.
type VP8Macroblock struct {
	// Probs are those of luma without means, means, chroma and whole luma.
	Probs *[4]VP8Probs
	// Quant are the steps of means, luma and chroma: for the first coefficient
	// and for the others.
	Quant *[3][2]int32
	// Above and Left are 1 for neighbouring blocks with coefficients: 4 of
	// luma, 2 of each chroma plane, and the means. The rest is 0.
	Above *[16]uint8
	Left  [16]uint8
	Y2    bool // whether the means are stored apart
	// Bits is the or of the coefficients' absolute values.
	Bits int
	// Count is the number of coefficients of a block up to the last one that
	// is not zero.
	Count [32]uint8
	// Coef must be zero before Read.
	Coef [VP8Blocks][16]int16
}

// vp8Zigzag is the order of the coefficients in the file.
var vp8Zigzag = [16]uint8{0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15}

// vp8Above and vp8Left are the positions of the blocks' contexts.
var (
	vp8Above = [VP8Blocks]uint8{8, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7}
	vp8Left  = [VP8Blocks]uint8{8, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}
)

// vp8Extra are the probabilities of the bits of large values (section 13.2).
var vp8Extra = [4][12]uint8{
	{173, 148, 140},
	{176, 155, 140, 135},
	{180, 157, 141, 134, 130},
	{254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129},
}

// Read reads the coefficients, already multiplied by their steps. Products keep
// their lowest 16 bits.
func (m *VP8Macroblock) Read(r *VP8Reader) {
	if vp8Read(m, r) {
		return
	}
	m.read(r)
}

func (m *VP8Macroblock) read(r *VP8Reader) {
	m.Bits = 0
	first, probs, quant := 0, &m.Probs[1], &m.Quant[0]
	i := VP8Y2
	if !m.Y2 {
		i = VP8Luma
		m.Count[0] = 0
	}
	for ; i < VP8Blocks; i++ {
		switch i {
		case VP8Luma:
			quant = &m.Quant[1]
			if probs = &m.Probs[3]; m.Y2 {
				first, probs = 1, &m.Probs[0]
			}
		case VP8Chroma:
			first, probs, quant = 0, &m.Probs[2], &m.Quant[2]
		}
		above, left := &m.Above[vp8Above[i]], &m.Left[vp8Left[i]]
		n := m.block(r, &m.Coef[i], probs, int(*above+*left), first, quant)
		m.Count[i] = uint8(n)
		has := uint8(0)
		if n > first {
			has = 1
		}
		*above, *left = has, has
	}
}

// Empty reports whether no block but that of means has residuals.
func (m *VP8Macroblock) Empty() bool {
	const more = 0xFEFEFEFEFEFEFEFE // bits of counts above 1
	c := m.Count[VP8Luma:VP8Blocks]
	if (binary.LittleEndian.Uint64(c)|binary.LittleEndian.Uint64(c[8:])|binary.LittleEndian.Uint64(c[16:]))&more != 0 {
		return false
	}
	for i := VP8Luma; i < VP8Blocks; i++ {
		if m.Coef[i][0] != 0 {
			return false
		}
	}
	return true
}

// vp8Step reads a bit. The caller has checked that there are enough. It is
// small enough to be inlined.
func vp8Step(value, span, prob uint64) (uint64, uint64, int, bool) {
	part := span*(prob>>48)>>8 + 1
	one := value >= part<<56
	if one {
		value -= part << 56
		part = span + 1 - part
	}
	shift := bits.LeadingZeros8(uint8(part))
	return value << (shift & 63), part<<(shift&63) - 1, shift, one
}

// block reads one block from coefficient n on.
func (m *VP8Macroblock) block(r *VP8Reader, coef *[16]int16, probs *VP8Probs, context, n int, quant *[2]int32) int {
	value, span, left := r.Value, r.Range, r.Bits // of r
	var shift int
	var one bool
	p := &probs[n&15][context]
coefficients:
	for n < 16 {
		if left < 0 {
			value, left = r.more(value, left)
		}
		value, span, shift, one = vp8Step(value, span, p[0])
		left -= shift
		if !one {
			break
		}
		for {
			if left < 0 {
				value, left = r.more(value, left)
			}
			value, span, shift, one = vp8Step(value, span, p[1])
			left -= shift
			if one {
				break
			}
			n++
			if n == 16 {
				break coefficients
			}
			p = &probs[n][0]
		}
		if left < 0 {
			value, left = r.more(value, left)
		}
		value, span, shift, one = vp8Step(value, span, p[2])
		left -= shift
		v := 1
		next := &probs[n+1]
		if one {
			r.Value, r.Range, r.Bits = value, span, left
			v = r.large(p)
			value, span, left = r.Value, r.Range, r.Bits
			p = &next[2]
		} else {
			p = &next[1]
		}
		step := quant[1]
		if n == 0 {
			step = quant[0]
		}
		v *= int(step)
		m.Bits |= v
		if left < 0 {
			value, left = r.more(value, left)
		}
		value, span, shift, one = vp8Step(value, span, 128<<48)
		left -= shift
		if one {
			v = -v
		}
		coef[vp8Zigzag[n&15]] = int16(v)
		n++
	}
	r.Value, r.Range, r.Bits = value, span, left
	return n
}

// more is fill for a caller that holds the fields that it changes.
func (r *VP8Reader) more(value uint64, left int) (uint64, int) {
	r.Value, r.Bits = value, left
	r.fill()
	return r.Value, r.Bits
}

// large reads a value of at least 2.
func (r *VP8Reader) large(p *[12]uint64) int {
	bit := func(i int) int { return r.Bit(uint8(p[i] >> 48)) }
	if bit(3) == 0 {
		if bit(4) == 0 {
			return 2
		}
		return 3 + bit(5)
	}
	if bit(6) == 0 {
		if bit(7) == 0 {
			return 5 + r.Bit(159)
		}
		v := 7 + 2*r.Bit(165)
		return v + r.Bit(145)
	}
	kind := bit(8)
	kind = 2*kind + bit(9+kind)
	v := 0
	for _, prob := range vp8Extra[kind] {
		if prob == 0 {
			break
		}
		v = 2*v + r.Bit(prob)
	}
	return v + 3 + 8<<kind
}

// VP8ModeProbs are the probabilities of the modes of blocks of 4x4 samples, by
// the modes above and to the left.
type VP8ModeProbs [10][10][9]uint8

// VP8Modes reads the modes of the 16 blocks of a macroblock (RFC 6386, section
// 11.2). Each is coded as the path to it in a tree. above and left are the
// modes of the neighbours, below 10. They become the modes at the macroblock's
// lower and right edge.
func VP8Modes(r *VP8Reader, probs *VP8ModeProbs, above, left *[4]uint8, modes *[16]uint8) {
	if vp8Modes(r, probs, above, left, modes) {
		return
	}
	for i := range modes {
		a, l := &above[i%4], &left[i/4]
		modes[i] = r.mode(&probs[*a][*l])
		*a, *l = modes[i], modes[i]
	}
}

func (r *VP8Reader) mode(p *[9]uint8) uint8 {
	switch {
	case r.Bit(p[0]) == 0:
		return 0
	case r.Bit(p[1]) == 0:
		return 1
	case r.Bit(p[2]) == 0:
		return 2
	case r.Bit(p[3]) == 0:
		if r.Bit(p[4]) == 0 {
			return 3
		}
		return 4 + uint8(r.Bit(p[5]))
	case r.Bit(p[6]) == 0:
		return 6
	case r.Bit(p[7]) == 0:
		return 7
	}
	return 8 + uint8(r.Bit(p[8]))
}
