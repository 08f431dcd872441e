package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("warp", warp)

func warp() {
	for _, size := range []int{1, 3, 4} {
		pickOr(size)
	}
	pilFixed()
	pilCoords("pilAffineAVX2", false)
	pilCoords("pilPerspectiveAVX2", true)
	pilIndex()
	for _, size := range []int{1, 3, 4} {
		pilBilinear(size)
	}
	cvIndex()
	for _, size := range []int{1, 3, 4} {
		cvBilinear(size)
	}
	for _, size := range []int{3, 4} {
		cvBicubic(size)
		cvLanczos(size)
	}
	cvPerspective("cvPerspective1AVX2", 0)
	cvPerspective("cvPerspective32AVX2", 5)
	torchAffine()
	torchPerspective()
	torchDisplace()
	torchIndex()
	for _, size := range []int{1, 3, 4} {
		torchBilinear(size)
	}
}

// warpLanes is 0 to 7.
func warpLanes() Mem { return warpSteps("warp_lanes", func(i int) uint32 { return uint32(i) }) }

var warpConstants = map[string]Mem{}

// warpSteps is a constant of eight dwords.
func warpSteps(name string, at func(i int) uint32) Mem {
	if m, ok := warpConstants[name]; ok {
		return m
	}
	m := GLOBL(name, 8|16)
	for i := range 8 {
		DATA(4*i, U32(at(i)))
	}
	warpConstants[name] = m
	return m
}

// warpDword is a constant of eight equal dwords.
func warpDword(name string, v uint32) Mem { return warpSteps(name, func(int) uint32 { return v }) }

// warpQword is a constant of four equal qwords.
func warpQword(name string, v uint64) Mem {
	return warpSteps(name, func(i int) uint32 { return uint32(v >> (i % 2 * 32)) })
}

// everyDword fills a register with a parameter.
func everyDword(name string) VecVirtual {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := YMM()
	VBROADCASTSS(p.Addr, v)
	return v
}

// everyQword fills a register with a number in memory.
func everyQword(m Mem) VecVirtual {
	v := YMM()
	VBROADCASTSD(m, v)
	return v
}

// warpPlane converts pixels to offsets in an image.
type warpPlane struct{ right, bottom, line, size VecVirtual }

const warpPlaneArgs = "right, bottom, line, size int32"

func loadWarpPlane() warpPlane {
	return warpPlane{everyDword("right"), everyDword("bottom"), everyDword("line"), everyDword("size")}
}

// outside returns a register whose sign bits are set if x is not in 0..right or
// y not in 0..bottom.
func (p warpPlane) outside(x, y VecVirtual) VecVirtual {
	bad, t := YMM(), YMM()
	VPCMPGTD(p.right, x, bad)
	VPCMPGTD(p.bottom, y, t)
	VPOR(t, bad, bad)
	VPOR(x, bad, bad)
	VPOR(y, bad, bad)
	return bad
}

// offset returns y*line + x*size. It overwrites x and y.
func (p warpPlane) offset(x, y VecVirtual) VecVirtual {
	VPMULLD(p.line, y, y)
	VPMULLD(p.size, x, x)
	VPADDD(x, y, y)
	return y
}

// store writes the offsets of x and y, or -1 outside. It overwrites x and y.
func (p warpPlane) store(x, y VecVirtual, index Register) {
	bad := p.outside(x, y)
	VPSRAD(U8(31), bad, bad)
	at := p.offset(x, y)
	VPOR(bad, at, at)
	VMOVDQU(at, Mem{Base: index})
}

// pickOr copies pixels of size bytes or the fill, eight at a time.
func pickOr(size int) {
	name := fmt.Sprintf("pickOr%dAVX2", size)
	function(name, "func(dst, src *byte, n int, index *int32, limit int32, fill uint32) int")
	Doc(fmt.Sprintf("%s copies up to n pixels of %d bytes, n a multiple of 8 and not 0, from the", name, size), "offsets index, and returns how many. The pixel of a negative offset is fill. It stops at",
		"eight of which one has an offset above limit. It reads 4 bytes at the offset of a", "pixel.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, index := Load(Param("n"), GP64()), Load(Param("index"), GP64())
	limit, fill, ones := everyDword("limit"), everyDword("fill"), allOnes()
	w := newPixelWriter(size)
	from := GP64()
	MOVQ(n, from)
	Label("loop")
	at, v, mask := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: index}, at)
	m := GP32()
	VMOVDQA(fill, v)
	VMOVMSKPS(at, m)
	CMPL(m, U32(0xFF))
	JEQ(LabelRef("write"))
	VPCMPGTD(limit, at, mask)
	VPTEST(mask, mask)
	JNZ(LabelRef("stop"))
	VPXOR(ones, at, mask)
	VPGATHERDD(mask, Mem{Base: src, Index: at, Scale: 1}, v)
	Label("write")
	w.write(v, dst)
	ADDQ(U8(32), index)
	ADDQ(U8(8*size), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	Label("stop")
	SUBQ(n, from)
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// arithmetic fills a register with a parameter, plus a multiple of another in
// each lane, and another register with eight times the latter.
func arithmetic(first, step string) (v, eight VecVirtual) {
	v, d, l := everyDword(first), everyDword(step), YMM()
	eight = YMM()
	VPMULLD(warpLanes(), d, l)
	VPADDD(l, v, v)
	VPSLLD(U8(3), d, eight)
	return v, eight
}

func pilFixed() {
	function("pilFixedAVX2", "func(index *int32, n int, x, y, dx, dy, "+warpPlaneArgs+")")
	Doc("pilFixedAVX2 writes the offsets of n pixels, a multiple of 8 and not 0, or -1 outside", "the image. Pixel i is at (x + i*dx, y + i*dy), with 16 fractional bits.")
	index, n := Load(Param("index"), GP64()), Load(Param("n"), GP64())
	x, dx := arithmetic("x", "dx")
	y, dy := arithmetic("y", "dy")
	p := loadWarpPlane()
	Label("loop")
	xi, yi := YMM(), YMM()
	VPSRAD(U8(16), x, xi)
	VPSRAD(U8(16), y, yi)
	p.store(xi, yi, index)
	VPADDD(dx, x, x)
	VPADDD(dy, y, y)
	ADDQ(U8(32), index)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// pilCoords computes four positions at a time.
func pilCoords(name string, projective bool) {
	function(name, "func(xs, ys *float64, n int, m *[9]float64)")
	what := "AffineCoords"
	if projective {
		what = "PerspectiveCoords"
	}
	Doc(fmt.Sprintf("%s is %s for n positions, a multiple of 4 and not 0.", name, what), "m holds the three numbers of each row of the map, the second ones times the row's",
		"position. The last number of the third row is the position of the first column.")
	xs, ys := Load(Param("xs"), GP64()), Load(Param("ys"), GP64())
	n, m := Load(Param("n"), GP64()), Load(Param("m"), GP64())
	var k [9]VecVirtual
	for i := range k {
		if i < 6 || i == 8 || projective {
			k[i] = everyQword(Mem{Base: m, Disp: 8 * i})
		}
	}
	u := k[8]
	VADDPD(fourLanes(), u, u)
	Label("loop")
	var d VecVirtual
	if projective {
		d = YMM()
		VMULPD(k[6], u, d)
		VADDPD(k[7], d, d)
		VADDPD(warpQword("warp_one64", 0x3FF0000000000000), d, d)
	}
	for r, p := range []Register{xs, ys} {
		v := YMM()
		VMULPD(k[3*r], u, v)
		VADDPD(k[3*r+1], v, v)
		VADDPD(k[3*r+2], v, v)
		if projective {
			VDIVPD(d, v, v)
		}
		VMOVUPD(v, Mem{Base: p})
		ADDQ(U8(32), p)
	}
	VADDPD(warpQword("warp_four64", 0x4010000000000000), u, u)
	SUBQ(U8(4), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// wholes converts the floors of eight numbers in memory. Numbers that an int32
// cannot hold become negative.
func wholes(p Register) VecVirtual {
	var h [2]VecVirtual
	for i := range h {
		h[i] = YMM()
		VROUNDPD(U8(1), Mem{Base: p, Disp: 32 * i}, h[i])
		VCVTTPD2DQY(h[i], h[i].AsX())
	}
	VINSERTI128(U8(1), h[1].AsX(), h[0], h[0])
	return h[0]
}

func pilIndex() {
	function("pilIndexAVX2", "func(index *int32, xs, ys *float64, n int, "+warpPlaneArgs+")")
	Doc("pilIndexAVX2 writes the offsets of the pixels that contain n positions, a multiple of 8", "and not 0, or -1 outside the image.")
	index := Load(Param("index"), GP64())
	xs, ys := Load(Param("xs"), GP64()), Load(Param("ys"), GP64())
	n := Load(Param("n"), GP64())
	p := loadWarpPlane()
	Label("loop")
	x, y := wholes(xs), wholes(ys)
	p.store(x, y, index)
	ADDQ(U8(64), xs)
	ADDQ(U8(64), ys)
	ADDQ(U8(32), index)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// pilBilinear mixes four pixels of size bytes, for four outputs at a time.
func pilBilinear(size int) {
	name := fmt.Sprintf("pilBilinear%dAVX2", size)
	function(name, "func(dst, src *byte, n int, xs, ys *float64, w, h float64, "+warpPlaneArgs+", limit int32, fill uint32) int")
	Doc(fmt.Sprintf("%s computes up to n pixels of %d bytes, n a multiple of 4 and not 0,", name, size), "and returns how many. It stops at four that read at an offset above limit, or have a",
		"position that is not a number. It reads 4 bytes at the offset of a pixel.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	xs, ys := Load(Param("xs"), GP64()), Load(Param("ys"), GP64())
	every := func(name string) VecVirtual {
		p, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		return everyQword(p.Addr)
	}
	side := []VecVirtual{every("w"), every("h")}
	l := locals{AllocLocal(6*32 + 4*16 + 2*32)}
	right, bottom := l.param(0, "right"), l.param(1, "bottom")
	line, sizes := l.param(2, "line"), l.param(3, "size")
	limit, fill := l.param(4, "limit"), l.param(5, "fill")
	offset := func(i int) Mem { return l.at.Offset(6*32 + 16*i) }
	from := GP64()
	MOVQ(n, from)
	w := newPixelWriter(size)
	Label("loop")
	v := []VecVirtual{YMM(), YMM()}
	VMOVUPD(Mem{Base: xs}, v[0])
	VMOVUPD(Mem{Base: ys}, v[1])
	m, t := GP32(), YMM()
	VCMPPD(U8(3), v[1], v[0], t) // unordered
	VMOVMSKPD(t, m)
	TESTL(m, m)
	JNZ(LabelRef("stop"))
	valid, zero := YMM(), YMM()
	VXORPD(zero, zero, zero)
	VCMPPD(U8(13), zero, v[0], valid) // v >= 0
	for i, v := range v {
		if i > 0 {
			VCMPPD(U8(13), zero, v, t)
			VANDPD(t, valid, valid)
		}
		VCMPPD(U8(1), side[i], v, t) // v < side
		VANDPD(t, valid, valid)
	}
	VMOVMSKPD(valid, m)
	TESTL(m, m)
	JZ(LabelRef("outside"))
	hi, mask := XMM(), XMM()
	VEXTRACTF128(U8(1), valid, hi)
	VSHUFPS(U8(0x88), hi, valid.AsX(), mask)
	// The pixels before and after, of which those outside repeat the border.
	var before, after [2]VecVirtual
	for i, v := range v {
		VSUBPD(warpQword("warp_half64", 0x3FE0000000000000), v, v)
		VROUNDPD(U8(1), v, t)
		VSUBPD(t, v, v) // the distance
		VMOVUPD(v, l.at.Offset(6*32+4*16+32*i))
		a, b := XMM(), XMM()
		VCVTTPD2DQY(t, a)
		VPAND(mask, a, a)
		VPSUBD(warpDword("warp_ones", 0xFFFFFFFF), a, b)
		VPMINSD([]Mem{right, bottom}[i], b, b)
		VPMAXSD(warpDword("warp_zeros", 0), a, a)
		scale := []Mem{sizes, line}[i]
		VPMULLD(scale, a, a)
		VPMULLD(scale, b, b)
		before[i], after[i] = a, b.(VecVirtual)
	}
	o := XMM()
	for i, row := range []VecVirtual{before[1], after[1]} {
		for j, column := range []VecVirtual{before[0], after[0]} {
			VPADDD(row, column, o)
			VMOVDQU(o, offset(2*i+j))
		}
	}
	VPCMPGTD(limit, o, o)
	VMOVMSKPS(o, m)
	TESTL(m, m)
	JNZ(LabelRef("stop"))
	mixed := func(p [4]VecVirtual, dx, dy VecVirtual) VecVirtual {
		var r [2]VecVirtual
		for i := range r {
			a, b := YMM(), YMM()
			VPSUBD(p[2*i], p[2*i+1], p[2*i+1])
			VCVTDQ2PD(p[2*i], a)
			VCVTDQ2PD(p[2*i+1], b)
			VMULPD(dx, b, b)
			VADDPD(b, a, a)
			r[i] = a
		}
		VSUBPD(r[0], r[1], r[1])
		VMULPD(dy, r[1], r[1])
		VADDPD(r[1], r[0], r[0])
		x := XMM()
		VCVTTPD2DQY(r[0], x)
		return x
	}
	var result VecVirtual
	if size == 1 {
		var p [4]VecVirtual
		for i := range p {
			p[i] = XMM()
			ones, at := XMM(), XMM()
			VPCMPEQD(ones, ones, ones)
			VPXOR(p[i], p[i], p[i])
			VMOVDQU(offset(i), at)
			VPGATHERDD(ones, Mem{Base: src, Index: at, Scale: 1}, p[i])
			VPAND(warpDword("warp_255", 255), p[i], p[i])
		}
		result = mixed(p, v[0], v[1])
	} else {
		var r [4]VecVirtual
		for j := range r {
			var p [4]VecVirtual
			for i := range p {
				at := GP64()
				p[i] = XMM()
				MOVLQSX(offset(i).Offset(4*j), at)
				VPMOVZXBD(Mem{Base: src, Index: at, Scale: 1}, p[i])
			}
			r[j] = mixed(p, everyQword(l.at.Offset(6*32+4*16+8*j)), everyQword(l.at.Offset(6*32+4*16+32+8*j)))
		}
		VPACKSSDW(r[1], r[0], r[0])
		VPACKSSDW(r[3], r[2], r[2])
		VPACKUSWB(r[2], r[0], r[0])
		result = r[0]
	}
	f := XMM()
	VMOVDQU(fill, f)
	VBLENDVPS(mask, result, f, result)
	Label("write")
	w.writeFour(result, dst)
	ADDQ(U8(32), xs)
	ADDQ(U8(32), ys)
	ADDQ(U8(4*size), dst)
	SUBQ(U8(4), n)
	JNZ(LabelRef("loop"))
	Label("stop")
	SUBQ(n, from)
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("outside")
	VMOVDQU(fill, result)
	JMP(LabelRef("write"))
}

func cvIndex() {
	function("cvIndexAVX2", "func(index *int32, n int, dx, dy *int32, x, y, "+warpPlaneArgs+")")
	Doc("cvIndexAVX2 writes the offsets of n pixels, a multiple of 8 and not 0, or -1 outside", "the image. Pixel i is at (x + dx[i], y + dy[i]), with 10 fractional bits.")
	index, n := Load(Param("index"), GP64()), Load(Param("n"), GP64())
	dx, dy := Load(Param("dx"), GP64()), Load(Param("dy"), GP64())
	x, y := everyDword("x"), everyDword("y")
	p := loadWarpPlane()
	Label("loop")
	xi, yi := YMM(), YMM()
	VPADDD(Mem{Base: dx}, x, xi)
	VPADDD(Mem{Base: dy}, y, yi)
	VPSRAD(U8(10), xi, xi)
	VPSRAD(U8(10), yi, yi)
	p.store(xi, yi, index)
	ADDQ(U8(32), dx)
	ADDQ(U8(32), dy)
	ADDQ(U8(32), index)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// pixelWriter writes eight pixels that are dwords.
type pixelWriter struct {
	size         int
	close, order Mem
}

func newPixelWriter(size int) pixelWriter {
	w := pixelWriter{size: size}
	if size < 4 {
		w.close = warpSteps(fmt.Sprintf("warp_close%d", size), func(i int) uint32 {
			v := uint32(0x80808080)
			for b := range 4 {
				if k := i%4*4 + b; k < 4*size {
					v = v&^(0xFF<<(8*b)) | uint32(k/size*4+k%size)<<(8*b)
				}
			}
			return v
		})
		w.order = warpSteps("warp_order3", func(i int) uint32 { return []uint32{0, 1, 2, 4, 5, 6, 3, 7}[i] })
	}
	return w
}

// write overwrites v.
func (w pixelWriter) write(v VecVirtual, dst Register) {
	if w.size < 4 {
		VPSHUFB(w.close, v, v)
	}
	switch hi := XMM(); w.size {
	case 1:
		VEXTRACTI128(U8(1), v, hi)
		VPUNPCKLDQ(hi, v.AsX(), v.AsX())
		VMOVQ(v.AsX(), Mem{Base: dst})
	case 3:
		order := YMM()
		VMOVDQU(w.order, order)
		VPERMD(v, order, v)
		VMOVDQU(v.AsX(), Mem{Base: dst})
		VEXTRACTI128(U8(1), v, hi)
		VMOVQ(hi, Mem{Base: dst, Disp: 16})
	case 4:
		VMOVDQU(v, Mem{Base: dst})
	}
}

// locals are constants of 32 bytes in the function's frame.
type locals struct{ at Mem }

// param stores a dword parameter in all lanes of local i.
func (l locals) param(i int, name string) Mem {
	m := l.at.Offset(32 * i)
	VMOVDQU(everyDword(name), m)
	return m
}

// writeFour is write for four pixels.
func (w pixelWriter) writeFour(v VecVirtual, dst Register) {
	switch w.size {
	case 1:
		VPSHUFB(w.close, v, v)
		VMOVD(v, Mem{Base: dst})
	case 3:
		VPSHUFB(w.close, v, v)
		VMOVQ(v, Mem{Base: dst})
		VPEXTRD(U8(2), v, Mem{Base: dst, Disp: 8})
	case 4:
		VMOVDQU(v, Mem{Base: dst})
	}
}

// cvLocals are the parameters of the functions that mix pixels as OpenCV does.
type cvLocals struct {
	locals
	x, y, limit, fill, line, size Mem
	right, bottom                 VecVirtual
}

// newCVLocals has room for more locals behind.
func newCVLocals(more int) cvLocals {
	l := cvLocals{locals: locals{AllocLocal((6 + more) * 32)}}
	l.x, l.y, l.limit, l.fill = l.param(0, "x"), l.param(1, "y"), l.param(2, "limit"), l.param(3, "fill")
	l.line, l.size = l.param(4, "line"), l.param(5, "size")
	l.right, l.bottom = everyDword("right"), everyDword("bottom")
	return l
}

// places returns the positions of 8 lanes, or of 4 that are there twice, with 5
// fractional bits. It also returns the offsets of the first of taps x taps
// pixels, and a register whose sign bits are set outside the image. It jumps to
// "stop" if a lane needs plain Go, to "fill" if all are outside, and to "mix"
// if all are inside. "mix" must follow.
func (l cvLocals) places(dx, dy Register, taps, lanes int) (x, y, at, bad VecVirtual) {
	x, y, at = YMM(), YMM(), YMM()
	xi, yi, t := YMM(), YMM(), YMM()
	load := func(from Register, v VecVirtual) {
		if lanes == 4 {
			VBROADCASTI128(Mem{Base: from}, v)
		} else {
			VMOVDQU(Mem{Base: from}, v)
		}
	}
	load(dx, x)
	load(dy, y)
	VPADDD(l.x, x, x)
	VPADDD(l.y, y, y)
	VPSRAD(U8(5), x, x)
	VPSRAD(U8(5), y, y)
	VPSRAD(U8(5), x, xi)
	VPSRAD(U8(5), y, yi)
	if before := taps/2 - 1; before > 0 {
		first := warpDword(fmt.Sprintf("warp_first%d", taps), uint32(-before))
		VPADDD(first, xi, xi)
		VPADDD(first, yi, yi)
	}
	p := warpPlane{right: l.right, bottom: l.bottom}
	bad = p.outside(xi, yi)
	VPMULLD(l.line, yi, at)
	VPMULLD(l.size, xi, t)
	VPADDD(t, at, at)
	VPCMPGTD(l.limit, at, t)
	VPOR(t, bad, bad)
	m := GP32()
	VMOVMSKPS(bad, m)
	TESTL(m, m)
	JZ(LabelRef("mix"))

	// Pixels are fill if all taps are outside.
	reach := warpDword(fmt.Sprintf("warp_reach%d", taps), uint32(taps-1))
	far, back := YMM(), warpDword(fmt.Sprintf("warp_back%d", taps), uint32(1-taps))
	VPADDD(back, xi, far)
	VPCMPGTD(l.right, far, far)
	VPADDD(back, yi, t)
	VPCMPGTD(l.bottom, t, t)
	VPOR(t, far, far)
	VPADDD(reach, xi, xi)
	VPADDD(reach, yi, yi)
	VPOR(xi, far, far)
	VPOR(yi, far, far)
	VPANDN(bad, far, t)
	VMOVMSKPS(t, m)
	TESTL(m, m)
	JNZ(LabelRef("stop"))
	VMOVMSKPS(bad, m)
	CMPL(m, U32(0xFF))
	JEQ(LabelRef("fill"))
	VPSRAD(U8(31), bad, t)
	VPANDN(at, t, at)
	return x, y, at, bad
}

// cvBicubic mixes 4 x 4 pixels of size bytes, for four outputs at a time.
func cvBicubic(size int) {
	cvTaps(fmt.Sprintf("cvBicubic%dAVX2", size), size, 4, func(taps [2]Mem, src, line, weights Register) VecVirtual {
		t, below := YMM(), GP64()
		VMOVDQU(Mem{Base: weights}, t)
		LEAQ(Mem{Base: src, Index: line, Scale: 2}, below)
		var sum VecVirtual
		for r := range 2 { // with row r + 2 in the upper lane
			v := YMM()
			if r == 0 {
				VBROADCASTI128(Mem{Base: src}, v)
				VINSERTI128(U8(1), Mem{Base: below}, v, v)
			} else {
				VBROADCASTI128(Mem{Base: src, Index: line, Scale: 1}, v)
				VINSERTI128(U8(1), Mem{Base: below, Index: line, Scale: 1}, v, v)
			}
			sum = cvPairs(sum, v, t, taps, 2*r)
		}
		return sum
	})
}

// cvLanczos mixes 8 x 8 pixels of size bytes, for four outputs at a time.
func cvLanczos(size int) {
	cvTaps(fmt.Sprintf("cvLanczos%dAVX2", size), size, 8, func(taps [2]Mem, src, line, weights Register) VecVirtual {
		var sum VecVirtual
		for r := range 8 {
			// The last four of a row are in the upper lane.
			t, v := YMM(), YMM()
			VPERMQ(U8([]int{0x50, 0xFA}[r%2]), Mem{Base: weights, Disp: r / 2 * 32}, t)
			VBROADCASTI128(Mem{Base: src}, v)
			VINSERTI128(U8(1), Mem{Base: src, Disp: 4 * size}, v, v)
			sum = cvPairs(sum, v, t, taps, 0)
			if r < 7 {
				ADDQ(line, src)
			}
		}
		return sum
	})
}

// cvPairs adds the products of two pairs of pixels, by the weights at the
// dwords first and first + 1 of the lanes of t.
func cvPairs(sum, v, t VecVirtual, taps [2]Mem, first int) VecVirtual {
	for h, m := range taps {
		u, f := YMM(), YMM()
		VPSHUFB(m, v, u)
		VPSHUFD(U8((first+h)*0x55), t, f)
		VPMADDWD(f, u, u)
		if sum == nil {
			sum = u
		} else {
			VPADDD(u, sum, sum)
		}
	}
	return sum
}

// cvTaps mixes k x k pixels of size bytes, for four outputs at a time. mix
// returns the sums of a pixel; both lanes are still to be added.
func cvTaps(name string, size, k int, mix func(taps [2]Mem, src, line, weights Register) VecVirtual) {
	var taps [2]Mem // the pairs of four pixels
	for h := range taps {
		taps[h] = warpSteps(fmt.Sprintf("cv_pairs_of%d_%d", size, h), func(i int) uint32 {
			c, s := uint32(i%4), uint32(size)
			if c >= s {
				return 0x80808080
			}
			first := uint32(2*h)*s + c
			return 0x80008000 | first | (first+s)<<16
		})
	}
	function(name, "func(dst, src *byte, n int, dx, dy *int32, x, y, "+warpPlaneArgs+", limit int32, fill uint32, weights *int16) int")
	Doc(fmt.Sprintf("%s is cvBilinear%dAVX2 for %d x %d pixels and the table of weights, in", name, size, k, k), "groups of four. right and bottom are the last positions of the first tap. It reads",
		fmt.Sprintf("%d bytes at the offset of the first tap and at those of the pixels below.", (k-4)*size+16))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	dx, dy := Load(Param("dx"), GP64()), Load(Param("dy"), GP64())
	weights := Load(Param("weights"), GP64())
	l := newCVLocals(3)
	line := GP64()
	MOVL(l.line, line.As32())
	offsets, tables, sums := l.at.Offset(6*32), l.at.Offset(6*32+16), l.at.Offset(7*32)
	w := newPixelWriter(size)
	from := GP64()
	MOVQ(n, from)
	Label("loop")
	x, y, at, bad := l.places(dx, dy, k, 4)
	Label("mix")
	VMOVDQU(at.AsX(), offsets)
	VPAND(warpDword("warp_31", 31), x, x)
	VPAND(warpDword("warp_31", 31), y, y)
	VPSLLD(U8(5), y, y)
	VPOR(x, y, y)
	VPSLLD(U8(map[int]int{4: 5, 8: 7}[k]), y, y) // the bytes of k x k weights
	VMOVDQU(y.AsX(), tables)
	for j := range 4 {
		o, t := GP64(), GP64()
		MOVLQSX(offsets.Offset(4*j), o)
		ADDQ(src, o)
		MOVLQSX(tables.Offset(4*j), t)
		ADDQ(weights, t)
		sum, hi := mix(taps, o, line, t), XMM()
		VEXTRACTI128(U8(1), sum, hi)
		VPADDD(hi, sum.AsX(), hi)
		VMOVDQU(hi, sums.Offset(16*j))
	}
	var s [4]VecVirtual
	for j := range s {
		s[j] = XMM()
		VMOVDQU(warpDword("warp_16384", 16384), s[j])
		VPADDD(sums.Offset(16*j), s[j], s[j])
		VPSRAD(U8(15), s[j], s[j])
	}
	VPACKSSDW(s[1], s[0], s[0])
	VPACKSSDW(s[3], s[2], s[2])
	VPACKUSWB(s[2], s[0], s[0])
	f := XMM()
	VMOVDQU(l.fill, f)
	VBLENDVPS(bad.AsX(), f, s[0], s[0])
	Label("write")
	w.writeFour(s[0], dst)
	ADDQ(U8(16), dx)
	ADDQ(U8(16), dy)
	ADDQ(U8(4*size), dst)
	SUBQ(U8(4), n)
	JNZ(LabelRef("loop"))
	Label("stop")
	SUBQ(n, from)
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("fill")
	VMOVDQU(l.fill, s[0])
	JMP(LabelRef("write"))
}

// cvBilinear mixes four pixels of size bytes, for eight outputs at a time.
func cvBilinear(size int) {
	taps := warpSteps(fmt.Sprintf("cv_taps%d", size), func(i int) uint32 {
		c, s := uint32(i%4), uint32(size)
		if c >= s {
			return 0x80808080
		}
		return c | (c+s)<<8 | (8+c)<<16 | (8+c+s)<<24
	})
	name := fmt.Sprintf("cvBilinear%dAVX2", size)
	function(name, "func(dst, src *byte, n int, dx, dy *int32, x, y, "+warpPlaneArgs+", limit int32, fill uint32) int")
	Doc(fmt.Sprintf("%s computes up to n pixels of %d bytes, n a multiple of 8 and not 0,", name, size), "and returns how many. Pixel i is at (x + dx[i], y + dy[i]), with 10 fractional bits. It",
		"stops at eight of which one mixes pixels inside and outside the image, or is at an", "offset above limit. right and bottom are those of the last pixel that has a next one.",
		"It reads 8 bytes at the offset of a pixel and at that of the pixel below. limit is at", "least 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	dx, dy := Load(Param("dx"), GP64()), Load(Param("dy"), GP64())
	l := newCVLocals(1)
	fill, offsets := l.fill, l.at.Offset(6*32)
	below := GP64()
	MOVL(l.line, below.As32())
	ADDQ(src, below)
	w := newPixelWriter(size)
	from := GP64()
	MOVQ(n, from)
	Label("loop")
	x, y, at, bad := l.places(dx, dy, 2, 8)
	Label("mix")
	// The weights along x are bytes, and those along y words.
	frac := func(v VecVirtual, shuffle, flip Mem) {
		VPAND(warpDword("warp_31", 31), v, v)
		VPSHUFB(shuffle, v, v)
		VPXOR(flip, v, v)
	}
	frac(x, warpSteps("warp_rep8", func(i int) uint32 { return uint32(i%4) * 0x04040404 }), warpDword("warp_flip8", 0x00FF00FF))
	VPADDB(warpDword("warp_33_8", 0x00210021), x, x)
	frac(y, warpSteps("warp_rep16", func(i int) uint32 { return uint32(i%4)*0x04040404 | 0x80008000 }), warpDword("warp_flip16", 0x0000FFFF))
	VPADDW(warpDword("warp_33_16", 33), y, y)
	round := warpDword("warp_512", 512)
	var s [4]VecVirtual
	if size == 1 {
		s[0] = YMM()
		VPXOR(s[0], s[0], s[0])
		q, ones := zeros(), allOnes()
		VPGATHERDD(ones, Mem{Base: src, Index: at, Scale: 1}, s[0])
		ones = allOnes()
		VPGATHERDD(ones, Mem{Base: below, Index: at, Scale: 1}, q)
		VPSLLD(U8(16), q, q)
		VPBLENDW(U8(0xAA), q, s[0], s[0])
		VPMADDUBSW(x, s[0], s[0])
		VPMADDWD(y, s[0], s[0])
		VPADDD(round, s[0], s[0])
		VPSRLD(U8(10), s[0], s[0])
	} else {
		VMOVDQU(at, offsets)
		for j := range s {
			hi, wx := XMM(), YMM()
			s[j] = YMM()
			for k, v := range []Register{s[j].AsX(), hi} {
				o := GP64()
				MOVLQSX(offsets.Offset(4*j+16*k), o)
				VMOVQ(Mem{Base: src, Index: o, Scale: 1}, v)
				VMOVHPS(Mem{Base: below, Index: o, Scale: 1}, v, v)
			}
			VINSERTI128(U8(1), hi, s[j], s[j])
			VPSHUFB(taps, s[j], s[j])
			VPSHUFD(U8(j*0x55), x, wx)
			VPMADDUBSW(wx, s[j], s[j])
			VPSHUFD(U8(j*0x55), y, wx)
			VPMADDWD(wx, s[j], s[j])
			VPADDD(round, s[j], s[j])
			VPSRLD(U8(10), s[j], s[j])
		}
		VPACKSSDW(s[1], s[0], s[0])
		VPACKSSDW(s[3], s[2], s[2])
		VPACKUSWB(s[2], s[0], s[0])
	}
	f := YMM()
	VMOVDQU(fill, f)
	VBLENDVPS(bad, f, s[0], s[0])
	Label("write")
	w.write(s[0], dst)
	ADDQ(U8(32), dx)
	ADDQ(U8(32), dy)
	ADDQ(U8(8*size), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	Label("stop")
	SUBQ(n, from)
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("fill")
	VMOVDQU(fill, s[0])
	JMP(LabelRef("write"))
}

// cvPerspective computes four positions at a time, with frac fractional bits.
func cvPerspective(name string, frac uint8) {
	function(name, "func(dx, dy *int32, n int, m *[9]float64)")
	Doc(name+" computes n positions of PerspectiveDeltas, a multiple of 4 and not 0, of one",
		"block. m holds the start and the step of x, y and w, the first column in the block, and", "the number of positions in a pixel.")
	dx, dy := Load(Param("dx"), GP64()), Load(Param("dy"), GP64())
	n, m := Load(Param("n"), GP64()), Load(Param("m"), GP64())
	var k [8]VecVirtual
	for i := range k {
		k[i] = everyQword(Mem{Base: m, Disp: 8 * i})
	}
	i, scale := k[6], k[7]
	VADDPD(fourLanes(), i, i)
	most, zero := YMM(), YMM()
	VMOVUPD(warpQword("warp_most64", 0x41DFFFFFFFC00000), most)
	VXORPD(zero, zero, zero)
	Label("loop")
	w, t := YMM(), YMM()
	VMULPD(k[5], i, w)
	VADDPD(k[4], w, w)
	VCMPPD(U8(4), zero, w, t) // not equal, or unordered
	VDIVPD(w, scale, w)
	VANDPD(t, w, w)
	var v [2]VecVirtual
	for r := range v {
		v[r] = YMM()
		VMULPD(k[2*r+1], i, v[r])
		VADDPD(k[2*r], v[r], v[r])
		VMULPD(w, v[r], v[r])
		// The second operand is the result if one is not a number. That, and
		// what is too small, converts to the smallest int32.
		VMINPD(v[r], most, v[r])
		VCVTPD2DQY(v[r], v[r].AsX())
	}
	x, f := v[0], YMM()
	VINSERTI128(U8(1), v[1].AsX(), x, x)
	if frac > 0 {
		VPAND(warpDword("warp_31", 31), x, f)
		VPSRAD(U8(frac), x, x)
	}
	VPMINSD(warpDword("warp_most16", 1<<15-1), x, x)
	VPMAXSD(warpDword("warp_least16", 1<<32-1<<15), x, x)
	VPSLLD(U8(10), x, x)
	if frac > 0 {
		VPSLLD(U8(10-frac), f, f)
		VPOR(f, x, x)
	}
	VMOVDQU(x.AsX(), Mem{Base: dx})
	VEXTRACTI128(U8(1), x, Mem{Base: dy})
	VADDPD(warpQword("warp_four64", 0x4010000000000000), i, i)
	ADDQ(U8(16), dx)
	ADDQ(U8(16), dy)
	SUBQ(U8(4), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// fourLanes is 0 to 3.
func fourLanes() Mem {
	const name = "warp_lanes64"
	if m, ok := warpConstants[name]; ok {
		return m
	}
	m := GLOBL(name, 8|16)
	for i := range 4 {
		DATA(8*i, F64(float64(i)))
	}
	warpConstants[name] = m
	return m
}

// torchPlaces is the function of that name for eight numbers.
func torchPlaces(v, half VecVirtual) {
	VADDPS(warpDword("warp_one32", 0x3F800000), v, v)
	VFMSUB213PS(warpDword("warp_half32", 0x3F000000), half, v)
}

// floatColumns returns eight columns from the parameter first.
func floatColumns() VecVirtual {
	v, l := everyDword("first"), YMM()
	VCVTDQ2PS(warpLanes(), l)
	VADDPS(l, v, v)
	return v
}

func nextColumns(v VecVirtual) { VADDPS(warpDword("warp_eight32", 0x41000000), v, v) }

func torchAffine() {
	function("torchAffineFMA", "func(xs, ys *float32, n int, first float32, m *[8]float32)")
	Doc("torchAffineFMA is TorchGrid.Affine for n pixels, a multiple of 8 and not 0, from the", "column first. m holds the three numbers of each row, the second ones times that of the",
		"row, and half the width and the height.")
	p := []Register{Load(Param("xs"), GP64()), Load(Param("ys"), GP64())}
	n, m := Load(Param("n"), GP64()), Load(Param("m"), GP64())
	k := everyFloat(m, 8)
	u := floatColumns()
	Label("loop")
	for r, p := range p {
		v := YMM()
		VMULPS(k[3*r], u, v)
		VADDPS(k[3*r+1], v, v)
		VADDPS(k[3*r+2], v, v)
		torchPlaces(v, k[6+r])
		VMOVUPS(v, Mem{Base: p})
		ADDQ(U8(32), p)
	}
	nextColumns(u)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func everyFloat(m Register, n int) (k []VecVirtual) {
	for i := range n {
		v := YMM()
		VBROADCASTSS(Mem{Base: m, Disp: 4 * i}, v)
		k = append(k, v)
	}
	return k
}

func torchPerspective() {
	function("torchPerspectiveFMA", "func(xs, ys *float32, n int, first float32, m *[10]float32)")
	Doc("torchPerspectiveFMA is TorchGrid.Perspective for n pixels, a multiple of 8 and not 0,", "from the column first. m is as for torchAffineFMA, with the first two numbers of the", "divisor behind.")
	p := []Register{Load(Param("xs"), GP64()), Load(Param("ys"), GP64())}
	n, m := Load(Param("n"), GP64()), Load(Param("m"), GP64())
	k := everyFloat(m, 10)
	u := floatColumns()
	Label("loop")
	q, one := YMM(), YMM()
	VMOVUPS(warpDword("warp_one32", 0x3F800000), one)
	VMULPS(k[8], u, q)
	VADDPS(k[9], q, q)
	VADDPS(one, q, q)
	for r, p := range p {
		v := YMM()
		VMULPS(k[3*r], u, v)
		VADDPS(k[3*r+1], v, v)
		VADDPS(k[3*r+2], v, v)
		VDIVPS(q, v, v)
		VSUBPS(one, v, v)
		torchPlaces(v, k[6+r])
		VMOVUPS(v, Mem{Base: p})
		ADDQ(U8(32), p)
	}
	nextColumns(u)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func torchDisplace() {
	function("torchDisplaceFMA", "func(xs, ys *float32, n int, displacement, columns *float32, row, halfWidth, halfHeight float32)")
	Doc("torchDisplaceFMA is TorchGrid.Displace for n pixels, a multiple of 8 and not 0.")
	xs, ys := Load(Param("xs"), GP64()), Load(Param("ys"), GP64())
	n := Load(Param("n"), GP64())
	d, columns := Load(Param("displacement"), GP64()), Load(Param("columns"), GP64())
	row, hw, hh := everyDword("row"), everyDword("halfWidth"), everyDword("halfHeight")
	Label("loop")
	a, b, x, y := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: d}, a)
	VMOVUPS(Mem{Base: d, Disp: 32}, b)
	VSHUFPS(U8(0x88), b, a, x)
	VSHUFPS(U8(0xDD), b, a, y)
	VPERMQ(U8(0xD8), x, x)
	VPERMQ(U8(0xD8), y, y)
	VADDPS(Mem{Base: columns}, x, x)
	VADDPS(row, y, y)
	torchPlaces(x, hw)
	torchPlaces(y, hh)
	VMOVUPS(x, Mem{Base: xs})
	VMOVUPS(y, Mem{Base: ys})
	ADDQ(U8(64), d)
	for _, p := range []Register{columns, xs, ys} {
		ADDQ(U8(32), p)
	}
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func torchIndex() {
	function("torchIndexFMA", "func(index *int32, xs, ys *float32, n int, "+warpPlaneArgs+")")
	Doc("torchIndexFMA writes the offsets of the pixels next to n positions, a multiple of 8 and", "not 0, or -1 outside the image.")
	index := Load(Param("index"), GP64())
	xs, ys := Load(Param("xs"), GP64()), Load(Param("ys"), GP64())
	n := Load(Param("n"), GP64())
	p := loadWarpPlane()
	Label("loop")
	x, y := YMM(), YMM()
	VCVTPS2DQ(Mem{Base: xs}, x)
	VCVTPS2DQ(Mem{Base: ys}, y)
	p.store(x, y, index)
	ADDQ(U8(32), xs)
	ADDQ(U8(32), ys)
	ADDQ(U8(32), index)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// torchBilinear mixes four pixels of size bytes, for eight outputs at a time.
func torchBilinear(size int) {
	name := fmt.Sprintf("torchBilinear%dFMA", size)
	function(name, "func(dst, src *byte, n int, xs, ys *float32, "+warpPlaneArgs+", fills *float32, fill uint32) int")
	Doc(fmt.Sprintf("%s is TorchImage.Bilinear for up to n pixels of %d bytes, n a multiple of", name, size), "8 and not 0, and returns how many. It stops at eight of which one reads the last pixels of",
		"the image. The image has at least 3 x 3 pixels. fills is nil or holds the fill of each", "channel, and fill their bytes.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	xs, ys := Load(Param("xs"), GP64()), Load(Param("ys"), GP64())
	fills := Load(Param("fills"), GP64())
	l := locals{AllocLocal(6 * 32)}
	right, bottom := l.param(0, "right"), l.param(1, "bottom")
	line, sizes, fill := l.param(2, "line"), l.param(3, "size"), l.param(4, "fill")
	finite := l.at.Offset(5 * 32)
	below := GP64()
	MOVL(line, below.As32())
	ADDQ(src, below)
	w := newPixelWriter(size)
	from := GP64()
	MOVQ(n, from)
	Label("loop")
	x, y, xi, yi := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: xs}, x)
	VMOVUPS(Mem{Base: ys}, y)
	// Lanes with a position that is not finite become 0.
	t, u := YMM(), YMM()
	VSUBPS(x, x, t)
	VSUBPS(y, y, u)
	VCMPPS(U8(0), u, t, t)
	VMOVUPS(t, finite)
	VROUNDPS(U8(1), x, t)
	VSUBPS(t, x, x)
	VCVTTPS2DQ(t, xi)
	VROUNDPS(U8(1), y, t)
	VSUBPS(t, y, y)
	VCVTTPS2DQ(t, yi)
	// Which columns and rows of the four are inside.
	in := func(v VecVirtual, last Mem) VecVirtual {
		m := YMM()
		VPMINUD(last, v, m)
		VPCMPEQD(v, m, m)
		return m
	}
	ones := allOnes()
	next := YMM()
	left, top := in(xi, right), in(yi, bottom)
	VPSUBD(ones, xi, next)
	rightIn := in(next, right)
	VPSUBD(ones, yi, next)
	bottomIn := in(next, bottom)
	nw, ne, sw, se := YMM(), YMM(), YMM(), YMM()
	VPAND(left, top, nw)
	VPAND(rightIn, top, ne)
	VPAND(left, bottomIn, sw)
	VPAND(rightIn, bottomIn, se)
	masks := []VecVirtual{nw, ne, sw, se}
	any := YMM()
	VPOR(nw, ne, any)
	VPOR(sw, any, any)
	VPOR(se, any, any)
	result := YMM()
	m := GP32()
	VMOVMSKPS(any, m)
	TESTL(m, m)
	JZ(LabelRef("outside"))

	// A gather reads 4 bytes of a pixel, and so beyond the last pixels of the
	// last row. These have one of the last columns as their own or as the next
	// one.
	if size < 4 {
		last, low := YMM(), YMM()
		VMOVDQU(right, last)
		VPADDD(warpDword(fmt.Sprintf("warp_last%d", size), map[int]uint32{1: 1<<32 - 4, 3: 1<<32 - 2}[size]), last, last)
		VPCMPGTD(last, xi, last)
		VMOVDQU(bottom, low)
		VPADDD(warpDword("warp_last3", 1<<32-2), low, low)
		VPCMPGTD(low, yi, low)
		VPAND(low, last, last)
		VPAND(any, last, last)
		VMOVMSKPS(last, m)
		TESTL(m, m)
		JNZ(LabelRef("stop"))
	}

	at := YMM()
	VPMULLD(line, yi, at)
	VPMULLD(sizes, xi, xi)
	VPADDD(xi, at, at)
	var pixels [4]VecVirtual
	for i, base := range []Register{src, src, below, below} {
		pixels[i] = zeros()
		k := YMM()
		VMOVDQA(masks[i], k)
		VPGATHERDD(k, Mem{Base: base, Disp: i % 2 * size, Index: at, Scale: 1}, pixels[i])
	}
	// The weights.
	one, e, s := YMM(), YMM(), YMM()
	VMOVUPS(warpDword("warp_one32", 0x3F800000), one)
	VSUBPS(x, one, e)
	VSUBPS(y, one, s)
	for i, f := range [4][2]VecVirtual{{s, e}, {s, x}, {y, e}, {y, x}} {
		v := YMM()
		VMULPS(f[0], f[1], v)
		VANDPS(v, masks[i], masks[i])
	}
	inside := YMM()
	VADDPS(masks[1], masks[0], inside)
	VADDPS(masks[2], inside, inside)
	VADDPS(masks[3], inside, inside)
	VPXOR(result, result, result)
	for c := range size {
		byteOf := warpSteps(fmt.Sprintf("warp_byte%d", c), func(i int) uint32 { return 0x80808000 | uint32(i%4*4+c) })
		sum := YMM()
		for i, p := range pixels {
			v := YMM()
			VPSHUFB(byteOf, p, v)
			VCVTDQ2PS(v, v)
			if i == 0 {
				VMULPS(masks[0], v, sum)
			} else {
				VFMADD231PS(masks[i], v, sum)
			}
		}
		TESTQ(fills, fills)
		done := label("round")
		JZ(LabelRef(done))
		f := YMM()
		VBROADCASTSS(Mem{Base: fills, Disp: 4 * c}, f)
		VSUBPS(f, sum, sum)
		VMULPS(inside, sum, sum)
		VADDPS(f, sum, sum)
		Label(done)
		VCVTPS2DQ(sum, sum)
		if c > 0 {
			VPSLLD(U8(8*c), sum, sum)
		}
		VPOR(sum, result, result)
	}
	Label("write")
	VPAND(finite, result, result)
	w.write(result, dst)
	ADDQ(U8(32), xs)
	ADDQ(U8(32), ys)
	ADDQ(U8(8*size), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	Label("stop")
	SUBQ(n, from)
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Label("outside")
	VMOVDQU(fill, result)
	JMP(LabelRef("write"))
}
