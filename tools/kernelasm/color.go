package main

import (
	"fmt"
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
	chroma()
	fromRGB()
	toRGB("hsvTruncAVX2", func(v VecVirtual) { VCVTTPS2DQ(v, v) })
	toRGB("hsvRoundAVX2", func(v VecVirtual) { VCVTPS2DQ(v, v) })
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

// broadcast returns a parameter of four bytes in all lanes.
func broadcast(name string) VecVirtual {
	v := YMM()
	a, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(a.Addr, v)
	return v
}

// loadFloats loads eight bytes as float32.
func loadFloats(m Mem) VecVirtual {
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
		sum := loadFloats(Mem{Base: p[1], Disp: 8 * i})
		VMULPS(red, sum, sum)
		for k, w := range []VecVirtual{green, blue} {
			c := loadFloats(Mem{Base: p[2+k], Disp: 8 * i})
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
		v, o := loadFloats(Mem{Base: p[1], Disp: 8 * i}), loadFloats(Mem{Base: p[2], Disp: 8 * i})
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

// bytesAsDwords loads eight bytes as dwords.
func bytesAsDwords(p Register) VecVirtual {
	v := YMM()
	VPMOVZXBD(Mem{Base: p}, v)
	return v
}

// threeOrder is the order of the dwords of storeThree.
var threeOrder Mem

func loadThreeOrder() VecVirtual {
	if threeOrder == (Mem{}) {
		threeOrder = GLOBL("color_three", 8|16)
		for i, at := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
			DATA(4*i, U32(at))
		}
	}
	v := YMM()
	VMOVDQU(threeOrder, v)
	return v
}

// storeThree stores eight bytes of each of three planes, clipped to 0..255.
func storeThree(v [3]VecVirtual, order VecVirtual, p []Register) {
	VPACKUSDW(v[1], v[0], v[0])
	VPACKUSDW(v[2], v[2], v[2])
	VPACKUSWB(v[2], v[0], v[0])
	VPERMD(v[0], order, v[0])
	hi := XMM()
	VEXTRACTI128(U8(1), v[0], hi)
	VMOVQ(v[0].AsX(), Mem{Base: p[0]})
	VMOVHPS(v[0].AsX(), Mem{Base: p[1]})
	VMOVQ(hi, Mem{Base: p[2]})
}

// constant loads eight copies of v.
func constant(name string, v uint32) VecVirtual {
	y := YMM()
	VMOVDQU(dwords(name, v), y)
	return y
}

// binary returns f(a, b) in a new vector.
func binary(f func(b, a, v Op), a, b VecVirtual) VecVirtual {
	v := YMM()
	f(b, a, v)
	return v
}

func fromRGB() {
	function("hsvFromRGBAVX2", "func(h, s, v, red, green, blue *byte, n int, hue float32, turn int32)")
	Doc("hsvFromRGBAVX2 is CVHSV.FromRGBRow for n pixels, a multiple of 8 and not 0. hue is", "the numerator of the reciprocals.")
	p, n := params("h", "s", "v", "red", "green", "blue")
	hue, turn := broadcast("hue"), broadcast("turn")
	sat := constant("hsv_sat", math.Float32bits(255<<12))
	half := constant("hsv_half", 2048)
	order := loadThreeOrder()
	Label("loop")
	r, g, b := bytesAsDwords(p[3]), bytesAsDwords(p[4]), bytesAsDwords(p[5])
	max := func(b, a, v Op) { VPMAXUD(b, a, v) }
	min := func(b, a, v Op) { VPMINUD(b, a, v) }
	v := binary(max, binary(max, r, g), b)
	d := binary(min, binary(min, r, g), b)
	VPSUBD(d, v, d)
	sub := func(a, b VecVirtual) VecVirtual { return binary(func(b, a, v Op) { VPSUBD(b, a, v) }, a, b) }
	equal := func(a, b VecVirtual) VecVirtual { return binary(func(b, a, v Op) { VPCMPEQD(b, a, v) }, a, b) }
	twice := binary(func(b, a, v Op) { VPADDD(b, a, v) }, d, d)
	number := sub(r, g)
	VPADDD(twice, number, number)
	VPADDD(twice, number, number)
	second := sub(b, r)
	VPADDD(twice, second, second)
	VPBLENDVB(equal(v, g), second, number, number)
	VPBLENDVB(equal(v, r), sub(g, b), number, number)
	// Reciprocals of 0 are multiplied by 0.
	reciprocal := func(numerator, of VecVirtual) VecVirtual {
		f := YMM()
		VCVTDQ2PS(of, f)
		VDIVPS(f, numerator, f)
		VCVTPS2DQ(f, f)
		return f
	}
	VPMULLD(reciprocal(hue, d), number, number)
	VPADDD(half, number, number)
	VPSRAD(U8(12), number, number)
	below := YMM()
	VPSRAD(U8(31), number, below)
	VPAND(turn, below, below)
	VPADDD(below, number, number)
	VPMULLD(reciprocal(sat, v), d, d)
	VPADDD(half, d, d)
	VPSRLD(U8(12), d, d)
	storeThree([3]VecVirtual{number, d, v}, order, p)
	advance(8, n, p...)
	VZEROUPPER()
	RET()
}

func toRGB(name string, convert func(v VecVirtual)) {
	// The position of red, green and blue of each sector in the dword of the
	// four parts.
	var shifts [3]Mem
	parts := [8][3]uint32{{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}}
	for c := range shifts {
		shifts[c] = GLOBL(fmt.Sprint(name, "_shift", c), 8|16)
		for i, p := range parts {
			DATA(4*i, U32(8*p[c]))
		}
	}
	function(name, "func(red, green, blue, h, s, v *byte, n int, step float32, turn int32)")
	Doc(name + " is CVHSV.ToRGBRow for n pixels, a multiple of 8 and not 0.")
	p, n := params("red", "green", "blue", "h", "s", "v")
	step, turn := broadcast("step"), broadcast("turn")
	unit := constant(name+"_unit", math.Float32bits(float32(1)/255))
	one := constant(name+"_one", math.Float32bits(1))
	most := constant(name+"_most", math.Float32bits(255))
	low, five, six := constant(name+"_low", 255), constant(name+"_five", 5), constant(name+"_six", 6)
	order := loadThreeOrder()
	Label("loop")
	h := bytesAsDwords(p[3])
	VPADDD(turn, h, h)
	VPAND(low, h, h)
	VCVTDQ2PS(h, h)
	VMULPS(step, h, h)
	sector, f, wrap := YMM(), YMM(), YMM()
	VCVTTPS2DQ(h, sector)
	VCVTDQ2PS(sector, f)
	VSUBPS(f, h, f)
	VPCMPGTD(five, sector, wrap)
	VPAND(six, wrap, wrap)
	VPSUBD(wrap, sector, sector)
	s, v := loadFloats(Mem{Base: p[4]}), loadFloats(Mem{Base: p[5]})
	VMULPS(unit, s, s)
	VMULPS(unit, v, v)
	rest := YMM()
	VSUBPS(f, one, rest)
	t := [4]VecVirtual{v, YMM(), YMM(), YMM()}
	VSUBPS(s, one, t[1])
	VMOVAPS(one, t[2])
	VFNMADD231PS(f, s, t[2])
	VMOVAPS(one, t[3])
	VFNMADD231PS(rest, s, t[3])
	for i, x := range t[1:] {
		VMULPS(v, x, x)
		VMULPS(most, x, x)
		convert(x)
		VPSLLD(U8(8*(1+i)), x, x)
	}
	VMULPS(most, v, v)
	convert(v)
	VPOR(t[1], v, v)
	VPOR(t[3], t[2], t[2])
	VPOR(t[2], v, v)
	var out [3]VecVirtual
	for c := range out {
		out[c] = YMM()
		VMOVDQU(shifts[c], out[c])
		VPERMD(out[c], sector, out[c])
		VPSRLVD(out[c], v, out[c])
		VPAND(low, out[c], out[c])
	}
	storeThree(out, order, p)
	advance(8, n, p...)
	VZEROUPPER()
	RET()
}

func chroma() {
	function("chromaAVX2", "func(dst, c, y *byte, n int, weight int32)")
	Doc("chromaAVX2 is ChromaRow for n values, a multiple of 32 and not 0.")
	p, n := params("dst", "c", "y")
	weight, half := broadcast("weight"), constant("chroma_half", 128<<14+8192)
	zero := YMM()
	VPXOR(zero, zero, zero)
	Label("loop")
	var out [2]VecVirtual
	for i := range out {
		d, y := YMM(), YMM()
		VPMOVZXBW(Mem{Base: p[1], Disp: 16 * i}, d)
		VPMOVZXBW(Mem{Base: p[2], Disp: 16 * i}, y)
		VPSUBW(y, d, d)
		// The high word of a difference and of the weight count for nothing.
		product := func(f func(a, b, c Op)) VecVirtual {
			v := unpack(f, d, zero)
			VPMADDWD(weight, v, v)
			VPADDD(half, v, v)
			VPSRAD(U8(14), v, v)
			return v
		}
		out[i] = product(lowWords)
		VPACKSSDW(product(highWords), out[i], out[i])
	}
	VPACKUSWB(out[1], out[0], out[0])
	VPERMQ(U8(0b11011000), out[0], out[0])
	VMOVDQU(out[0], Mem{Base: p[0]})
	advance(32, n, p...)
	VZEROUPPER()
	RET()
}
