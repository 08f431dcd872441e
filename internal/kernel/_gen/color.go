package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("color", func() {
	sumUint8()
	gray()
	grayFloat("grayFloatAVX2", false)
	grayFloat("grayFusedAVX2", true)
	for _, m := range mixes {
		mix(m)
	}
	smooth13()
})

// params loads the pointers of a function and its number of elements n.
func params(names ...string) (p []Register, n Register) {
	for _, name := range names {
		p = append(p, Load(Param(name), GP64()))
	}
	return p, Load(Param("n"), GP64())
}

// advance ends a loop over n elements of one byte, step at a time.
func advance(step int, n Register, p ...Register) {
	for _, r := range p {
		ADDQ(U8(step), r)
	}
	SUBQ(U8(step), n)
	JNZ(LabelRef("loop"))
}

// broadcast returns a float32 parameter in all lanes.
func broadcast(name string) VecVirtual {
	v := YMM()
	a, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(a.Addr, v)
	return v
}

// floats loads eight bytes as float32.
func floats(m Mem) VecVirtual {
	v := YMM()
	VPMOVZXBD(m, v)
	VCVTDQ2PS(v, v)
	return v
}

// packBytes stores four vectors of eight dwords as bytes, clipped to 0..255.
// order is the constant packOrder.
func packBytes(v [4]VecVirtual, order VecVirtual, to Mem) {
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKUSWB(v[2], v[0], v[0])
	VPERMD(v[0], order, v[0])
	VMOVDQU(v[0], to)
}

var packOrder Mem

// loadPackOrder returns the order of the dwords after two packs.
func loadPackOrder() VecVirtual {
	if packOrder == (Mem{}) {
		packOrder = GLOBL("color_order", 8|16)
		for i := range 8 {
			DATA(4*i, U32(uint32(i/2+i%2*4)))
		}
	}
	v := YMM()
	VMOVDQU(packOrder, v)
	return v
}

func sumUint8() {
	function("sumUint8AVX2", "func(v *byte, n int) uint64")
	Doc("sumUint8AVX2 is the sum of n bytes, a multiple of 32 and not 0.")
	p, n := params("v")
	sum, zero := YMM(), YMM()
	VPXOR(sum, sum, sum)
	VPXOR(zero, zero, zero)
	Label("loop")
	v := YMM()
	VPSADBW(Mem{Base: p[0]}, zero, v)
	VPADDQ(v, sum, sum)
	advance(32, n, p...)
	hi, total := XMM(), GP64()
	VEXTRACTI128(U8(1), sum, hi)
	VPADDQ(hi, sum.AsX(), hi)
	VPSRLDQ(U8(8), hi, sum.AsX())
	VPADDQ(hi, sum.AsX(), hi)
	VMOVQ(hi, total)
	Store(total, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func gray() {
	function("grayAVX2", "func(dst, red, green, blue *byte, n int, weights *[4]uint32)")
	Doc("grayAVX2 computes n gray values, a multiple of 32 and not 0. weights holds", "those of red and green, of blue and green, half of the divisor, and its logarithm.")
	p, n := params("dst", "red", "green", "blue")
	w := Load(Param("weights"), GP64())
	redGreen, blueGreen, half, shift := YMM(), YMM(), YMM(), XMM()
	VPBROADCASTD(Mem{Base: w}, redGreen)
	VPBROADCASTD(Mem{Base: w, Disp: 4}, blueGreen)
	VPBROADCASTD(Mem{Base: w, Disp: 8}, half)
	VMOVD(Mem{Base: w, Disp: 12}, shift)
	Label("loop")
	var out [2]VecVirtual
	for i := range out {
		var c [3]VecVirtual
		for k := range c {
			c[k] = YMM()
			VPMOVZXBW(Mem{Base: p[1+k], Disp: 16 * i}, c[k])
		}
		sum := func(f func(a, b, c Op)) VecVirtual {
			a, b := unpack(f, c[0], c[1]), unpack(f, c[2], c[1])
			VPMADDWD(redGreen, a, a)
			VPMADDWD(blueGreen, b, b)
			VPADDD(b, a, a)
			VPADDD(half, a, a)
			VPSRLD(shift, a, a)
			return a
		}
		out[i] = sum(lowWords)
		VPACKUSDW(sum(highWords), out[i], out[i])
	}
	VPACKUSWB(out[1], out[0], out[0])
	VPERMQ(U8(0b11011000), out[0], out[0])
	VMOVDQU(out[0], Mem{Base: p[0]})
	advance(32, n, p...)
	VZEROUPPER()
	RET()
}

func grayFloat(name string, fused bool) {
	weight := func(color string, f float32) VecVirtual {
		v := YMM()
		VMOVUPS(dwords(name+"_"+color, math.Float32bits(f)), v)
		return v
	}
	function(name, "func(dst, red, green, blue *byte, n int)")
	Doc(name + " computes n gray values in float32, a multiple of 32 and not 0.")
	p, n := params("dst", "red", "green", "blue")
	red, green, blue := weight("red", 0.2989), weight("green", 0.587), weight("blue", 0.114)
	order := loadPackOrder()
	Label("loop")
	var out [4]VecVirtual
	for i := range out {
		sum := floats(Mem{Base: p[1], Disp: 8 * i})
		VMULPS(red, sum, sum)
		for k, w := range []VecVirtual{green, blue} {
			c := floats(Mem{Base: p[2+k], Disp: 8 * i})
			if fused {
				VFMADD231PS(w, c, sum)
			} else {
				VMULPS(w, c, c)
				VADDPS(c, sum, sum)
			}
		}
		VCVTTPS2DQ(sum, sum)
		out[i] = sum
	}
	packBytes(out, order, Mem{Base: p[0]})
	advance(32, n, p...)
	VZEROUPPER()
	RET()
}

// mixes are the rules of Mix. of computes with v, o, factor and rest and may
// change the first two.
var mixes = []struct {
	name  string
	round bool
	of    func(v, o, factor, rest VecVirtual) VecVirtual
}{
	{"Pillow", false, func(v, o, factor, rest VecVirtual) VecVirtual {
		VSUBPS(o, v, v)
		VMULPS(factor, v, v)
		VADDPS(v, o, o)
		return o
	}},
	{"Torch", false, fusedLast},
	{"Difference", false, func(v, o, factor, rest VecVirtual) VecVirtual {
		VSUBPS(v, o, o)
		VFMADD231PS(rest, o, v)
		return v
	}},
	{"OpenCV", true, fusedLast},
	{"MindSpore", true, func(v, o, factor, rest VecVirtual) VecVirtual {
		VMULPS(rest, o, o)
		VFMADD231PS(factor, v, o)
		return o
	}},
	{"MXNet", true, func(v, o, factor, rest VecVirtual) VecVirtual {
		VMULPS(rest, o, o)
		VMULPS(factor, v, v)
		VADDPS(o, v, v)
		return v
	}},
}

func fusedLast(v, o, factor, rest VecVirtual) VecVirtual {
	VMULPS(factor, v, v)
	VFMADD231PS(rest, o, v)
	return v
}

func mix(m struct {
	name  string
	round bool
	of    func(v, o, factor, rest VecVirtual) VecVirtual
}) {
	name := "mix" + m.name + "AVX2"
	function(name, "func(dst, v, other *byte, n int, factor, rest float32)")
	Doc(name + " is Mix.Row for n values, a multiple of 32 and not 0.")
	p, n := params("dst", "v", "other")
	factor, rest := broadcast("factor"), broadcast("rest")
	order := loadPackOrder()
	Label("loop")
	var out [4]VecVirtual
	for i := range out {
		v, o := floats(Mem{Base: p[1], Disp: 8 * i}), floats(Mem{Base: p[2], Disp: 8 * i})
		out[i] = m.of(v, o, factor, rest)
		if m.round {
			VCVTPS2DQ(out[i], out[i])
		} else {
			VCVTTPS2DQ(out[i], out[i])
		}
	}
	packBytes(out, order, Mem{Base: p[0]})
	advance(32, n, p...)
	VZEROUPPER()
	RET()
}

func smooth13() {
	same := func(name string, v int) Mem { return words("smooth13_"+name, v, v) }
	half, reciprocal := same("half", 13), same("reciprocal", 40330) // 2^20 / 26
	function("smooth13AVX2", "func(dst, a, b, c *byte, n, px int)")
	Doc("smooth13AVX2 is Smooth13 for n values, a multiple of 32 and not 0.")
	p, n := params("dst", "a", "b", "c")
	px := Load(Param("px"), GP64())
	round, by := YMM(), YMM()
	VMOVDQU(half, round)
	VMOVDQU(reciprocal, by)
	Label("loop")
	var out [2]VecVirtual
	for i := range out {
		sum := YMM()
		VPMOVZXBW(Mem{Base: p[2], Index: px, Scale: 1, Disp: 16 * i}, sum)
		four := YMM()
		VPSLLW(U8(2), sum, four)
		VPADDW(four, sum, sum)
		add := func(m Mem) {
			v := YMM()
			VPMOVZXBW(m, v)
			VPADDW(v, sum, sum)
		}
		for k, row := range p[1:] {
			add(Mem{Base: row, Disp: 16 * i})
			if k != 1 {
				add(Mem{Base: row, Index: px, Scale: 1, Disp: 16 * i})
			}
			add(Mem{Base: row, Index: px, Scale: 2, Disp: 16 * i})
		}
		VPADDW(sum, sum, sum)
		VPADDW(round, sum, sum)
		VPMULHUW(by, sum, sum)
		VPSRLW(U8(4), sum, sum)
		out[i] = sum
	}
	VPACKUSWB(out[1], out[0], out[0])
	VPERMQ(U8(0b11011000), out[0], out[0])
	VMOVDQU(out[0], Mem{Base: p[0]})
	advance(32, n, p...)
	VZEROUPPER()
	RET()
}
