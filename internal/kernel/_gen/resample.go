package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tapsBits is kernel.TapsBits.
const tapsBits = 22

var _ = add("resample", resample)

func resample() {
	round := dwords("resample_round", 1<<(tapsBits-1))
	resampleRows(round, 3)
	resampleRows(round, 4)
	resamplePlanes(round)
	resampleColumns(round)
}

// group writes a loop over n outputs in groups of four; n is 4 or more. It may
// compute some of the last four twice. move sets the pointers for output x,
// which is in a register.
func group(move, body func(x Register)) {
	x := GP64()
	XORQ(x, x)
	Label("group")
	move(x)
	body(x)
	ADDQ(U8(4), x)
	n, left := GP64(), GP64()
	Load(Param("n"), n)
	MOVQ(n, left)
	SUBQ(x, left)
	JLE(LabelRef("done"))
	CMPQ(left, U8(4))
	JGE(LabelRef("group"))
	LEAQ(Mem{Base: n, Disp: -4}, x)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// split adds the sums for the two halves of the weights, lo and hi<<16, and
// shifts.
func split(lo, hi VecVirtual) {
	VPSLLD(U8(16), hi, hi)
	VPADDD(hi, lo, lo)
	VPSRAD(U8(tapsBits), lo, lo)
}

// resampleRows is the horizontal pass of two rows of pixels of 3 or 4 channels:
// one row per lane, one channel per dword.
func resampleRows(round Mem, ch int) {
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
	var join Mem
	if ch == 3 {
		join = GLOBL(name+"_join", 8|16)
		for i := range 32 {
			v := 0x80
			if i%16 < 12 {
				v = i%16/3*4 + i%16%3
			}
			DATA(i, U8(v))
		}
	}

	TEXT(name+"AVX2", NOSPLIT, "func(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks, parts int)")
	Pragma("noescape")
	Doc(name+"AVX2 resamples two rows to n pixels, 4 or more, with blocks of 4 packed",
		"weights per output. It uses the first parts pairs of weights and reads 16 bytes per block.")
	dst := []Register{Load(Param("dst0"), GP64()), Load(Param("dst1"), GP64())}
	src := []Register{Load(Param("src0"), GP64()), Load(Param("src1"), GP64())}
	start, blocks := Load(Param("start"), GP64()), Load(Param("blocks"), GP64())
	SHLQ(U8(4), blocks)
	parts := Load(Param("parts"), GP64())
	output, weights := GP64(), GP64()
	mask := []VecVirtual{YMM(), YMM()}
	for i, m := range mask {
		VMOVDQU(masks[i], m)
	}
	rounds := YMM()
	VMOVDQU(round, rounds)
	group(func(x Register) {
		toWeights(x, blocks, output)
	}, func(x Register) {
		var out [4]VecVirtual
		for i := range out {
			off, left := GP64(), GP64()
			MOVLQSX(Mem{Base: start, Index: x, Scale: 4, Disp: 4 * i}, off)
			if ch == 3 {
				LEAQ(Mem{Base: off, Index: off, Scale: 2}, off)
			} else {
				SHLQ(U8(2), off)
			}
			if i == 0 {
				// Prefetch the next two rows, assuming that rows are adjacent.
				// A row is too short for the hardware prefetcher, and the loop
				// would wait for memory.
				next := GP64()
				MOVQ(src[1], next)
				for range 2 {
					SUBQ(src[0], next)
					ADDQ(src[1], next)
					PREFETCHT0(Mem{Base: next, Index: off, Scale: 1})
				}
			}
			MOVQ(output, weights)
			ADDQ(blocks, output)
			MOVQ(parts, left)
			end, more := "end"+string(rune('0'+i)), "more"+string(rune('0'+i))
			px, lo, hi := YMM(), YMM(), YMM()
			out[i] = lo
			pixels := func() {
				VMOVDQU(Mem{Base: src[0], Index: off, Scale: 1}, px.AsX())
				VINSERTI128(U8(1), Mem{Base: src[1], Index: off, Scale: 1}, px, px)
			}
			part := func(half int, lo, hi VecVirtual) {
				words := YMM()
				VPSHUFB(mask[half], px, words)
				VPBROADCASTD(Mem{Base: weights, Disp: 4 * half}, lo)
				VPMADDWD(lo, words, lo)
				VPBROADCASTD(Mem{Base: weights, Disp: 8 + 4*half}, hi)
				VPMADDWD(hi, words, hi)
			}
			add := func(half int) {
				l, h := YMM(), YMM()
				part(half, l, h)
				VPADDD(l, lo, lo)
				VPADDD(h, hi, hi)
			}
			pixels()
			part(0, lo, hi)
			VPADDD(rounds, lo, lo)
			DECQ(left)
			JZ(LabelRef(end))
			add(1)
			DECQ(left)
			JZ(LabelRef(end))
			Label(more)
			ADDQ(U8(4*ch), off)
			ADDQ(U8(16), weights)
			pixels()
			add(0)
			DECQ(left)
			JZ(LabelRef(end))
			add(1)
			DECQ(left)
			JNZ(LabelRef(more))
			Label(end)
			split(lo, hi)
		}
		VPACKSSDW(out[1], out[0], out[0])
		VPACKSSDW(out[3], out[2], out[2])
		VPACKUSWB(out[2], out[0], out[0])
		off := x
		if ch == 3 {
			VPSHUFB(join, out[0], out[0])
			off = GP64()
			LEAQ(Mem{Base: x, Index: x, Scale: 2}, off)
		}
		second := XMM()
		VEXTRACTI128(U8(1), out[0], second)
		for i, v := range []Op{out[0].AsX(), second} {
			if ch == 4 {
				VMOVDQU(v, Mem{Base: dst[i], Index: off, Scale: 4})
				continue
			}
			VMOVQ(v, Mem{Base: dst[i], Index: off, Scale: 1})
			VPEXTRD(U8(2), v, Mem{Base: dst[i], Index: off, Scale: 1, Disp: 8})
		}
	})
}

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
func resamplePlanes(round Mem) {
	join := GLOBL("resampleGray_join", 8|16)
	for i := range 32 {
		v := 0x80
		if i%16 < 8 {
			v = i%16/4 + 2*(i%4)
		}
		DATA(i, U8(v))
	}
	TEXT("resampleGrayAVX2", NOSPLIT, "func(dst, src *[4]*byte, start, w *int32, n, blocks int)")
	Pragma("noescape")
	Doc("resampleGrayAVX2 resamples four rows to n pixels, 4 or more, with blocks of 4 packed",
		"weights per output. It reads 4 bytes per block.")
	src := pointers("src")
	blocks, size, weights := Load(Param("blocks"), GP64()), GP64(), GP64()
	MOVQ(blocks, size)
	SHLQ(U8(4), size)
	group(func(x Register) {
		toWeights(x, size, weights)
	}, func(x Register) {
		var out [4]VecVirtual
		for i := range out {
			off := GP64()
			Load(Param("start"), off)
			MOVLQSX(Mem{Base: off, Index: x, Scale: 4, Disp: 4 * i}, off)
			lo, hi := YMM(), YMM()
			out[i] = lo
			block := func(lo, hi VecVirtual) {
				px := YMM()
				VMOVD(Mem{Base: src[0], Index: off, Scale: 1}, px.AsX())
				for r := 1; r < 4; r++ {
					VPINSRD(U8(r), Mem{Base: src[r], Index: off, Scale: 1}, px.AsX(), px.AsX())
				}
				VPMOVZXBW(px.AsX(), px)
				VPBROADCASTQ(Mem{Base: weights}, lo)
				VPMADDWD(lo, px, lo)
				VPBROADCASTQ(Mem{Base: weights, Disp: 8}, hi)
				VPMADDWD(hi, px, hi)
				ADDQ(U8(16), weights)
			}
			block(lo, hi)
			end, more := "end"+string(rune('0'+i)), "more"+string(rune('0'+i))
			left := GP64()
			MOVQ(blocks, left)
			DECQ(left)
			JZ(LabelRef(end))
			Label(more)
			ADDQ(U8(4), off)
			u, v := YMM(), YMM()
			block(u, v)
			VPADDD(u, lo, lo)
			VPADDD(v, hi, hi)
			DECQ(left)
			JNZ(LabelRef(more))
			Label(end)
			VPSLLD(U8(16), hi, hi)
			VPADDD(hi, lo, lo)
		}
		VPHADDD(out[1], out[0], out[0])
		VPHADDD(out[3], out[2], out[2])
		for i := 0; i < 4; i += 2 {
			VPADDD(round, out[i], out[i])
			VPSRAD(U8(tapsBits), out[i], out[i])
		}
		VPACKSSDW(out[2], out[0], out[0])
		VPACKUSWB(out[0], out[0], out[0])
		VPSHUFB(join, out[0], out[0])
		second := XMM()
		VEXTRACTI128(U8(1), out[0], second)
		dst := GP64()
		Load(Param("dst"), dst)
		for i, v := range []VecVirtual{out[0].AsX().(VecVirtual), second} {
			p := GP64()
			MOVQ(Mem{Base: dst, Disp: 16 * i}, p)
			VMOVD(v, Mem{Base: p, Index: x, Scale: 1})
			MOVQ(Mem{Base: dst, Disp: 16*i + 8}, p)
			VPEXTRD(U8(1), v, Mem{Base: p, Index: x, Scale: 1})
		}
	})
}

// resampleColumns is one row of the vertical pass, 32 bytes at a time.
func resampleColumns(round Mem) {
	TEXT("resampleColumnsAVX2", NOSPLIT, "func(dst, src *byte, line int, w *int32, rows int)")
	Pragma("noescape")
	Doc("resampleColumnsAVX2 computes a row of line bytes, 32 or more, as the weighted sum of", "rows, with packed weights.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	line, w, rows := Load(Param("line"), GP64()), Load(Param("w"), GP64()), Load(Param("rows"), GP64())
	zero, rounds := YMM(), YMM()
	VPXOR(zero, zero, zero)
	VMOVDQU(round, rounds)
	x := GP64()
	XORQ(x, x)

	Label("chunk")
	var lo, hi [4]VecVirtual
	for i := range lo {
		lo[i], hi[i] = YMM(), YMM()
	}
	p, second, weights, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: src, Index: x, Scale: 1}, p)
	MOVQ(w, weights)
	MOVQ(rows, left)
	pair := func(disp int, first bool) {
		// The row after the last one has weight 0, so any row will do.
		LEAQ(Mem{Base: p, Index: line, Scale: 1}, second)
		CMPQ(left, U8(1))
		CMOVQEQ(p, second)
		a, l, h := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: p}, a)
		VPUNPCKLBW(Mem{Base: second}, a, l)
		VPUNPCKHBW(Mem{Base: second}, a, h)
		wl, wh := YMM(), YMM()
		VPBROADCASTD(Mem{Base: weights, Disp: disp}, wl)
		VPBROADCASTD(Mem{Base: weights, Disp: disp + 8}, wh)
		for i := range lo {
			v, px := []VecVirtual{l, h}[i/2], YMM()
			if i%2 == 0 {
				VPUNPCKLBW(zero, v, px)
			} else {
				VPUNPCKHBW(zero, v, px)
			}
			if first {
				VPMADDWD(wl, px, lo[i])
				VPADDD(rounds, lo[i], lo[i])
				VPMADDWD(wh, px, hi[i])
				continue
			}
			t := YMM()
			VPMADDWD(wl, px, t)
			VPADDD(t, lo[i], lo[i])
			VPMADDWD(wh, px, px)
			VPADDD(px, hi[i], hi[i])
		}
		SUBQ(U8(2), left)
	}
	// Weights come in blocks of four: the low halves of two pairs, then the
	// high halves.
	pair(0, true)
	JLE(LabelRef("store"))
	Label("more")
	LEAQ(Mem{Base: p, Index: line, Scale: 2}, p)
	pair(4, false)
	JLE(LabelRef("store"))
	LEAQ(Mem{Base: p, Index: line, Scale: 2}, p)
	ADDQ(U8(16), weights)
	pair(0, false)
	JG(LabelRef("more"))

	Label("store")
	for i := range lo {
		split(lo[i], hi[i])
	}
	VPACKSSDW(lo[1], lo[0], lo[0])
	VPACKSSDW(lo[3], lo[2], lo[2])
	VPACKUSWB(lo[2], lo[0], lo[0])
	VMOVDQU(lo[0], Mem{Base: dst, Index: x, Scale: 1})
	ADDQ(U8(32), x)
	MOVQ(line, left)
	SUBQ(x, left)
	JLE(LabelRef("done"))
	CMPQ(left, U8(32))
	JGE(LabelRef("chunk"))
	LEAQ(Mem{Base: line, Disp: -32}, x)
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
