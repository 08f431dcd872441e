package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tapsBits is kernel.TapsBits.
const tapsBits = 22

var _ = add("resample", resample)

func resample() {
	l := &long{round1: dwords("resample_round", 1<<(tapsBits-1))}
	for _, k := range []kind{l, &short{}} {
		resampleRows(k, ymm, 3, 2)
		resampleRows(k, ymm, 4, 2)
		resampleColumns(k, false)
		resamplePlanes(k)
	}
	for _, k := range []kind{l, &short{dot: true}} {
		resampleRows(k, zmm, 3, 4)
		resampleRows(k, zmm, 4, 4)
		resampleColumns(k, true)
	}
	resampleRows(&short{}, ymm, 3, 4)
	resampleGroups(l, 2)
	resampleGroups(&short{dot: true}, 1)
}

// kind is the form of the weights.
type kind interface {
	// name is part of the functions' names.
	name() string
	// level is the extension of AVX-512 that the wide functions need.
	level() string
	// parameter is the last one of the functions, or empty.
	parameter() string
	// shift is the binary logarithm of the bytes of a block of four weights.
	shift() uint64
	// begin loads what a function needs, for vectors that v makes.
	begin(v func() VecVirtual)
	// weights returns the weights of a half block, to be multiplied several
	// times or, if once is set, only one time.
	weights(v func() VecVirtual, at Mem, half int, once bool) []Op
	// quads returns the weights of a block, in quadwords.
	quads(at Mem) []Op
	// multiply adds products to the sums. It makes the sums, with the rounding
	// unless bare is set, if they are nil.
	multiply(v func() VecVirtual, words VecVirtual, weights []Op, sums *[]VecVirtual, bare bool)
	// round adds the rounding to the first sum.
	round(sums []VecVirtual)
	// join adds the sums into the first, and down shifts it. end does both.
	join(sums []VecVirtual)
	down(sums []VecVirtual)
	end(sums []VecVirtual)
}

// long are weights of tapsBits bits, as low and high halves.
type long struct {
	round1 Mem
	rounds VecVirtual
}

func (*long) name() string              { return "" }
func (*long) level() string             { return "AVX512" }
func (*long) parameter() string         { return "" }
func (*long) shift() uint64             { return 4 }
func (k *long) round(sums []VecVirtual) { VPADDD(k.rounds, sums[0], sums[0]) }

func (k *long) begin(v func() VecVirtual) {
	k.rounds = v()
	VPBROADCASTD(k.round1, k.rounds)
}

func (*long) weights(v func() VecVirtual, at Mem, half int, _ bool) []Op {
	l := []Op{v(), v()}
	for i, to := range l {
		from := at
		from.Disp += 4*half + 8*i
		VPBROADCASTD(from, to)
	}
	return l
}

func (k *long) multiply(v func() VecVirtual, words VecVirtual, weights []Op, sums *[]VecVirtual, bare bool) {
	multiply(k, v, words, weights, sums, bare)
}

func (*long) quads(at Mem) []Op {
	l := []Op{YMM(), YMM()}
	for i, to := range l {
		from := at
		from.Disp += 8 * i
		VPBROADCASTQ(from, to)
	}
	return l
}

// join adds the sums for the two halves of the weights, hi<<16.
func (*long) join(sums []VecVirtual) {
	lo, hi := sums[0], sums[1]
	VPSLLD(U8(16), hi, hi)
	VPADDD(hi, lo, lo)
}

func (*long) down(sums []VecVirtual) { VPSRAD(U8(tapsBits), sums[0], sums[0]) }

func (k *long) end(sums []VecVirtual) {
	k.join(sums)
	k.down(sums)
}

// short are weights of 16 bits, with a number of fractional bits that is a
// parameter.
type short struct {
	dot    bool // with AVX-512's dot products
	bits   VecVirtual
	rounds VecVirtual
}

func (*short) name() string              { return "Short" }
func (*short) level() string             { return "VNNI" }
func (*short) parameter() string         { return ", bits int" }
func (*short) shift() uint64             { return 3 }
func (k *short) round(sums []VecVirtual) { VPADDD(k.rounds, sums[0], sums[0]) }
func (*short) join([]VecVirtual)         {}
func (k *short) down(sums []VecVirtual)  { VPSRAD(k.bits, sums[0], sums[0]) }
func (k *short) end(sums []VecVirtual)   { k.down(sums) }

func (*short) quads(at Mem) []Op {
	w := YMM()
	VPBROADCASTQ(at, w)
	return []Op{w}
}

func (k *short) begin(v func() VecVirtual) {
	bits, one, x := Load(Param("bits"), GP64()), GP64(), XMM()
	k.bits, k.rounds = x, v()
	VMOVQ(bits, x)
	MOVL(U32(1), one.As32())
	y := XMM()
	VMOVD(one.As32(), y)
	VPBROADCASTD(y, k.rounds)
	VPSLLD(x, k.rounds, k.rounds)
	VPSRLD(U8(1), k.rounds, k.rounds)
}

func (k *short) weights(v func() VecVirtual, at Mem, half int, once bool) []Op {
	at.Disp += 4 * half
	if k.dot && once {
		return []Op{at}
	}
	w := v()
	VPBROADCASTD(at, w)
	return []Op{w}
}

func (k *short) multiply(v func() VecVirtual, words VecVirtual, weights []Op, sums *[]VecVirtual, bare bool) {
	if !k.dot {
		multiply(k, v, words, weights, sums, bare)
		return
	}
	if *sums == nil {
		*sums = []VecVirtual{v()}
		VMOVDQA64(k.rounds, (*sums)[0])
	}
	if at, ok := weights[0].(Mem); ok {
		VPDPWSSD_BCST(at, words, (*sums)[0])
	} else {
		VPDPWSSD(weights[0], words, (*sums)[0])
	}
}

func ymm() VecVirtual { return YMM() }
func zmm() VecVirtual { return ZMM() }

// multiply is kind.multiply without dot products.
func multiply(k kind, v func() VecVirtual, words VecVirtual, weights []Op, sums *[]VecVirtual, bare bool) {
	var products []VecVirtual
	for _, w := range weights {
		to := v()
		VPMADDWD(w, words, to)
		products = append(products, to)
	}
	if *sums != nil {
		for i, p := range products {
			VPADDD(p, (*sums)[i], (*sums)[i])
		}
		return
	}
	if *sums = products; !bare {
		k.round(products)
	}
}

// group writes a loop over n outputs in groups of size outputs; n is size or
// more. It may compute some of the last group twice. move sets the pointers for
// output x, which is in a register.
func group(size int, move, body func(x Register)) {
	x := GP64()
	XORQ(x, x)
	Label("group")
	move(x)
	body(x)
	ADDQ(U8(size), x)
	n, left := GP64(), GP64()
	Load(Param("n"), n)
	MOVQ(n, left)
	SUBQ(x, left)
	JLE(LabelRef("done"))
	CMPQ(left, U8(size))
	JGE(LabelRef("group"))
	LEAQ(Mem{Base: n, Disp: -size}, x)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// rowMasks and rowJoin are the constants of resampleRows, which its variants
// share.
var (
	rowMasks = map[int][2]Mem{}
	rowJoin  Mem
)

func rowConstants(ch int) {
	if _, ok := rowMasks[ch]; ok {
		return
	}
	name := map[int]string{3: "resampleRGB", 4: "resampleRGBA"}[ch]
	// The masks place the channels of two adjacent pixels side by side as
	// words: pixels 0 and 1, 2 and 3.
	var masks [2]Mem
	for half := range masks {
		masks[half] = GLOBL(name+[]string{"_01", "_23"}[half], 8|16)
		for i := range 32 {
			c, px, v := i%16/4, 2*half+i%4/2, 0x80
			if i%2 == 0 && c < ch {
				v = px*ch + c
			}
			DATA(i, U8(v))
		}
	}
	rowMasks[ch] = masks
	if ch == 3 {
		rowJoin = GLOBL(name+"_join", 8|16)
		for i := range 32 {
			v := 0x80
			if i%16 < 12 {
				v = i%16/3*4 + i%16%3
			}
			DATA(i, U8(v))
		}
	}
}

// resampleRows is the horizontal pass of rows of pixels of 3 or 4 channels: one
// row per lane, one channel per dword. Two rows have a vector of AVX2, four
// have one of AVX-512 or two of AVX2.
func resampleRows(k kind, vec func() VecVirtual, ch, rows int) {
	rowConstants(ch)
	name := map[int]string{3: "resampleRGB", 4: "resampleRGBA"}[ch] + k.name()
	wide := vec().Size() == 64
	vectors, count := 1, "two"
	if rows == 4 {
		count = "four"
	}
	switch {
	case wide:
		name += k.level()
	case rows == 4:
		name += "4AVX2"
		vectors = 2
	default:
		name += "AVX2"
	}
	each := rows / vectors // rows of a vector
	if rows == 4 {
		TEXT(name, NOSPLIT, "func(dst, src *[4]*byte, start, w *int32, n, blocks, parts int"+k.parameter()+")")
	} else {
		TEXT(name, NOSPLIT, "func(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks, parts int"+k.parameter()+")")
	}
	Pragma("noescape")
	Doc(name+" resamples "+count+" rows to n pixels, 4 or more, with blocks of 4 packed",
		"weights per output. It uses the first parts pairs of weights and reads 16 bytes per block.")
	var dst, src []Register
	if rows == 4 {
		s := pointers("src")
		src = s[:]
	} else {
		dst = []Register{Load(Param("dst0"), GP64()), Load(Param("dst1"), GP64())}
		src = []Register{Load(Param("src0"), GP64()), Load(Param("src1"), GP64())}
	}
	start, blocks := Load(Param("start"), GP64()), Load(Param("blocks"), GP64())
	SHLQ(U8(k.shift()), blocks)
	parts := Load(Param("parts"), GP64())
	output, weights := GP64(), GP64()
	mask := []VecVirtual{vec(), vec()}
	for i, m := range mask {
		if wide {
			VBROADCASTI64X4(rowMasks[ch][i], m)
		} else {
			VMOVDQU(rowMasks[ch][i], m)
		}
	}
	var join Op = rowJoin
	if ch == 3 && wide {
		j := vec()
		VBROADCASTI64X4(rowJoin, j)
		join = j
	}
	var stored Register // the dwords of a lane that are stored
	if wide && ch == 3 {
		stored = K()
		ones := GP32()
		MOVL(U32(7), ones)
		KMOVW(ones, stored)
	}
	k.begin(vec)
	group(4, func(x Register) {
		toWeights(x, blocks, output)
	}, func(x Register) {
		out, px := make([][4]VecVirtual, vectors), make([]VecVirtual, vectors)
		for j := range px {
			px[j] = vec()
		}
		for i := range 4 {
			off, left := GP64(), GP64()
			MOVLQSX(Mem{Base: start, Index: x, Scale: 4, Disp: 4 * i}, off)
			if ch == 3 {
				LEAQ(Mem{Base: off, Index: off, Scale: 2}, off)
			} else {
				SHLQ(U8(2), off)
			}
			if i == 0 {
				// Prefetch the next rows, assuming that rows are adjacent. A
				// row is too short for the hardware prefetcher, and the loop
				// would wait for memory.
				next := GP64()
				MOVQ(src[rows-1], next)
				for range rows {
					SUBQ(src[0], next)
					ADDQ(src[1], next)
					PREFETCHT0(Mem{Base: next, Index: off, Scale: 1})
				}
			}
			MOVQ(output, weights)
			ADDQ(blocks, output)
			MOVQ(parts, left)
			end, more := "end"+string(rune('0'+i)), "more"+string(rune('0'+i))
			pixels := func() {
				for j, p := range px {
					s := src[j*each:]
					VMOVDQU(Mem{Base: s[0], Index: off, Scale: 1}, p.AsX())
					if !wide {
						VINSERTI128(U8(1), Mem{Base: s[1], Index: off, Scale: 1}, p, p)
						continue
					}
					for r := 1; r < each; r++ {
						VINSERTI32X4(U8(r), Mem{Base: s[r], Index: off, Scale: 1}, p, p)
					}
				}
			}
			sums := make([][]VecVirtual, vectors)
			part := func(half int) {
				var w []Op
				for j, p := range px {
					words := vec()
					VPSHUFB(mask[half], p, words)
					if j == 0 {
						w = k.weights(vec, Mem{Base: weights}, half, vectors == 1)
					}
					k.multiply(vec, words, w, &sums[j], false)
				}
			}
			pixels()
			part(0)
			for j, s := range sums {
				out[j][i] = s[0]
			}
			DECQ(left)
			JZ(LabelRef(end))
			part(1)
			DECQ(left)
			JZ(LabelRef(end))
			Label(more)
			ADDQ(U8(4*ch), off)
			ADDQ(U8(1<<k.shift()), weights)
			pixels()
			part(0)
			DECQ(left)
			JZ(LabelRef(end))
			part(1)
			DECQ(left)
			JNZ(LabelRef(more))
			Label(end)
			for j, s := range sums {
				k.end(s)
				if i%2 == 1 {
					VPACKSSDW(out[j][i], out[j][i-1], out[j][i-1])
				}
			}
		}
		off := x
		if ch == 3 {
			off = GP64()
			LEAQ(Mem{Base: x, Index: x, Scale: 2}, off)
		}
		for j, o := range out {
			VPACKUSWB(o[2], o[0], o[0])
			if ch == 3 {
				VPSHUFB(join, o[0], o[0])
			}
			if wide {
				storeWide(o[0], ch, rows, off, stored)
				continue
			}
			second := XMM()
			VEXTRACTI128(U8(1), o[0], second)
			for i, v := range []Op{o[0].AsX(), second} {
				p := Register(nil)
				if rows == 4 {
					p = GP64()
					Load(Param("dst"), p)
					MOVQ(Mem{Base: p, Disp: 8 * (j*each + i)}, p)
				} else {
					p = dst[i]
				}
				if ch == 4 {
					VMOVDQU(v, Mem{Base: p, Index: off, Scale: 4})
					continue
				}
				VMOVQ(v, Mem{Base: p, Index: off, Scale: 1})
				VPEXTRD(U8(2), v, Mem{Base: p, Index: off, Scale: 1, Disp: 8})
			}
		}
	})
}

// storeWide stores the pixels of four rows.
func storeWide(v VecVirtual, ch, rows int, off, stored Register) {
	to := Load(Param("dst"), GP64())
	for i := range rows {
		p := GP64()
		MOVQ(Mem{Base: to, Disp: 8 * i}, p)
		if ch == 4 {
			VEXTRACTI32X4(U8(i), v, Mem{Base: p, Index: off, Scale: 4})
			continue
		}
		// A masked VEXTRACTI32X4 would fault at the end of a page.
		row := v.AsX()
		if i > 0 {
			row = XMM()
			VEXTRACTI32X4(U8(i), v, row)
		}
		VMOVDQU32(row, stored, Mem{Base: p, Index: off, Scale: 1})
	}
}

// resampleGroups is the horizontal pass of four rows of pixels of 3 channels,
// five outputs at a time: one output and channel per dword. One instruction
// picks the bytes of two taps of all five from 64 bytes of a row.
func resampleGroups(k kind, halves int) {
	name := "resampleGroups" + k.name() + "VBMI"
	TEXT(name, NOSPLIT, "func(dst, src *[4]*byte, start, table *int32, n, pairs int"+k.parameter()+")")
	Pragma("noescape")
	Doc(name+" resamples four rows to n pixels, 5 or more, with a table of", "Taps.groups. It reads 6*pairs+58 bytes per group of five.")
	src := pointers("src")
	start, table := Load(Param("start"), GP64()), Load(Param("table"), GP64())
	words, stored, ones := K(), K(), GP64()
	MOVQ(U64(0x5555555555555555), ones)
	KMOVQ(ones, words)
	MOVL(U32(0x7fff), ones.As32())
	KMOVW(ones.As32(), stored)
	if groupsTranspose == (Mem{}) {
		groupsTranspose = GLOBL("resampleGroups_transpose", 8|16)
		for i := range 16 {
			DATA(4*i, U32(uint32(i/4+i%4*4)))
		}
	}
	transpose := ZMM()
	VMOVDQU32(groupsTranspose, transpose)
	k.begin(zmm)
	off, left := GP64(), GP64()
	group(5, func(x Register) {
		MOVLQSX(Mem{Base: start, Index: x, Scale: 4}, off)
		LEAQ(Mem{Base: off, Index: off, Scale: 2}, off)
	}, func(x Register) {
		next := GP64()
		MOVQ(src[3], next) // prefetch the next rows, as in resampleRows
		for range 4 {
			SUBQ(src[0], next)
			ADDQ(src[1], next)
			PREFETCHT0(Mem{Base: next, Index: off, Scale: 1})
		}
		index := ZMM()
		VMOVDQU64(Mem{Base: table}, index)
		ADDQ(U8(64), table)
		var sums [4][]VecVirtual
		for i := range sums {
			for range halves {
				sum := ZMM()
				VPXORD(sum, sum, sum)
				sums[i] = append(sums[i], sum)
			}
			k.round(sums[i])
		}
		Load(Param("pairs"), left)
		Label("pair")
		var weights []VecVirtual
		for i := range halves {
			w := ZMM()
			VMOVDQU64(Mem{Base: table, Disp: 64 * i}, w)
			weights = append(weights, w)
		}
		for r, sum := range sums {
			px := ZMM()
			VPERMB_Z(Mem{Base: src[r], Index: off, Scale: 1}, index, words, px)
			for i, w := range weights {
				VPDPWSSD(w, px, sum[i])
			}
		}
		ADDQ(U8(6), off)
		ADDQ(I32(64*halves), table)
		DECQ(left)
		JNZ(LabelRef("pair"))

		for _, sum := range sums {
			k.end(sum)
		}
		out := sums[0][0]
		VPACKSSDW(sums[1][0], out, out)
		VPACKSSDW(sums[3][0], sums[2][0], sums[2][0])
		VPACKUSWB(sums[2][0], out, out)
		VPERMD(out, transpose, out)
		LEAQ(Mem{Base: x, Index: x, Scale: 2}, off)
		to := Load(Param("dst"), GP64())
		for i := range sums {
			p, row := GP64(), out.AsX()
			MOVQ(Mem{Base: to, Disp: 8 * i}, p)
			if i > 0 {
				row = XMM()
				VEXTRACTI32X4(U8(i), out, row)
			}
			VMOVDQU8(row, stored, Mem{Base: p, Index: off, Scale: 1})
		}
	})
}

// groupsTranspose is a constant of resampleGroups, which its variants share.
var groupsTranspose Mem

// toWeights sets weights to the weights of output x. size is the number of
// bytes per output.
func toWeights(x, size, weights Register) {
	w := GP64()
	Load(Param("w"), w)
	MOVQ(x, weights)
	IMULQ(size, weights)
	ADDQ(w, weights)
}

// resamplePlanes is the horizontal pass of four rows of one channel: two rows
// per lane, two partial sums per row.
func resamplePlanes(k kind) {
	name := "resampleGray" + k.name() + "AVX2"
	if planesJoin == (Mem{}) {
		planesJoin = GLOBL("resampleGray_join", 8|16)
		for i := range 32 {
			v := 0x80
			if i%16 < 8 {
				v = i%16/4 + 2*(i%4)
			}
			DATA(i, U8(v))
		}
	}
	TEXT(name, NOSPLIT, "func(dst, src *[4]*byte, start, w *int32, n, blocks int"+k.parameter()+")")
	Pragma("noescape")
	Doc(name+" resamples four rows to n pixels, 4 or more, with blocks of 4 packed",
		"weights per output. It reads 4 bytes per block.")
	src := pointers("src")
	blocks, size, weights := Load(Param("blocks"), GP64()), GP64(), GP64()
	MOVQ(blocks, size)
	SHLQ(U8(k.shift()), size)
	k.begin(ymm)
	group(4, func(x Register) {
		toWeights(x, size, weights)
	}, func(x Register) {
		var out [4][]VecVirtual
		for i := range out {
			off := GP64()
			Load(Param("start"), off)
			MOVLQSX(Mem{Base: off, Index: x, Scale: 4, Disp: 4 * i}, off)
			var sums []VecVirtual
			block := func() {
				px := YMM()
				VMOVD(Mem{Base: src[0], Index: off, Scale: 1}, px.AsX())
				for r := 1; r < 4; r++ {
					VPINSRD(U8(r), Mem{Base: src[r], Index: off, Scale: 1}, px.AsX(), px.AsX())
				}
				VPMOVZXBW(px.AsX(), px)
				w := k.quads(Mem{Base: weights})
				ADDQ(U8(1<<k.shift()), weights)
				k.multiply(ymm, px, w, &sums, true)
			}
			block()
			out[i] = sums
			end, more := "end"+string(rune('0'+i)), "more"+string(rune('0'+i))
			left := GP64()
			MOVQ(blocks, left)
			DECQ(left)
			JZ(LabelRef(end))
			Label(more)
			ADDQ(U8(4), off)
			block()
			DECQ(left)
			JNZ(LabelRef(more))
			Label(end)
			k.join(sums)
		}
		VPHADDD(out[1][0], out[0][0], out[0][0])
		VPHADDD(out[3][0], out[2][0], out[2][0])
		for i := 0; i < 4; i += 2 {
			k.round(out[i])
			k.down(out[i])
		}
		sum := out[0][0]
		VPACKSSDW(out[2][0], sum, sum)
		VPACKUSWB(sum, sum, sum)
		VPSHUFB(planesJoin, sum, sum)
		second := XMM()
		VEXTRACTI128(U8(1), sum, second)
		dst := GP64()
		Load(Param("dst"), dst)
		for i, v := range []VecVirtual{sum.AsX().(VecVirtual), second} {
			p := GP64()
			MOVQ(Mem{Base: dst, Disp: 16 * i}, p)
			VMOVD(v, Mem{Base: p, Index: x, Scale: 1})
			MOVQ(Mem{Base: dst, Disp: 16*i + 8}, p)
			VPEXTRD(U8(1), v, Mem{Base: p, Index: x, Scale: 1})
		}
	})
}

// planesJoin is the constant of resamplePlanes, which its variants share.
var planesJoin Mem

// resampleColumns is one row of the vertical pass, 32 bytes at a time, or 64
// with AVX-512.
func resampleColumns(k kind, wide bool) {
	name, vec, size := "resampleColumns"+k.name(), ymm, 32
	if wide {
		name, vec, size = name+k.level(), zmm, 64
	} else {
		name += "AVX2"
	}
	TEXT(name, NOSPLIT, "func(dst, src *byte, line int, w *int32, rows int"+k.parameter()+")")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s computes a row of line bytes, %d or more,", name, size),
		"as the weighted sum of rows, with packed weights.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	line, w, rows := Load(Param("line"), GP64()), Load(Param("w"), GP64()), Load(Param("rows"), GP64())
	zero := vec()
	if wide {
		VPXORD(zero, zero, zero)
	} else {
		VPXOR(zero, zero, zero)
	}
	k.begin(vec)
	x := GP64()
	XORQ(x, x)

	Label("chunk")
	var sums [4][]VecVirtual
	p, second, weights, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: src, Index: x, Scale: 1}, p)
	MOVQ(w, weights)
	MOVQ(rows, left)
	pair := func(half int) {
		// The row after the last one has weight 0, so any row will do.
		LEAQ(Mem{Base: p, Index: line, Scale: 1}, second)
		CMPQ(left, U8(1))
		CMOVQEQ(p, second)
		a, l, h := vec(), vec(), vec()
		if wide {
			VMOVDQU64(Mem{Base: p}, a)
		} else {
			VMOVDQU(Mem{Base: p}, a)
		}
		VPUNPCKLBW(Mem{Base: second}, a, l)
		VPUNPCKHBW(Mem{Base: second}, a, h)
		by := k.weights(vec, Mem{Base: weights}, half, false)
		for i := range sums {
			v, px := []VecVirtual{l, h}[i/2], vec()
			if i%2 == 0 {
				VPUNPCKLBW(zero, v, px)
			} else {
				VPUNPCKHBW(zero, v, px)
			}
			k.multiply(vec, px, by, &sums[i], false)
		}
		SUBQ(U8(2), left)
	}
	pair(0)
	JLE(LabelRef("store"))
	Label("more")
	LEAQ(Mem{Base: p, Index: line, Scale: 2}, p)
	pair(1)
	JLE(LabelRef("store"))
	LEAQ(Mem{Base: p, Index: line, Scale: 2}, p)
	ADDQ(U8(1<<k.shift()), weights)
	pair(0)
	JG(LabelRef("more"))

	Label("store")
	for i := range sums {
		k.end(sums[i])
	}
	out := sums[0][0]
	VPACKSSDW(sums[1][0], out, out)
	VPACKSSDW(sums[3][0], sums[2][0], sums[2][0])
	VPACKUSWB(sums[2][0], out, out)
	if wide {
		VMOVDQU64(out, Mem{Base: dst, Index: x, Scale: 1})
	} else {
		VMOVDQU(out, Mem{Base: dst, Index: x, Scale: 1})
	}
	ADDQ(U8(size), x)
	MOVQ(line, left)
	SUBQ(x, left)
	JLE(LabelRef("done"))
	CMPQ(left, U8(size))
	JGE(LabelRef("chunk"))
	LEAQ(Mem{Base: line, Disp: -size}, x)
	JMP(LabelRef("chunk"))
	Label("done")
	VZEROUPPER()
	RET()
}

// pointers loads the four pointers at a parameter.
func pointers(name string) (r [4]Register) {
	p := Load(Param(name), GP64())
	for i := range r {
		r[i] = GP64()
		MOVQ(Mem{Base: p, Disp: 8 * i}, r[i])
	}
	return r
}
