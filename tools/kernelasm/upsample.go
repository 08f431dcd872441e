package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vec returns a new register of 16 or 32 bytes.
func vec(width int) VecVirtual {
	if width == 32 {
		return YMM()
	}
	return XMM()
}

// bytes is a constant of 32 bytes that alternate between a and b.
func bytes(name string, a, b int) Mem {
	m := GLOBL(name, 8|16)
	for i := range 16 {
		DATA(2*i, U16(uint16(a&0xFF)|uint16(b&0xFF)<<8))
	}
	return m
}

// place is a pointer that advances by step bytes per sample.
type place struct {
	reg  Register
	step int
}

// arg returns the pointer parameter of that name.
func arg(name string, step int) place { return place{Load(Param(name), GP64()), step} }

// sampleLoop writes a loop over n samples, n >= width. body processes width
// samples. If n is not a multiple of width, the last samples overlap the
// previous ones.
func sampleLoop(width int, n Register, places []place, body func()) {
	loopOver(width, width == 32, n, places, body)
}

// loopOver is sampleLoop. wide is whether body uses registers of 32 bytes.
func loopOver(width int, wide bool, n Register, places []place, body func()) {
	SUBQ(U8(width), n)
	Label("loop")
	body()
	for _, p := range places {
		ADDQ(U32(width*p.step), p.reg)
	}
	SUBQ(U8(width), n)
	JGE(LabelRef("loop"))
	// n is now the number of remaining samples minus width.
	CMPQ(n, I32(-width))
	JE(LabelRef("done"))
	for _, p := range places {
		for range p.step {
			ADDQ(n, p.reg)
		}
	}
	XORQ(n, n)
	JMP(LabelRef("loop"))
	Label("done")
	if wide {
		VZEROUPPER()
	}
	RET()
}

// store2 stores the two halves of an unpacked vector.
func store2(dst place, lo, hi VecVirtual, width int) {
	VMOVDQU(lo.AsX(), Mem{Base: dst.reg})
	VMOVDQU(hi.AsX(), Mem{Base: dst.reg, Disp: 16})
	if width == 32 {
		VEXTRACTI128(U8(1), lo, Mem{Base: dst.reg, Disp: 32})
		VEXTRACTI128(U8(1), hi, Mem{Base: dst.reg, Disp: 48})
	}
}

var _ = add("jpeg", upsample)

func upsample() {
	near := bytes("up_near", 3, 1) // the near sample first
	one, two := words("up_1", 1, 1), words("up_2", 2, 2)
	seven, eight := words("up_7", 7, 7), words("up_8", 8, 8)
	three := words("up_3", 3, 3)
	high := words("up_high", -256, -256)

	for _, width := range []int{16, 32} {
		// mix computes 3 times near plus far, as words.
		mix := func(near2, far Op, k Mem) (lo, hi VecVirtual) {
			lo, hi = vec(width), vec(width)
			VPUNPCKLBW(far, near2, lo)
			VPUNPCKHBW(far, near2, hi)
			VPMADDUBSW(k, lo, lo)
			VPMADDUBSW(k, hi, hi)
			return lo, hi
		}
		load := func(p place, off int) VecVirtual {
			v := vec(width)
			VMOVDQU(Mem{Base: p.reg, Disp: off}, v)
			return v
		}
		// joined combines even>>shift in the low byte and odd>>shift in the
		// high byte.
		joined := func(even, odd VecVirtual, shift uint64) VecVirtual {
			VPSRLW(U8(shift), even, even)
			VPSLLW(U8(8-shift), odd, odd)
			VPAND(high, odd, odd)
			VPOR(odd, even, even)
			return even
		}

		TEXT(fmt.Sprintf("upsampleH2V1x%d", width), NOSPLIT, "func(dst, src *byte, n int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("upsampleH2V1x%d doubles n samples, n >= %d.", width, width), "It also reads the samples before and after them.")
		dst, src, n := arg("dst", 2), arg("src", 1), Load(Param("n"), GP64())
		sampleLoop(width, n, []place{dst, src}, func() {
			x, prev, next := load(src, 0), load(src, -1), load(src, 1)
			el, eh := mix(x, prev, near)
			ol, oh := mix(x, next, near)
			VPADDW(one, el, el)
			VPADDW(one, eh, eh)
			VPADDW(two, ol, ol)
			VPADDW(two, oh, oh)
			store2(dst, joined(el, ol, 2), joined(eh, oh, 2), width)
		})

		TEXT(fmt.Sprintf("upsampleH2V2x%d", width), NOSPLIT, "func(dst, near, far *byte, n int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("upsampleH2V2x%d mixes two rows and doubles n samples, n >= %d.", width, width), "It also reads the samples before and after them.")
		row, row2 := arg("near", 1), arg("far", 1)
		dst, n = arg("dst", 2), Load(Param("n"), GP64())
		sampleLoop(width, n, []place{dst, row, row2}, func() {
			column := func(off int) (VecVirtual, VecVirtual) {
				return mix(load(row, off), load(row2, off), near)
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
			store2(dst, joined(prev[0], next[0], 4), joined(prev[1], next[1], 4), width)
		})

		TEXT(fmt.Sprintf("upsampleH1V2x%d", width), NOSPLIT, "func(dst, near, far *byte, n, bias int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("upsampleH1V2x%d mixes two rows of n samples, n >= %d.", width, width))
		bias, first := vec(width), XMM()
		b := Load(Param("bias"), GP64())
		VMOVD(b.(GPVirtual).As32(), first)
		VPBROADCASTW(first, bias)
		row, row2 = arg("near", 1), arg("far", 1)
		dst, n = arg("dst", 1), Load(Param("n"), GP64())
		sampleLoop(width, n, []place{dst, row, row2}, func() {
			lo, hi := mix(load(row, 0), load(row2, 0), near)
			VPADDW(bias, lo, lo)
			VPADDW(bias, hi, hi)
			VPSRLW(U8(2), lo, lo)
			VPSRLW(U8(2), hi, hi)
			VPACKUSWB(hi, lo, lo)
			VMOVDQU(lo, Mem{Base: dst.reg})
		})
	}
}
