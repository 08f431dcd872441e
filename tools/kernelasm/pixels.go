package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("pixels", pixels)

func pixels() {
	for _, size := range []int{4, 2, 1} {
		for _, ch := range []int{3, 4} {
			lookupCHW(ch, size)
		}
		lookupHWC(size)
	}
	deinterleave3()
	interleave3()
	deinterleave4()
	interleave4()
	deinterleave3x4()
	interleave3x4()
	flip32()
	flip16()
	flip64()
	flipShort()
	normalize()
	quantize("Uint8", 1)
	quantize("Int8", 1)
	quantize("Uint16", 2)
	quantize("Int16", 2)
}

// bytesOf is a constant of the bytes at(0) to at(n-1). A negative byte becomes
// 0x80, for which VPSHUFB returns 0.
func bytesOf(name string, n int, at func(i int) int) Mem {
	m := GLOBL(name, 8|16)
	for i := range n {
		v := at(i)
		if v < 0 {
			v = 0x80
		}
		DATA(i, U8(v))
	}
	return m
}

// table is gathered in whole dwords, so that nothing beyond it is read.
type table struct {
	base Register
	size int
	low  VecVirtual // the index bits that select the element within a dword
	mask VecVirtual // of an element
}

func newTable(base Register, size int) table {
	t := table{base: base, size: size}
	if size < 4 {
		t.low, t.mask = YMM(), YMM()
		VPCMPEQD(t.low, t.low, t.low)
		VPSRLD(U8(32-(3-size)), t.low, t.low) // 4/size-1
		VPCMPEQD(t.mask, t.mask, t.mask)
		VPSRLD(U8(32-8*size), t.mask, t.mask)
	}
	return t
}

// look returns the entries at the eight indices, zero-extended. first is the
// first entry of the table.
func (t table) look(idx VecVirtual, first int) VecVirtual {
	ones, v, at := YMM(), YMM(), idx
	if t.size < 4 {
		at = YMM()
		VPSRLD(U8(3-t.size), idx, at)
		VPAND(t.low, idx, idx)
		VPSLLD(U8(2+t.size), idx, idx) // to a bit offset
	}
	VPCMPEQD(ones, ones, ones)
	VPXOR(v, v, v)
	VPGATHERDD(ones, Mem{Base: t.base, Index: at, Scale: 4, Disp: first * t.size}, v)
	if t.size < 4 {
		VPSRLVD(idx, v, v)
		VPAND(t.mask, v, v)
	}
	return v
}

// store writes eight elements, which are dwords in v.
func (t table) store(v VecVirtual, to Mem) {
	if t.size == 4 {
		VMOVDQU(v, to)
		return
	}
	hi := XMM()
	VEXTRACTI128(U8(1), v, hi)
	x := v.AsX()
	VPACKUSDW(hi, x, x)
	if t.size == 2 {
		VMOVDQU(x, to)
		return
	}
	VPACKUSWB(x, x, x)
	VMOVQ(x, to)
}

func lookupCHW(ch, size int) {
	name := fmt.Sprintf("lookupCHW%dx%dSIMD", ch, size)
	// Spread the bytes of a channel of eight pixels to dwords. The low lane
	// holds the first 16 bytes, the high lane the last 16.
	spread := GLOBL(fmt.Sprintf("lookupCHW%dx%dAVX2_spread", ch, size), 8|16)
	for c := range ch {
		for i := range 8 {
			at := i*ch + c
			if i >= 4 {
				at -= 8*ch - 16
			}
			DATA(32*c+4*i, U32(0x80808000|uint32(at)))
		}
	}
	function(name, "func(dst *byte, plane int, src *byte, n int, tables *byte)")
	Doc(fmt.Sprintf("%s is lookupCHW for n pixels of %d channels, n a multiple of 8 and not 0.", name, ch), "plane is in bytes.")
	dst, plane := Load(Param("dst"), GP64()), Load(Param("plane"), GP64())
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	t := newTable(Load(Param("tables"), GP64()), size)
	d := []Register{dst}
	for c := 1; c < ch; c++ {
		next := GP64()
		LEAQ(Mem{Base: d[c-1], Index: plane, Scale: 1}, next)
		d = append(d, next)
	}
	m := make([]VecVirtual, ch)
	for c := range m {
		m[c] = YMM()
		VMOVDQU(spread.Offset(32*c), m[c])
	}
	Label("loop")
	v := YMM()
	VMOVDQU(Mem{Base: src}, v.AsX())
	VINSERTI128(U8(1), Mem{Base: src, Disp: 8*ch - 16}, v, v)
	for c := range ch {
		idx := YMM()
		VPSHUFB(m[c], v, idx)
		t.store(t.look(idx, 256*c), Mem{Base: d[c]})
		ADDQ(U8(8*size), d[c])
	}
	ADDQ(U8(8*ch), src)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func lookupHWC(size int) {
	name := fmt.Sprintf("lookupHWC%dAVX2", size)
	function(name, "func(dst *byte, src *byte, n int, tables *byte, first *[24]int32)")
	Doc(name+" looks up n bytes, a multiple of 24 and not 0. The tables of each 24 bytes", "start at the entries first.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	t := newTable(Load(Param("tables"), GP64()), size)
	first := Load(Param("first"), GP64())
	var f [3]VecVirtual
	for i := range f {
		f[i] = YMM()
		VMOVDQU(Mem{Base: first, Disp: 32 * i}, f[i])
	}
	Label("loop")
	for i := range f {
		idx := YMM()
		VPMOVZXBD(Mem{Base: src, Disp: 8 * i}, idx)
		VPADDD(f[i], idx, idx)
		t.store(t.look(idx, 0), Mem{Base: dst, Disp: 8 * size * i})
	}
	ADDQ(U8(24), src)
	ADDQ(U8(24*size), dst)
	SUBQ(U8(24), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// planes returns the pointers to ch planes.
func planes(first string, ch int) []Register {
	p, plane := []Register{Load(Param(first), GP64())}, Load(Param("plane"), GP64())
	for c := 1; c < ch; c++ {
		next := GP64()
		LEAQ(Mem{Base: p[c-1], Index: plane, Scale: 1}, next)
		p = append(p, next)
	}
	return p
}

// lanes loads 16 bytes from each of two offsets.
func lanes(p Register, low, high int) VecVirtual {
	v := YMM()
	VMOVDQU(Mem{Base: p, Disp: low}, v.AsX())
	VINSERTI128(U8(1), Mem{Base: p, Disp: high}, v, v)
	return v
}

// storeLanes is the inverse of lanes.
func storeLanes(v VecVirtual, p Register, low, high int) {
	VMOVDQU(v.AsX(), Mem{Base: p, Disp: low})
	VEXTRACTI128(U8(1), v, Mem{Base: p, Disp: high})
}

// twice repeats the first 16 bytes, for a constant of two equal lanes.
func twice(at func(i int) int) func(int) int {
	return func(i int) int { return at(i % 16) }
}

func deinterleave3() {
	var m [9]Mem // the bytes of channel c within each part of 16 bytes
	for c := range 3 {
		for part := range 3 {
			m[3*c+part] = bytesOf(fmt.Sprintf("split3_%d%d", c, part), 32, twice(func(i int) int {
				at := 3*i + c - 16*part
				if at > 15 {
					at = -1
				}
				return at
			}))
		}
	}
	function("deinterleave3AVX2", "func(dst *byte, plane int, src *byte, n int)")
	Doc("deinterleave3AVX2 is Deinterleave for n pixels of 3 bytes, a multiple of 32 and not 0.")
	d := planes("dst", 3)
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	var v [3]VecVirtual
	for i := range v {
		v[i] = lanes(src, 16*i, 48+16*i)
	}
	for c := range d {
		o := YMM()
		VPSHUFB(m[3*c], v[0], o)
		for part := 1; part < 3; part++ {
			x := YMM()
			VPSHUFB(m[3*c+part], v[part], x)
			VPOR(x, o, o)
		}
		VMOVDQU(o, Mem{Base: d[c]})
		ADDQ(U8(32), d[c])
	}
	ADDQ(U8(96), src)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func interleave3() {
	var m [9]Mem // the destinations of the bytes of channel c within each part
	for c := range 3 {
		for part := range 3 {
			m[3*c+part] = bytesOf(fmt.Sprintf("merge3_%d%d", c, part), 32, twice(func(i int) int {
				if at := 16*part + i; at%3 == c {
					return at / 3
				}
				return -1
			}))
		}
	}
	function("interleave3AVX2", "func(dst *byte, src *byte, plane int, n int)")
	Doc("interleave3AVX2 is Interleave for n pixels of 3 bytes, a multiple of 32 and not 0.")
	s := planes("src", 3)
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	var v [3]VecVirtual
	for c := range v {
		v[c] = YMM()
		VMOVDQU(Mem{Base: s[c]}, v[c])
		ADDQ(U8(32), s[c])
	}
	for part := range 3 {
		o := YMM()
		VPSHUFB(m[part], v[0], o)
		for c := 1; c < 3; c++ {
			x := YMM()
			VPSHUFB(m[3*c+part], v[c], x)
			VPOR(x, o, o)
		}
		storeLanes(o, dst, 16*part, 48+16*part)
	}
	ADDQ(U8(96), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func unpack(f func(a, b, c Op), a, b VecVirtual) VecVirtual {
	v := YMM()
	f(b, a, v)
	return v
}

func lowBytes(a, b, c Op)   { VPUNPCKLBW(a, b, c) }
func highBytes(a, b, c Op)  { VPUNPCKHBW(a, b, c) }
func lowWords(a, b, c Op)   { VPUNPCKLWD(a, b, c) }
func highWords(a, b, c Op)  { VPUNPCKHWD(a, b, c) }
func lowDwords(a, b, c Op)  { VPUNPCKLDQ(a, b, c) }
func highDwords(a, b, c Op) { VPUNPCKHDQ(a, b, c) }
func lowQwords(a, b, c Op)  { VPUNPCKLQDQ(a, b, c) }
func highQwords(a, b, c Op) { VPUNPCKHQDQ(a, b, c) }

func deinterleave4() {
	sort := bytesOf("split4", 32, twice(func(i int) int { return i%4*4 + i/4 }))
	function("deinterleave4AVX2", "func(dst *byte, plane int, src *byte, n int)")
	Doc("deinterleave4AVX2 is Deinterleave for n pixels of 4 bytes, a multiple of 32 and not 0.")
	d := planes("dst", 4)
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	m := YMM()
	VMOVDQU(sort, m)
	Label("loop")
	var v [4]VecVirtual
	for i := range v {
		v[i] = lanes(src, 16*i, 64+16*i)
		VPSHUFB(m, v[i], v[i])
	}
	a, b := unpack(lowDwords, v[0], v[1]), unpack(lowDwords, v[2], v[3])
	e, f := unpack(highDwords, v[0], v[1]), unpack(highDwords, v[2], v[3])
	for c, o := range []VecVirtual{unpack(lowQwords, a, b), unpack(highQwords, a, b), unpack(lowQwords, e, f), unpack(highQwords, e, f)} {
		VMOVDQU(o, Mem{Base: d[c]})
		ADDQ(U8(32), d[c])
	}
	SUBQ(I8(-128), src)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func interleave4() {
	function("interleave4AVX2", "func(dst *byte, src *byte, plane int, n int)")
	Doc("interleave4AVX2 is Interleave for n pixels of 4 bytes, a multiple of 32 and not 0.")
	s := planes("src", 4)
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	var v [4]VecVirtual
	for c := range v {
		v[c] = YMM()
		VMOVDQU(Mem{Base: s[c]}, v[c])
		ADDQ(U8(32), s[c])
	}
	a, b := unpack(lowBytes, v[0], v[1]), unpack(lowBytes, v[2], v[3])
	e, f := unpack(highBytes, v[0], v[1]), unpack(highBytes, v[2], v[3])
	for i, o := range []VecVirtual{unpack(lowWords, a, b), unpack(highWords, a, b), unpack(lowWords, e, f), unpack(highWords, e, f)} {
		storeLanes(o, dst, 16*i, 64+16*i)
	}
	SUBQ(I8(-128), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// Four pixels of three dwords are three vectors of four. Channel c is at the
// positions colourAt[c][vector], in the order order[c].
var (
	colourAt = [3][3]uint64{{0b1001, 0b0100, 0b0010}, {0b0010, 0b1001, 0b0100}, {0b0100, 0b0010, 0b1001}}
	order    = [3]uint64{0 | 3<<2 | 2<<4 | 1<<6, 1 | 0<<2 | 3<<4 | 2<<6, 2 | 1<<2 | 0<<4 | 3<<6}
)

func deinterleave3x4() {
	function("deinterleave3x4AVX2", "func(dst *byte, plane int, src *byte, n int)")
	Doc("deinterleave3x4AVX2 is Deinterleave for n pixels of 3 dwords, a multiple of 8 and not 0.", "plane is in bytes.")
	d := planes("dst", 3)
	src, n := Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	var v [3]VecVirtual
	for i := range v {
		v[i] = lanes(src, 16*i, 48+16*i)
	}
	for c := range d {
		o := YMM()
		VBLENDPS(U8(colourAt[c][1]*17), v[1], v[0], o)
		VBLENDPS(U8(colourAt[c][2]*17), v[2], o, o)
		VPERMILPS(U8(order[c]), o, o)
		VMOVUPS(o, Mem{Base: d[c]})
		ADDQ(U8(32), d[c])
	}
	ADDQ(U8(96), src)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func interleave3x4() {
	function("interleave3x4AVX2", "func(dst *byte, src *byte, plane int, n int)")
	Doc("interleave3x4AVX2 is Interleave for n pixels of 3 dwords, a multiple of 8 and not 0.", "plane is in bytes.")
	s := planes("src", 3)
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	var v [3]VecVirtual
	for c := range v {
		v[c] = YMM()
		VPERMILPS(U8(order[c]), Mem{Base: s[c]}, v[c]) // each order is its own inverse
		ADDQ(U8(32), s[c])
	}
	for i := range 3 {
		o := YMM()
		VBLENDPS(U8(colourAt[1][i]*17), v[1], v[0], o)
		VBLENDPS(U8(colourAt[2][i]*17), v[2], o, o)
		storeLanes(o, dst, 16*i, 48+16*i)
	}
	ADDQ(U8(96), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func flip32() {
	function("flip32AVX2", "func(last *byte, src *byte, n int, orders *[2][16]uint8)")
	Doc("flip32AVX2 writes n bytes, a multiple of 32 and not 0, in reverse order, ending at last.", "orders is an entry of reverses.")
	end, src := Load(Param("last"), GP64()), Load(Param("src"), GP64())
	n, m := Load(Param("n"), GP64()), YMM()
	VBROADCASTI128(Mem{Base: Load(Param("orders"), GP64())}, m)
	Label("loop")
	v := lanes(src, 16, 0)
	VPSHUFB(m, v, v)
	VMOVDQU(v, Mem{Base: end, Disp: -31})
	ADDQ(U8(32), src)
	SUBQ(U8(32), end)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// flipSteps writes n bytes at dst in reverse order. It permutes vectors of
// bytes by the first of two orders, writes them so that they end at the end of
// what is left of dst, and moves by step, times times: four at once as often as
// possible. tail writes the first bytes of dst from the last ones of src.
func flipSteps(bytes int, vector func() VecVirtual, move func(from, to Op), permute func(v, order VecVirtual), tail func(dst, src Mem, order VecVirtual)) {
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	size, end := Load(Param("n"), GP64()), GP64()
	LEAQ(Mem{Base: dst, Index: size, Scale: 1, Disp: -bytes}, end)
	orders, n, step := Load(Param("orders"), GP64()), Load(Param("times"), GP64()), Load(Param("step"), GP64())
	order := vector()
	move(Mem{Base: orders}, order)
	last := GP64()
	LEAQ(Mem{Base: src, Index: size, Scale: 1, Disp: -bytes}, last)
	const times = 4
	step3, step4 := GP64(), GP64()
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
	LEAQ(Mem{Base: step3, Index: step, Scale: 1}, step4)
	from := [times]Mem{{Base: src}, {Base: src, Index: step, Scale: 1}, {Base: src, Index: step, Scale: 2}, {Base: src, Index: step3, Scale: 1}}
	to := from
	for i := range to {
		to[i] = from[times-1-i]
		to[i].Base = end
	}
	SUBQ(U8(times), n)
	JLT(LabelRef("rest"))
	Label("loop")
	SUBQ(step3, end)
	var v [times]VecVirtual
	for i := range v {
		v[i] = vector()
		move(from[i], v[i])
		permute(v[i], order)
	}
	for i := range v {
		move(v[i], to[i])
	}
	ADDQ(step4, src)
	SUBQ(step, end)
	SUBQ(U8(times), n)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(U8(times), n)
	JZ(LabelRef("tail"))
	Label("one")
	x := vector()
	move(from[0], x)
	permute(x, order)
	move(x, to[times-1])
	ADDQ(step, src)
	SUBQ(step, end)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("tail")
	move(Mem{Base: orders, Disp: bytes}, order)
	tail(Mem{Base: dst}, Mem{Base: last}, order)
	VZEROUPPER()
	RET()
}

func flip16() {
	function("flip16AVX2", "func(dst *byte, src *byte, n int, orders *[2][16]uint8, step int, times int)")
	Doc("flip16AVX2 writes n bytes, 16 or more, in reverse order, in the given number of steps.", "orders is an entry of reverses.")
	flipSteps(16, func() VecVirtual { return XMM() }, func(from, to Op) { VMOVDQU(from, to) }, func(v, order VecVirtual) { VPSHUFB(order, v, v) },
		func(dst, src Mem, order VecVirtual) {
			v := XMM()
			VMOVDQU(src, v)
			VPSHUFB(order, v, v)
			VPBLENDVB(order, dst, v, v) // bytes that are not part of whole pixels stay
			VMOVDQU(v, dst)
		})
}

func flip64() {
	function("flip64VBMI", "func(dst *byte, src *byte, n int, orders *[2][64]uint8, step int, times int)")
	Doc("flip64VBMI is flip16AVX2 for 64 bytes or more. orders is an entry of reverses64.")
	flipSteps(64, func() VecVirtual { return ZMM() }, func(from, to Op) { VMOVDQU8(from, to) }, func(v, order VecVirtual) { VPERMB(v, order, v) },
		func(dst, src Mem, order VecVirtual) {
			v, whole := ZMM(), K()
			VMOVDQU8(src, v)
			VPERMB(v, order, v)
			VPMOVB2M(order, whole)
			KNOTQ(whole, whole)
			VMOVDQU8(v, whole, dst)
		})
}

func flipShort() {
	function("flipShortVBMI", "func(dst *byte, src *byte, n int, order *[64]uint8)")
	Doc("flipShortVBMI writes n bytes, less than 64, in reverse order. order is the second of an entry", "of reverses64: it takes the pixels at the end of 64 bytes.")
	n, ones, v, order, shift, bytes := GP64(), GP64(), ZMM(), ZMM(), ZMM(), K()
	Load(Param("n"), n)
	MOVQ(I32(-1), ones)
	SHLXQ(n, ones, ones)
	NOTQ(ones)
	KMOVQ(ones, bytes)
	SUBQ(U8(64), n)
	VPBROADCASTB(n.As32(), shift)
	VPADDB(Mem{Base: Load(Param("order"), GP64())}, shift, order)
	VMOVDQU8_Z(Mem{Base: Load(Param("src"), GP64())}, bytes, v)
	VPERMB(v, order, v)
	VMOVDQU8(v, bytes, Mem{Base: Load(Param("dst"), GP64())})
	VZEROUPPER()
	RET()
}

func normalize() {
	function("normalizeSIMD", "func(dst, src *float32, n int, mean, std *[24]float32)")
	Doc("normalizeSIMD is NormalizeF32 for n elements, a multiple of 24 and not 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	mean, std := Load(Param("mean"), GP64()), Load(Param("std"), GP64())
	var m, s [3]VecVirtual
	for i := range m {
		m[i], s[i] = YMM(), YMM()
		VMOVUPS(Mem{Base: mean, Disp: 32 * i}, m[i])
		VMOVUPS(Mem{Base: std, Disp: 32 * i}, s[i])
	}
	Label("loop")
	for i := range m {
		v := YMM()
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, v)
		VSUBPS(m[i], v, v)
		VDIVPS(s[i], v, v)
		VMOVUPS(v, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(96), src)
	ADDQ(U8(96), dst)
	SUBQ(U8(24), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// quantize writes the function for a type by its name.
func quantize(name string, size int) {
	function("quantize"+name+"SIMD", "func(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)")
	Doc("quantize" + name + "SIMD is QuantizeF32 for n elements, a multiple of 24 and not 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	scale, zero := Load(Param("scale"), GP64()), Load(Param("zero"), GP64())
	var s, z [3]VecVirtual
	for i := range s {
		s[i], z[i] = YMM(), YMM()
		VMOVUPS(Mem{Base: scale, Disp: 32 * i}, s[i])
		VMOVDQU(Mem{Base: zero, Disp: 32 * i}, z[i])
	}
	// Beyond these bounds every sum with a zero point is outside the type's
	// range. Within them the sum fits an int32.
	least, most := YMM(), YMM()
	VMOVUPS(dwords("quantize_least_"+name, 0xC8435000), least) // -200000
	VMOVUPS(dwords("quantize_most_"+name, 0x48435000), most)   // 200000
	Label("loop")
	for i := range s {
		v, number := YMM(), YMM()
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, v)
		VDIVPS(s[i], v, v)
		VCMPPS(U8(7), v, v, number) // ordered: a NaN becomes 0
		VANDPS(number, v, v)
		VMAXPS(least, v, v)
		VMINPS(most, v, v)
		VCVTPS2DQ(v, v)
		VPADDD(z[i], v, v)
		hi, x := XMM(), v.AsX()
		VEXTRACTI128(U8(1), v, hi)
		to := Mem{Base: dst, Disp: 8 * size * i}
		if name == "Uint16" {
			VPACKUSDW(hi, x, x)
		} else {
			VPACKSSDW(hi, x, x)
		}
		switch name {
		case "Uint8":
			VPACKUSWB(x, x, x)
			VMOVQ(x, to)
		case "Int8":
			VPACKSSWB(x, x, x)
			VMOVQ(x, to)
		default:
			VMOVDQU(x, to)
		}
	}
	ADDQ(U8(96), src)
	ADDQ(U8(24*size), dst)
	SUBQ(U8(24), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
