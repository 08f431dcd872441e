package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The functions of internal/dsp. Every number is four float64, one of each of
// four transforms, and every operation that of the Go code: a product is
// rounded before it is added.
var _ = add("dsp", func() {
	for _, p := range []int{2, 4, 5} {
		radix(p)
	}
	dspLoad()
	dspSum()
	dspEmphasize()
	dspPowers()
	dspMel()
	dspLog(false)
	dspLog(true)
})

var dspConstants = map[uint64]Mem{}

// f64 is a constant of four copies of v.
func f64(v float64) Mem { return q64(math.Float64bits(v)) }

func q64(bits uint64) Mem {
	m, ok := dspConstants[bits]
	if !ok {
		m = GLOBL(fmt.Sprintf("dsp_%016x", bits), 8|16)
		for i := range 4 {
			DATA(8*i, U64(bits))
		}
		dspConstants[bits] = m
	}
	return m
}

// of returns the result of an instruction of three operands: a - b for VSUBPD,
// whose operands are b, a.
func of(op func(...Op), b, a Op) VecVirtual {
	v := YMM()
	op(b, a, v)
	return v
}

func plus(a, b Op) VecVirtual  { return of(VADDPD, b, a) }
func minus(a, b Op) VecVirtual { return of(VSUBPD, b, a) }
func times(a, b Op) VecVirtual { return of(VMULPD, b, a) }

func loaded(m Mem) VecVirtual {
	v := YMM()
	VMOVUPD(m, v)
	return v
}

func stored(v Op, m Mem) { VMOVUPD(v, m) }

// radix writes a pass of an FFT: radix2, radix4 and radix5 of internal/dsp.
func radix(p int) {
	const size = 32 // bytes of a number
	function(fmt.Sprintf("radix%dAVX2", p), "func(c, h *float64, l1, ido int, twiddles *float64)")
	Doc(fmt.Sprintf("radix%dAVX2 is a pass of factor %d: l1*ido*%d numbers of four lanes each.", p, p, p))
	c, h := Load(Param("c"), GP64()), Load(Param("h"), GP64())
	l1, ido := Load(Param("l1"), GP64()), Load(Param("ido"), GP64())
	tw := Load(Param("twiddles"), GP64())
	row, step := GP64(), GP64()
	MOVQ(ido, row)
	SHLQ(U8(5), row)
	MOVQ(row, step)
	IMULQ(l1, step)
	var step3, row3 Register
	if p > 2 {
		step3, row3 = GP64(), GP64()
		LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
		LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
	}
	times := func(base Register, by, by3 Register, n, disp int) Mem {
		switch n {
		case 0:
			return Mem{Base: base, Disp: disp}
		case 3:
			return Mem{Base: base, Index: by3, Scale: 1, Disp: disp}
		}
		return Mem{Base: base, Index: by, Scale: uint8(n), Disp: disp}
	}
	at, to, from, left, w := GP64(), GP64(), GP64(), GP64(), GP64()
	in := func(j, disp int) Mem { return times(at, step, step3, j, disp) }
	out := func(j, disp int) Mem { return times(to, row, row3, j, disp) }
	back := func(j, disp int) Mem { return times(from, row, row3, j, disp) }

	loop := fmt.Sprintf("transform%d", p)
	Label(loop)
	// The first numbers. from is at the last number of the rows of h.
	MOVQ(c, at)
	MOVQ(h, to)
	LEAQ(Mem{Base: h, Index: row, Scale: 1, Disp: -size}, from)
	switch p {
	case 2:
		c0, c1 := loaded(in(0, 0)), loaded(in(1, 0))
		stored(plus(c0, c1), out(0, 0))
		stored(minus(c0, c1), back(1, 0))
	case 4:
		c0, c1, c2, c3 := loaded(in(0, 0)), loaded(in(1, 0)), loaded(in(2, 0)), loaded(in(3, 0))
		t1, t2 := plus(c3, c1), plus(c0, c2)
		stored(minus(c3, c1), out(2, 0))
		stored(minus(c0, c2), back(1, 0))
		stored(plus(t2, t1), out(0, 0))
		stored(minus(t2, t1), back(3, 0))
	case 5:
		c0, c1, c2, c3, c4 := loaded(in(0, 0)), loaded(in(1, 0)), loaded(in(2, 0)), loaded(in(3, 0)), loaded(in(4, 0))
		r2, i5 := plus(c4, c1), minus(c4, c1)
		r3, i4 := plus(c3, c2), minus(c3, c2)
		stored(plus(plus(c0, r2), r3), out(0, 0))
		stored(plus(plus(c0, mul(r2, cos72)), mul(r3, cos144)), back(1, 0))
		stored(plus(mul(i5, sin72), mul(i4, sin144)), out(2, 0))
		stored(plus(plus(c0, mul(r2, cos144)), mul(r3, cos72)), back(3, 0))
		stored(minus(mul(i5, sin144), mul(i4, sin72)), out(4, 0))
	}
	next := fmt.Sprintf("next%d", p)
	// The middle numbers of an even ido.
	if p != 5 { // a pass of factor 5 comes before those that make ido even
		odd := fmt.Sprintf("odd%d", p)
		TESTQ(U32(1), ido)
		JNZ(LabelRef(odd))
		LEAQ(Mem{Base: c, Index: row, Scale: 1, Disp: -size}, at)
		if p == 2 {
			v := YMM()
			VXORPD(q64(1<<63), loaded(in(1, 0)), v)
			stored(v, out(1, 0))
			stored(loaded(in(0, 0)), back(0, 0))
		} else {
			const half = 0.707106781186547524400844362104849
			c0, c1, c2, c3 := loaded(in(0, 0)), loaded(in(1, 0)), loaded(in(2, 0)), loaded(in(3, 0))
			u, v := mul(plus(c1, c3), -half), mul(minus(c1, c3), half)
			stored(plus(c0, v), back(0, 0))
			stored(minus(c0, v), back(2, 0))
			stored(plus(u, c2), out(3, 0))
			stored(minus(u, c2), out(1, 0))
		}
		Label(odd)
	}
	// The others, in pairs: to is at i, from at ido-i.
	MOVQ(ido, left)
	DECQ(left)
	SHRQ(U8(1), left)
	JZ(LabelRef(next))
	MOVQ(tw, w)
	LEAQ(Mem{Base: c, Disp: 2 * size}, at)
	LEAQ(Mem{Base: h, Disp: 2 * size}, to)
	LEAQ(Mem{Base: h, Index: row, Scale: 1, Disp: -2 * size}, from)
	pair := fmt.Sprintf("pair%d", p)
	Label(pair)
	turned := func(j int) (r, i VecVirtual) {
		wr, wi := YMM(), YMM()
		VBROADCASTSD(Mem{Base: w, Disp: 16 * (j - 1)}, wr)
		VBROADCASTSD(Mem{Base: w, Disp: 16*(j-1) + 8}, wi)
		cr, ci := loaded(in(j, -size)), loaded(in(j, 0))
		return plus(of(VMULPD, cr, wr), of(VMULPD, ci, wi)), minus(of(VMULPD, ci, wr), of(VMULPD, cr, wi))
	}
	switch p {
	case 2:
		r1, i1 := turned(1)
		c0r, c0i := loaded(in(0, -size)), loaded(in(0, 0))
		stored(plus(c0r, r1), out(0, -size))
		stored(minus(c0r, r1), back(1, -size))
		stored(plus(i1, c0i), out(0, 0))
		stored(minus(i1, c0i), back(1, 0))
	case 4:
		r1, i1 := turned(1)
		r3, i3 := turned(3)
		tr1, tr4 := plus(r3, r1), minus(r3, r1)
		ti1, ti4 := plus(i1, i3), minus(i1, i3)
		r2, i2 := turned(2)
		c0r, c0i := loaded(in(0, -size)), loaded(in(0, 0))
		tr2, tr3 := plus(c0r, r2), minus(c0r, r2)
		ti2, ti3 := plus(c0i, i2), minus(c0i, i2)
		stored(plus(tr2, tr1), out(0, -size))
		stored(minus(tr2, tr1), back(3, -size))
		stored(plus(ti1, ti2), out(0, 0))
		stored(minus(ti1, ti2), back(3, 0))
		stored(plus(tr3, ti4), out(2, -size))
		stored(minus(tr3, ti4), back(1, -size))
		stored(plus(tr4, ti3), out(2, 0))
		stored(minus(tr4, ti3), back(1, 0))
	case 5:
		r1, i1 := turned(1)
		r4, i4 := turned(4)
		ar, ai, er, ei := plus(r1, r4), plus(i1, i4), minus(i1, i4), minus(r4, r1)
		r2, i2 := turned(2)
		r3, i3 := turned(3)
		br, bi, gr, gi := plus(r2, r3), plus(i2, i3), minus(i2, i3), minus(r3, r2)
		c0r := loaded(in(0, -size))
		stored(plus(plus(c0r, ar), br), out(0, -size))
		t, v := plus(plus(c0r, mul(ar, cos72)), mul(br, cos144)), plus(mul(er, sin72), mul(gr, sin144))
		stored(plus(t, v), out(2, -size))
		stored(minus(t, v), back(1, -size))
		u, z := plus(plus(c0r, mul(ar, cos144)), mul(br, cos72)), minus(mul(er, sin144), mul(gr, sin72))
		stored(plus(u, z), out(4, -size))
		stored(minus(u, z), back(3, -size))
		c0i := loaded(in(0, 0))
		stored(plus(plus(c0i, ai), bi), out(0, 0))
		t, v = plus(plus(c0i, mul(ai, cos72)), mul(bi, cos144)), plus(mul(ei, sin72), mul(gi, sin144))
		stored(plus(v, t), out(2, 0))
		stored(minus(v, t), back(1, 0))
		u, z = plus(plus(c0i, mul(ai, cos144)), mul(bi, cos72)), minus(mul(ei, sin144), mul(gi, sin72))
		stored(plus(z, u), out(4, 0))
		stored(minus(z, u), back(3, 0))
	}
	ADDQ(Imm(2*size), at)
	ADDQ(Imm(2*size), to)
	SUBQ(Imm(2*size), from)
	ADDQ(Imm(uint64(16*(p-1))), w)
	DECQ(left)
	JNZ(LabelRef(pair))
	Label(next)
	ADDQ(row, c)
	for range p {
		ADDQ(row, h)
	}
	DECQ(l1)
	JNZ(LabelRef(loop))
	VZEROUPPER()
	RET()
}

const (
	cos72  = 0.3090169943749474241022934171828191
	sin72  = 0.9510565162951535721164393333793821
	cos144 = -0.8090169943749474241022934171828191
	sin144 = 0.5877852522924731291687059546390728
)

// mul returns v times a constant.
func mul(v Op, by float64) VecVirtual { return of(VMULPD, f64(by), v) }

// dspLoad writes the load of four frames.
func dspLoad() {
	function("loadAVX2", "func(x *float64, in *float32, hop int, window *float64, n int)")
	Doc("loadAVX2 writes n numbers of four frames, a multiple of 4 and not 0, that are hop bytes", "apart, times the window.")
	x, in, hop := Load(Param("x"), GP64()), Load(Param("in"), GP64()), Load(Param("hop"), GP64())
	window, n := Load(Param("window"), GP64()), Load(Param("n"), GP64())
	hop3 := GP64()
	LEAQ(Mem{Base: hop, Index: hop, Scale: 2}, hop3)
	Label("numbers")
	var f [4]VecVirtual
	for i, m := range fourRows(in, hop, hop3) {
		f[i] = YMM()
		VCVTPS2PD(m, f[i])
	}
	var t [4]VecVirtual
	for i := range t {
		t[i] = YMM()
	}
	VUNPCKLPD(f[1], f[0], t[0]) // 00 10 02 12
	VUNPCKHPD(f[1], f[0], t[1])
	VUNPCKLPD(f[3], f[2], t[2])
	VUNPCKHPD(f[3], f[2], t[3])
	for i := range 4 {
		v, w := YMM(), YMM()
		VPERM2F128(U8(0x20+0x11*(i/2)), t[2+i%2], t[i%2], v)
		VBROADCASTSD(Mem{Base: window, Disp: 8 * i}, w)
		VMULPD(w, v, v)
		VMOVUPD(v, Mem{Base: x, Disp: 32 * i})
	}
	ADDQ(Imm(16), in)
	ADDQ(Imm(32), window)
	ADDQ(Imm(128), x)
	SUBQ(Imm(4), n)
	JNZ(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}

// dspSum writes the sum of a part of four frames.
func dspSum() {
	function("sumAVX2", "func(dst, x *float64, n int)")
	Doc("sumAVX2 writes the sums of n numbers of four lanes, at least 8, by eight accumulators.")
	dst, x, n := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("n"), GP64())
	var r [8]VecVirtual
	for i := range r {
		r[i] = loaded(Mem{Base: x, Disp: 32 * i})
	}
	Label("eights")
	ADDQ(U32(256), x)
	SUBQ(Imm(8), n)
	CMPQ(n, U8(8))
	JLT(LabelRef("last"))
	for i := range r {
		VADDPD(Mem{Base: x, Disp: 32 * i}, r[i], r[i])
	}
	JMP(LabelRef("eights"))
	Label("last")
	sum := plus(plus(plus(r[0], r[1]), plus(r[2], r[3])), plus(plus(r[4], r[5]), plus(r[6], r[7])))
	Label("ones")
	DECQ(n)
	JLT(LabelRef("end"))
	VADDPD(Mem{Base: x}, sum, sum)
	ADDQ(Imm(32), x)
	JMP(LabelRef("ones"))
	Label("end")
	stored(sum, Mem{Base: dst})
	VZEROUPPER()
	RET()
}

// dspEmphasize writes the preparation of four frames.
func dspEmphasize() {
	function("emphasizeAVX2", "func(x, window, by *float64, n int)")
	Doc("emphasizeAVX2 replaces n numbers of four lanes, at least 1. It subtracts the four numbers at by,", "then by[4] times the number before, and multiplies by the window.")
	x, window, by, n := Load(Param("x"), GP64()), Load(Param("window"), GP64()), Load(Param("by"), GP64()), Load(Param("n"), GP64())
	mean, c, last, w := loaded(Mem{Base: by}), YMM(), YMM(), YMM()
	VBROADCASTSD(Mem{Base: by, Disp: 32}, c)
	VXORPD(last, last, last)
	Label("emphasize")
	d := minus(loaded(Mem{Base: x}), mean)
	v := minus(d, times(c, last))
	VMOVAPD(d, last)
	VBROADCASTSD(Mem{Base: window}, w)
	stored(times(v, w), Mem{Base: x})
	ADDQ(Imm(32), x)
	ADDQ(Imm(8), window)
	DECQ(n)
	JNZ(LabelRef("emphasize"))
	VZEROUPPER()
	RET()
}

// dspPowers writes the powers of bins.
func dspPowers() {
	function("powersAVX2", "func(dst, x *float64, n int)")
	Doc("powersAVX2 writes n powers of complex numbers, rounded to complex64, at least 1.")
	dst, x, n := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("n"), GP64())
	Label("bins")
	var sq [2]VecVirtual
	for i := range sq {
		h, v := XMM(), YMM()
		VCVTPD2PSY(Mem{Base: x, Disp: 32 * i}, h)
		VCVTPS2PD(h, v)
		sq[i] = times(v, v)
	}
	a := plus(sq[0], sq[1])
	VSQRTPD(a, a)
	VMOVUPD(times(a, a), Mem{Base: dst})
	ADDQ(Imm(64), x)
	ADDQ(Imm(32), dst)
	DECQ(n)
	JNZ(LabelRef("bins"))
	VZEROUPPER()
	RET()
}

// dspMel writes the sum of a filter.
func dspMel() {
	function("melAVX2", "func(dst, power, weights *float64, n int)")
	Doc("melAVX2 writes the sum of n bins times their weights.")
	dst, p := Load(Param("dst"), GP64()), Load(Param("power"), GP64())
	w, n := Load(Param("weights"), GP64()), Load(Param("n"), GP64())
	sum := YMM()
	VXORPD(sum, sum, sum)
	TESTQ(n, n)
	JZ(LabelRef("sum"))
	Label("weights")
	v := YMM()
	VBROADCASTSD(Mem{Base: w}, v)
	VMULPD(Mem{Base: p}, v, v)
	VADDPD(v, sum, sum)
	ADDQ(Imm(8), w)
	ADDQ(Imm(32), p)
	DECQ(n)
	JNZ(LabelRef("weights"))
	Label("sum")
	VMOVUPD(sum, Mem{Base: dst})
	VZEROUPPER()
	RET()
}

// dspLog writes a logarithm.
func dspLog(decimal bool) {
	name := "lnAVX2"
	if decimal {
		name = "log10AVX2"
	}
	function(name, "func(x *float64, n int, floor float64) bool")
	Doc(name+" replaces n times four numbers by their logarithms, those below floor by its. n is at",
		"least 1, and floor a normal number. It returns false if one is infinite or NaN.")
	const (
		l1, l2, l3, l4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
		l5, l6, l7     = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01

		rootHalf = 0x3fe6a09e667f3bcd
	)
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	floor, ok := YMM(), YMM()
	VBROADCASTSD(Load(Param("floor"), XMM()).(VecVirtual), floor)
	VPCMPEQD(ok, ok, ok)
	Label("numbers")
	v := loaded(Mem{Base: x})
	finite := YMM()
	VCMPPD(U8(2), f64(math.MaxFloat64), v, finite) // v <= largest
	VANDPD(finite, ok, ok)
	VMAXPD(floor, v, v)
	bits, k := YMM(), YMM()
	VPADDQ(q64(0x3ff0000000000000-rootHalf), v, bits)
	VPSRLQ(U8(52), bits, k)
	VPOR(q64(0x4330000000000000), k, k)
	VSUBPD(f64(0x1p52+1023), k, k)
	VPAND(q64(1<<52-1), bits, bits)
	VPADDQ(q64(rootHalf), bits, bits)
	f := minus(bits, f64(1))
	two, s := plus(f, f64(2)), YMM()
	VDIVPD(two, f, s)
	z := times(s, s)
	w := times(z, z)
	poly := func(terms ...float64) VecVirtual {
		r := mul(w, terms[0])
		for _, t := range terms[1 : len(terms)-1] {
			r = times(plus(r, f64(t)), w)
		}
		return plus(r, f64(terms[len(terms)-1]))
	}
	r := plus(times(z, poly(l7, l5, l3, l1)), times(w, poly(l6, l4, l2)))
	half := times(mul(f, 0.5), f)
	tail := times(s, plus(half, r))
	if decimal {
		high := minus(f, half)
		VANDPD(q64(^uint64(1<<32-1)), high, high)
		low := plus(minus(minus(f, high), half), tail)
		a, b := mul(k, 3.01029995663611771306e-01), mul(high, 4.34294481878168880939e-01)
		sum := plus(a, b)
		rest := plus(mul(k, 3.69423907715893078616e-13), mul(plus(low, high), 2.50829467116452752298e-11))
		rest = plus(rest, mul(low, 4.34294481878168880939e-01))
		rest = plus(rest, plus(minus(a, sum), b))
		stored(plus(rest, sum), Mem{Base: x})
	} else {
		inner := minus(minus(half, plus(tail, mul(k, 1.90821492927058770002e-10))), f)
		stored(minus(mul(k, 6.93147180369123816490e-01), inner), Mem{Base: x})
	}
	ADDQ(Imm(32), x)
	DECQ(n)
	JNZ(LabelRef("numbers"))
	mask := GP32()
	VMOVMSKPD(ok, mask)
	CMPL(mask, U8(15))
	all := GP8()
	SETEQ(all)
	VZEROUPPER()
	Store(all, ReturnIndex(0))
	RET()
}
