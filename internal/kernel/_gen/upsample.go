package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vec is a new register of 16 or 32 bytes.
func vec(width int) VecVirtual {
	if width == 32 {
		return YMM()
	}
	return XMM()
}

// bytes is a constant of 32 bytes, a and b in turn.
func bytes(name string, a, b int) Mem {
	m := GLOBL(name, 8|16)
	for i := range 16 {
		DATA(2*i, U16(uint16(a&0xFF)|uint16(b&0xFF)<<8))
	}
	return m
}

// An upsampler makes samples of those at ptr[i], width of them, whose number n
// may be no multiple of it: the last ones overlap those before.
type upsampler struct {
	width int
	dst   Register
	src   []Register
}

// upsampleLoop writes the loop over n samples, n >= width, out bytes each.
func (u *upsampler) loop(n Register, out uint8, body func()) {
	SUBQ(U8(u.width), n)
	Label("loop")
	body()
	ADDQ(U8(u.width), u.src[0])
	if len(u.src) > 1 {
		ADDQ(U8(u.width), u.src[1])
	}
	ADDQ(U32(uint32(out)*uint32(u.width)), u.dst)
	SUBQ(U8(u.width), n)
	JGE(LabelRef("loop"))
	// The last ones: n is the negative number of those done already.
	CMPQ(n, I32(-u.width))
	JE(LabelRef("done"))
	for _, p := range u.src {
		ADDQ(n, p)
	}
	for range out {
		ADDQ(n, u.dst)
	}
	XORQ(n, n)
	JMP(LabelRef("loop"))
	Label("done")
	if u.width == 32 {
		VZEROUPPER()
	}
	RET()
}

// pairs stores two vectors of bytes: the low byte of each word of even is
// followed by the low byte of that of odd. The words are in the order that
// unpacking leaves.
func (u *upsampler) pairs(lo, hi VecVirtual) {
	VMOVDQU(lo.AsX(), Mem{Base: u.dst})
	VMOVDQU(hi.AsX(), Mem{Base: u.dst, Disp: 16})
	if u.width == 32 {
		VEXTRACTI128(U8(1), lo, Mem{Base: u.dst, Disp: 32})
		VEXTRACTI128(U8(1), hi, Mem{Base: u.dst, Disp: 48})
	}
}

func upsample() {
	near := bytes("up_near", 3, 1) // the near sample first
	one, two := words("up_1", 1, 1), words("up_2", 2, 2)
	seven, eight := words("up_7", 7, 7), words("up_8", 8, 8)
	three := words("up_3", 3, 3)
	high := words("up_high", -256, -256)

	for _, width := range []int{16, 32} {
		// mix is 3 times near and once far of words.
		mix := func(near2, far Op, k Mem) (lo, hi VecVirtual) {
			lo, hi = vec(width), vec(width)
			VPUNPCKLBW(far, near2, lo)
			VPUNPCKHBW(far, near2, hi)
			VPMADDUBSW(k, lo, lo)
			VPMADDUBSW(k, hi, hi)
			return lo, hi
		}
		load := func(p Register, off int) VecVirtual {
			v := vec(width)
			VMOVDQU(Mem{Base: p, Disp: off}, v)
			return v
		}
		// joined gives even>>shift in the low and odd>>shift in the high byte.
		joined := func(even, odd VecVirtual, shift uint64) VecVirtual {
			VPSRLW(U8(shift), even, even)
			VPSLLW(U8(8-shift), odd, odd)
			VPAND(high, odd, odd)
			VPOR(odd, even, even)
			return even
		}

		TEXT(fmt.Sprintf("upsampleH2V1x%d", width), NOSPLIT, "func(dst, src *byte, n int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("upsampleH2V1x%d doubles n samples, n >= %d; those before and after them are read.", width, width))
		u := &upsampler{width, Load(Param("dst"), GP64()), []Register{Load(Param("src"), GP64())}}
		n := Load(Param("n"), GP64())
		u.loop(n, 2, func() {
			x, prev, next := load(u.src[0], 0), load(u.src[0], -1), load(u.src[0], 1)
			el, eh := mix(x, prev, near)
			ol, oh := mix(x, next, near)
			VPADDW(one, el, el)
			VPADDW(one, eh, eh)
			VPADDW(two, ol, ol)
			VPADDW(two, oh, oh)
			u.pairs(joined(el, ol, 2), joined(eh, oh, 2))
		})

		TEXT(fmt.Sprintf("upsampleH2V2x%d", width), NOSPLIT, "func(dst, near, far *byte, n int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("upsampleH2V2x%d mixes two rows and doubles n samples, n >= %d; those before and after them are read.", width, width))
		u = &upsampler{width, Load(Param("dst"), GP64()), []Register{Load(Param("near"), GP64()), Load(Param("far"), GP64())}}
		n = Load(Param("n"), GP64())
		u.loop(n, 2, func() {
			column := func(off int) (VecVirtual, VecVirtual) {
				return mix(load(u.src[0], off), load(u.src[1], off), near)
			}
			x := [2]VecVirtual{}
			x[0], x[1] = column(0)
			prev, next := [2]VecVirtual{}, [2]VecVirtual{}
			prev[0], prev[1] = column(-1)
			next[0], next[1] = column(1)
			for i := range 2 {
				VPMULLW(three, x[i], x[i])
				VPADDW(x[i], prev[i], prev[i])
				VPADDW(eight, prev[i], prev[i])
				VPADDW(x[i], next[i], next[i])
				VPADDW(seven, next[i], next[i])
			}
			u.pairs(joined(prev[0], next[0], 4), joined(prev[1], next[1], 4))
		})

		TEXT(fmt.Sprintf("upsampleH1V2x%d", width), NOSPLIT, "func(dst, near, far *byte, n, bias int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("upsampleH1V2x%d mixes two rows of n samples, n >= %d.", width, width))
		bias, first := vec(width), XMM()
		b := Load(Param("bias"), GP64())
		VMOVD(b.(GPVirtual).As32(), first)
		VPBROADCASTW(first, bias)
		u = &upsampler{width, Load(Param("dst"), GP64()), []Register{Load(Param("near"), GP64()), Load(Param("far"), GP64())}}
		n = Load(Param("n"), GP64())
		u.loop(n, 1, func() {
			lo, hi := mix(load(u.src[0], 0), load(u.src[1], 0), near)
			VPADDW(bias, lo, lo)
			VPADDW(bias, hi, hi)
			VPSRLW(U8(2), lo, lo)
			VPSRLW(U8(2), hi, hi)
			VPACKUSWB(hi, lo, lo)
			VMOVDQU(lo, Mem{Base: u.dst})
		})
	}
}
