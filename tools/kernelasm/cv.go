package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("cv", cv)

func cv() {
	cvRow1()
	cvRow(3)
	cvRow(4)
	cvMixLinear()
	cvCubic1()
	cvCubic(3)
	cvCubic(4)
	cvMixCubic()
	cvHalf(1)
	cvHalf(3)
	cvHalf(4)
	sumRows()
	sumBlocks()
	bytesToFloat()
	cvArea1()
	cvArea(3)
	cvArea(4)
	addScaled()
	roundBytes()
	for _, size := range []int{1, 3, 4} {
		pick(size)
	}
}

// allOnes returns a register of ones: the mask that gathers every lane.
func allOnes() VecVirtual {
	v := YMM()
	VPCMPEQD(v, v, v)
	return v
}

func zeros() VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

// cvRow1 mixes two bytes for 16 outputs at a time.
func cvRow1() {
	pairs := bytesOf("cv_pairs1", 32, twice(func(i int) int {
		if i%2 == 1 {
			return -1
		}
		return i/4*4 + i%4/2
	}))
	function("cvRow1SIMD", "func(dst *int16, src *byte, n int, first, pair *int32)")
	Doc("cvRow1SIMD computes a row of n pixels of 1 channel, n a multiple of 16 and not 0:", "sums with 7 fractional bits. It reads 4 bytes at each index of first.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	first, pair := Load(Param("first"), GP64()), Load(Param("pair"), GP64())
	m := YMM()
	VMOVDQU(pairs, m)
	Label("loop")
	var s [2]VecVirtual
	for i := range s {
		at, v, ones := YMM(), zeros(), allOnes()
		VMOVDQU(Mem{Base: first, Disp: 32 * i}, at)
		VPGATHERDD(ones, Mem{Base: src, Index: at, Scale: 1}, v)
		VPSHUFB(m, v, v)
		VPMADDWD(Mem{Base: pair, Disp: 32 * i}, v, v)
		VPSRAD(U8(4), v, v)
		s[i] = v
	}
	VPACKSSDW(s[1], s[0], s[0])
	VPERMQ(U8(0xD8), s[0], s[0])
	VMOVDQU(s[0], Mem{Base: dst})
	ADDQ(U8(64), first)
	ADDQ(U8(64), pair)
	ADDQ(U8(32), dst)
	SUBQ(U8(16), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// cvRow mixes two neighbours of ch bytes for four outputs at a time.
func cvRow(ch int) {
	var pairs [2]Mem // of the first and the second output in a lane
	for p := range pairs {
		pairs[p] = bytesOf(fmt.Sprintf("cv_pairs%d_%d", ch, p), 32, twice(func(i int) int {
			if c := i / 4; i%2 == 0 && c < ch {
				return 8*p + c + i%4/2*ch
			}
			return -1
		}))
	}
	// The dword of four that each lane repeats.
	weights := [2]Mem{}
	for p := range weights {
		weights[p] = GLOBL(fmt.Sprintf("cv_weights%d_%d", ch, p), 8|16)
		for i := range 8 {
			DATA(4*i, U32(p+i/4*2))
		}
	}
	close := bytesOf(fmt.Sprintf("cv_close%d", ch), 32, twice(func(i int) int {
		if i < 6 {
			return i
		}
		if i < 12 {
			return i + 2
		}
		return -1
	}))
	name := fmt.Sprintf("cvRow%dSIMD", ch)
	function(name, "func(dst *int16, src *byte, n int, first, pair *int32)")
	Doc(fmt.Sprintf("%s computes a row of n pixels of %d channels, n a multiple of 4 and not 0:", name, ch), "sums with 7 fractional bits.",
		"It reads 8 bytes at each pixel of first.", tooMany("writes", ch))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	first, pair := Load(Param("first"), GP64()), Load(Param("pair"), GP64())
	var m, wm [2]VecVirtual
	for p := range m {
		m[p], wm[p] = YMM(), YMM()
		VMOVDQU(pairs[p], m[p])
		VMOVDQU(weights[p], wm[p])
	}
	cm := YMM()
	if ch == 3 {
		VMOVDQU(close, cm)
	}
	Label("loop")
	place := func(i int) Mem {
		at := GP64()
		MOVLQSX(Mem{Base: first, Disp: 4 * i}, at)
		if ch == 3 {
			LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)
			return Mem{Base: src, Index: at, Scale: 1}
		}
		return Mem{Base: src, Index: at, Scale: 4}
	}
	v, hi := YMM(), XMM()
	VMOVQ(place(0), v.AsX())
	VMOVHPS(place(1), v.AsX(), v.AsX())
	VMOVQ(place(2), hi)
	VMOVHPS(place(3), hi, hi)
	VINSERTI128(U8(1), hi, v, v)
	w := YMM()
	VBROADCASTI128(Mem{Base: pair}, w)
	var s [2]VecVirtual
	for p := range s {
		x := YMM()
		s[p] = YMM()
		VPERMILPS(wm[p], w, x)
		VPSHUFB(m[p], v, s[p])
		VPMADDWD(x, s[p], s[p])
		VPSRAD(U8(4), s[p], s[p])
	}
	VPACKSSDW(s[1], s[0], s[0])
	if ch == 3 {
		VPSHUFB(cm, s[0], s[0])
		storeLanes(s[0], dst, 0, 12)
	} else {
		VMOVDQU(s[0], Mem{Base: dst})
	}
	ADDQ(U8(16), first)
	ADDQ(U8(16), pair)
	ADDQ(U8(8*ch), dst)
	SUBQ(U8(4), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func cvMixLinear() {
	function("cvMixLinearAVX2", "func(dst *byte, a, b *int16, n int, t, u int16)")
	Doc("cvMixLinearAVX2 is CVMixLinearU8 for n sums with 7 fractional bits, n a multiple of", "32 and not 0.")
	dst := Load(Param("dst"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	word := func(name string) VecVirtual {
		v := YMM()
		p, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		VPBROADCASTW(p.Addr, v)
		return v
	}
	t, u := word("t"), word("u")
	two := allOnes()
	VPABSW(two, two)
	VPADDW(two, two, two)
	Label("loop")
	var s [2]VecVirtual
	for i := range s {
		x := YMM()
		s[i] = YMM()
		VPMULHW(Mem{Base: a, Disp: 32 * i}, t, s[i])
		VPMULHW(Mem{Base: b, Disp: 32 * i}, u, x)
		VPADDW(two, s[i], s[i])
		VPADDW(x, s[i], s[i])
		VPSRAW(U8(2), s[i], s[i])
	}
	VPACKUSWB(s[1], s[0], s[0])
	VPERMQ(U8(0xD8), s[0], s[0])
	VMOVDQU(s[0], Mem{Base: dst})
	ADDQ(U8(64), a)
	ADDQ(U8(64), b)
	ADDQ(U8(32), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// tooMany describes the accesses beyond a pixel of 3 bytes.
func tooMany(what string, ch int) string {
	if ch == 3 {
		return "It " + what + " 4 extra bytes."
	}
	return "It " + what + " no extra bytes."
}

// cvHalf averages blocks of 2 x 2 pixels of ch bytes.
func cvHalf(ch int) {
	pairs := bytesOf(fmt.Sprintf("cv_half%d", ch), 32, twice(func(i int) int {
		if j := i / 2; j < 8/ch*ch {
			return j/ch*2*ch + j%ch + i%2*ch
		}
		return -1
	}))
	close := bytesOf(fmt.Sprintf("cv_half_close%d", ch), 32, twice(func(i int) int {
		if i < 6 {
			return i
		}
		if i < 12 {
			return i + 2
		}
		return -1
	}))
	name := fmt.Sprintf("cvHalf%dSIMD", ch)
	function(name, "func(dst, a, b *byte, n int)")
	k := map[int]int{1: 32, 3: 8, 4: 8}[ch]
	Doc(fmt.Sprintf("%s averages the pixels of two rows to n pixels, a multiple of %d and not 0.", name, k), tooMany("reads and writes", ch))
	dst := Load(Param("dst"), GP64())
	rows := []Register{Load(Param("a"), GP64()), Load(Param("b"), GP64())}
	n := Load(Param("n"), GP64())
	ones := allOnes()
	VPABSB(ones, ones)
	two := allOnes()
	VPABSW(two, two)
	VPADDW(two, two, two)
	m, cm := YMM(), YMM()
	if ch > 1 {
		VMOVDQU(pairs, m)
	}
	if ch == 3 {
		VMOVDQU(close, cm)
	}
	Label("loop")
	var s [2]VecVirtual
	for i := range s {
		var x [2]VecVirtual
		for r, p := range rows {
			switch ch {
			case 3:
				x[r] = lanes(p, 12*i, 24+12*i)
			default:
				x[r] = YMM()
				VMOVDQU(Mem{Base: p, Disp: 32 * i}, x[r])
			}
			if ch > 1 {
				VPSHUFB(m, x[r], x[r])
			}
			VPMADDUBSW(ones, x[r], x[r])
		}
		VPADDW(x[1], x[0], x[0])
		VPADDW(two, x[0], x[0])
		VPSRLW(U8(2), x[0], x[0])
		s[i] = x[0]
	}
	VPACKUSWB(s[1], s[0], s[0])
	if ch == 3 {
		VPSHUFB(cm, s[0], s[0])
		storeLanes(s[0], dst, 0, 12)
	} else {
		VPERMQ(U8(0xD8), s[0], s[0])
		VMOVDQU(s[0], Mem{Base: dst})
	}
	for _, p := range rows {
		ADDQ(I32(2*k*ch), p)
	}
	ADDQ(U8(k*ch), dst)
	SUBQ(U8(k), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func bytesToFloat() {
	function("bytesToFloatSIMD", "func(dst *float32, src *byte, n int)")
	Doc("bytesToFloatSIMD converts n bytes, a multiple of 8 and not 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	Label("loop")
	v := YMM()
	VPMOVZXBD(Mem{Base: src}, v)
	VCVTDQ2PS(v, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(U8(8), src)
	ADDQ(U8(32), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func cvArea1() {
	function("cvArea1SIMD", "func(dst, src *float32, n int, first *int32, w *float32, k, line int)")
	Doc("cvArea1SIMD computes n sums, a multiple of 8 and not 0, of k products each. The weights", "of consecutive terms of a sum are line apart.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	first, w := Load(Param("first"), GP64()), Load(Param("w"), GP64())
	k, line := Load(Param("k"), GP64()), Load(Param("line"), GP64())
	SHLQ(U8(2), line)
	Label("loop")
	at, sum := YMM(), YMM()
	VMOVDQU(Mem{Base: first}, at)
	VXORPS(sum, sum, sum)
	p, q, i := GP64(), GP64(), GP64()
	MOVQ(src, p)
	MOVQ(w, q)
	MOVQ(k, i)
	Label("taps")
	v, ones := zeros(), allOnes()
	VGATHERDPS(ones, Mem{Base: p, Index: at, Scale: 4}, v)
	VMULPS(Mem{Base: q}, v, v)
	VADDPS(v, sum, sum)
	ADDQ(U8(4), p)
	ADDQ(line, q)
	DECQ(i)
	JNZ(LabelRef("taps"))
	VMOVUPS(sum, Mem{Base: dst})
	ADDQ(U8(32), first)
	ADDQ(U8(32), w)
	ADDQ(U8(32), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// cvArea sums pixels of ch floats. Loops of up to four products are unrolled.
func cvArea(ch int) {
	name := fmt.Sprintf("cvArea%dSIMD", ch)
	function(name, "func(dst, src *float32, n int, first *int32, w *float32, k int)")
	Doc(fmt.Sprintf("%s computes the sums of k non-negative products of n pixels of %d channels,", name, ch), "n > 0 and k > 0.",
		"It reads and writes 4 elements at each pixel.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	first, w := Load(Param("first"), GP64()), Load(Param("w"), GP64())
	k := Load(Param("k"), GP64())
	counts := []int{2, 3, 4}
	for _, count := range counts {
		CMPQ(k, U8(count))
		JEQ(LabelRef(fmt.Sprintf("loop%d", count)))
	}
	product := func(p Register, i int) VecVirtual {
		v := XMM()
		VBROADCASTSS(Mem{Base: w, Disp: 4 * i}, v)
		VMULPS(Mem{Base: p, Disp: 4 * ch * i}, v, v)
		return v
	}
	for _, count := range append([]int{0}, counts...) {
		loop := fmt.Sprintf("loop%d", count)
		Label(loop)
		p := GP64()
		MOVLQSX(Mem{Base: first}, p)
		IMUL3Q(U8(4*ch), p, p)
		ADDQ(src, p)
		sum := product(p, 0)
		for i := 1; i < count; i++ {
			VADDPS(product(p, i), sum, sum)
		}
		if count == 0 {
			i := GP64()
			MOVQ(k, i)
			JMP(LabelRef("next"))
			Label("taps")
			VADDPS(product(p, 0), sum, sum)
			Label("next")
			ADDQ(U8(4), w)
			ADDQ(U8(4*ch), p)
			DECQ(i)
			JNZ(LabelRef("taps"))
		} else {
			ADDQ(U8(4*count), w)
		}
		VMOVUPS(sum, Mem{Base: dst})
		ADDQ(U8(4), first)
		ADDQ(U8(4*ch), dst)
		DECQ(n)
		JNZ(LabelRef(loop))
		RET()
	}
}

func addScaled() {
	function("addScaledSIMD", "func(sum, buf *float32, n int, w float32, first bool)")
	Doc("addScaledSIMD is addScaled for n elements, a multiple of 8 and not 0.")
	sum, buf := Load(Param("sum"), GP64()), Load(Param("buf"), GP64())
	n, f := Load(Param("n"), GP64()), Load(Param("first"), GP8())
	p, err := Param("w").Resolve()
	if err != nil {
		panic(err)
	}
	w := YMM()
	VBROADCASTSS(p.Addr, w)
	TESTB(f, f)
	JNZ(LabelRef("first"))
	for _, add := range []bool{true, false} {
		label := map[bool]string{true: "add", false: "first"}[add]
		Label(label)
		v := YMM()
		VMULPS(Mem{Base: buf}, w, v)
		if add {
			VADDPS(Mem{Base: sum}, v, v)
		}
		VMOVUPS(v, Mem{Base: sum})
		ADDQ(U8(32), buf)
		ADDQ(U8(32), sum)
		SUBQ(U8(8), n)
		JNZ(LabelRef(label))
		VZEROUPPER()
		RET()
	}
}

func roundBytes() {
	function("roundU8SIMD", "func(dst *byte, src *float32, n int)")
	Doc("roundU8SIMD is RoundU8 for n elements, a multiple of 32 and not 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	order := GLOBL("round_order", 8|16)
	for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(v))
	}
	o, most := YMM(), YMM()
	VMOVDQU(order, o)
	VMOVDQU(dwords("round_most", 0x437F0000), most) // 255
	Label("loop")
	var v [4]VecVirtual
	for i := range v {
		v[i] = YMM()
		// NaN stays NaN, because the second operand is the result. It then
		// becomes the smallest int32 and so 0, like any number that is too
		// small.
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, v[i])
		VMINPS(v[i], most, v[i])
		VCVTPS2DQ(v[i], v[i])
	}
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKUSWB(v[2], v[0], v[0])
	VPERMD(v[0], o, v[0])
	VMOVDQU(v[0], Mem{Base: dst})
	SUBQ(I8(-128), src)
	ADDQ(U8(32), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// pick copies pixels of size bytes one after another, which is faster than
// gathering them.
func pick(size int) {
	name := fmt.Sprintf("pick%dSIMD", size)
	function(name, "func(dst, src *byte, n int, index *int32)")
	extra := "It accesses no extra bytes."
	if size == 3 {
		extra = "It reads and writes 1 extra byte."
	}
	Doc(fmt.Sprintf("%s copies the n pixels at index, n not 0. %s", name, extra))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, index := Load(Param("n"), GP64()), Load(Param("index"), GP64())
	pixels := func(n int) {
		for i := range n {
			at, v := GP64(), GP32()
			MOVL(Mem{Base: index, Disp: 4 * i}, at.As32())
			from, to := Mem{Base: src, Index: at, Scale: 1}, Mem{Base: dst, Disp: size * i}
			switch size {
			case 1:
				MOVBLZX(from, v)
				MOVB(v.As8(), to)
				continue
			case 3:
				LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)
			case 4:
				from.Scale = 4
			}
			MOVL(from, v)
			MOVL(v, to)
		}
		ADDQ(U8(4*n), index)
		ADDQ(U8(n*size), dst)
	}
	const most = 8
	SUBQ(U8(most), n)
	JLT(LabelRef("rest"))
	Label("loop")
	pixels(most)
	SUBQ(U8(most), n)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(U8(most), n)
	JZ(LabelRef("end"))
	Label("one")
	pixels(1)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("end")
	RET()
}

func sumRows() {
	function("sumRowsSIMD", "func(dst *uint16, src *byte, n, rows, stride int)")
	Doc("sumRowsSIMD sums the first n bytes, a multiple of 16 and not 0, of rows that are stride", "bytes apart, rows > 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, rows := Load(Param("n"), GP64()), Load(Param("rows"), GP64())
	stride := Load(Param("stride"), GP64())
	Label("loop")
	sum := zeros()
	p, i := GP64(), GP64()
	MOVQ(src, p)
	MOVQ(rows, i)
	Label("rows")
	v := YMM()
	VPMOVZXBW(Mem{Base: p}, v)
	VPADDW(v, sum, sum)
	ADDQ(stride, p)
	DECQ(i)
	JNZ(LabelRef("rows"))
	VMOVDQU(sum, Mem{Base: dst})
	ADDQ(U8(16), src)
	ADDQ(U8(32), dst)
	SUBQ(U8(16), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func sumBlocks() {
	function("sumBlocksSIMD", "func(dst *float32, src *uint16, n, k, ch int, scale float32)")
	Doc("sumBlocksSIMD sums k pixels of up to 4 elements and scales the sum, n times. n and k", "are not 0.",
		"It reads and writes 4 elements at each pixel.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, k := Load(Param("n"), GP64()), Load(Param("k"), GP64())
	ch := Load(Param("ch"), GP64())
	p, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	scale := XMM()
	VBROADCASTSS(p.Addr, scale)
	Label("loop")
	sum, i := XMM(), GP64()
	VPXOR(sum, sum, sum)
	MOVQ(k, i)
	Label("block")
	v := XMM()
	VPMOVZXWD(Mem{Base: src}, v)
	VPADDD(v, sum, sum)
	LEAQ(Mem{Base: src, Index: ch, Scale: 2}, src)
	DECQ(i)
	JNZ(LabelRef("block"))
	VCVTDQ2PS(sum, sum)
	VMULPS(scale, sum, sum)
	VMOVUPS(sum, Mem{Base: dst})
	LEAQ(Mem{Base: dst, Index: ch, Scale: 4}, dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	RET()
}

// cvCubic1 sums four neighbours for eight outputs at a time.
func cvCubic1() {
	function("cvCubic1SIMD", "func(dst *int32, src *byte, n int, first, pairs *int32)")
	Doc("cvCubic1SIMD is CVRowU8 for n pixels of 1 channel whose four taps are adjacent, n a", "multiple of 8 and not 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	first, pairs := Load(Param("first"), GP64()), Load(Param("pairs"), GP64())
	zero := zeros()
	Label("loop")
	at, v, ones := YMM(), zeros(), allOnes()
	VMOVDQU(Mem{Base: first}, at)
	VPGATHERDD(ones, Mem{Base: src, Index: at, Scale: 1}, v)
	lo, hi := unpack(lowBytes, v, zero), unpack(highBytes, v, zero)
	VPMADDWD(lanes(pairs, 0, 32), lo, lo)
	VPMADDWD(lanes(pairs, 16, 48), hi, hi)
	VPHADDD(hi, lo, lo)
	VMOVDQU(lo, Mem{Base: dst})
	ADDQ(U8(32), first)
	ADDQ(U8(64), pairs)
	ADDQ(U8(32), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// cvCubic sums four neighbours of ch bytes for two outputs at a time.
func cvCubic(ch int) {
	name := fmt.Sprintf("cvCubic%dSIMD", ch)
	var taps, weights [2]Mem // of the first and the second pair of neighbours
	for p := range taps {
		taps[p] = bytesOf(fmt.Sprintf("cv_cubic%d_%d", ch, p), 32, twice(func(i int) int {
			if c := i / 4; i%2 == 0 && c < ch {
				return (2*p+i%4/2)*ch + c
			}
			return -1
		}))
		weights[p] = GLOBL(fmt.Sprintf("cv_cubic_weights%d_%d", ch, p), 8|16)
		for i := range 8 {
			DATA(4*i, U32(p+i/4*2))
		}
	}
	function(name, "func(dst *int32, src *byte, n int, first, pairs *int32)")
	Doc(fmt.Sprintf("%s is CVRowU8 for n pixels of %d channels whose four taps are adjacent, n a", name, ch), "multiple of 2 and not 0.",
		"It reads 16 bytes at each index of first and writes 4 elements at each pixel.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	first, pairs := Load(Param("first"), GP64()), Load(Param("pairs"), GP64())
	var m, wm [2]VecVirtual
	for p := range m {
		m[p], wm[p] = YMM(), YMM()
		VMOVDQU(taps[p], m[p])
		VMOVDQU(weights[p], wm[p])
	}
	place := func(i int) Mem {
		at := GP64()
		MOVLQSX(Mem{Base: first, Disp: 4 * i}, at)
		if ch == 3 {
			LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)
			return Mem{Base: src, Index: at, Scale: 1}
		}
		SHLQ(U8(2), at)
		return Mem{Base: src, Index: at, Scale: 1}
	}
	Label("loop")
	v, w := YMM(), YMM()
	VMOVDQU(place(0), v.AsX())
	VINSERTI128(U8(1), place(1), v, v)
	VBROADCASTI128(Mem{Base: pairs}, w)
	var s [2]VecVirtual
	for p := range s {
		x := YMM()
		s[p] = YMM()
		VPERMILPS(wm[p], w, x)
		VPSHUFB(m[p], v, s[p])
		VPMADDWD(x, s[p], s[p])
	}
	VPADDD(s[1], s[0], s[0])
	storeLanes(s[0], dst, 0, 4*ch)
	ADDQ(U8(8), first)
	ADDQ(U8(16), pairs)
	ADDQ(U8(8*ch), dst)
	SUBQ(U8(2), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func cvMixCubic() {
	function("cvMixCubicSIMD", "func(dst *byte, a, b, c, d *int32, n int, w *[4]float32)")
	Doc("cvMixCubicSIMD is the float32 part of CVMixCubicU8 for n sums, a multiple of 8 and not 0.")
	dst := Load(Param("dst"), GP64())
	var rows [4]Register
	for i, name := range []string{"a", "b", "c", "d"} {
		rows[i] = Load(Param(name), GP64())
	}
	n, weights := Load(Param("n"), GP64()), Load(Param("w"), GP64())
	var w [4]VecVirtual
	for i := range w {
		w[i] = YMM()
		VBROADCASTSS(Mem{Base: weights, Disp: 4 * i}, w[i])
	}
	Label("loop")
	var sum VecVirtual
	for i := 3; i >= 0; i-- {
		v := YMM()
		VCVTDQ2PS(Mem{Base: rows[i]}, v)
		ADDQ(U8(32), rows[i])
		VMULPS(w[i], v, v)
		if i < 3 {
			VADDPS(sum, v, v)
		}
		sum = v
	}
	VCVTPS2DQ(sum, sum)
	hi, x := XMM(), sum.AsX()
	VEXTRACTI128(U8(1), sum, hi)
	VPACKSSDW(hi, x, x)
	VPACKUSWB(x, x, x)
	VMOVQ(x, Mem{Base: dst})
	ADDQ(U8(8), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
