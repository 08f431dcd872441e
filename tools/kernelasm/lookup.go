package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("lookup", func() {
	for _, size := range []int{1, 2, 4} {
		lookupVBMI(size)
	}
	lookup3VBMI()
	lookupShuffle()
	bits()
})

// quarters is a table of 256 bytes in four registers.
type quarters [4]VecVirtual

func loadQuarters(p Register, off int) (q quarters) {
	for i := range q {
		q[i] = ZMM()
		VMOVDQU64(Mem{Base: p, Disp: off + 64*i}, q[i])
	}
	return q
}

// half looks up the bytes of idx in the low or high half of q.
func (q quarters) half(h int, idx VecVirtual) VecVirtual {
	v := ZMM()
	VMOVDQA64(idx, v)
	VPERMI2B(q[2*h+1], q[2*h], v)
	return v
}

// upper returns the mask of the bytes of idx in the high half of a table.
func upper(idx VecVirtual) OpmaskVirtual {
	k := K()
	VPMOVB2M(idx, k)
	return k
}

// tailMask returns the mask of the first n of 64 bytes, n < 64.
func tailMask(n Register) OpmaskVirtual {
	ones, k := GP64(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVQ(ones, k)
	return k
}

func lookupVBMI(size int) {
	name := fmt.Sprintf("lookup%dVBMI", size)
	// The unpacks below work within 16 bytes. This order of the indices makes
	// their results sequential.
	var order Mem
	if size > 1 {
		order = GLOBL(name+"_order", 8|16)
		for i := range 16 {
			at := i/4 + i%4*4
			if size == 2 {
				at = i/4*2 + i%4/2*8 + i%2
			}
			DATA(4*i, U32(uint32(at)))
		}
	}
	function(name, "func(dst, src *byte, n int, table *byte)")
	Doc(fmt.Sprintf("%s looks up n bytes in a table of 256 entries of %d bytes, of which", name, size), "byte i of entry v is table[256*i+v].")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, table := Load(Param("n"), GP64()), Load(Param("table"), GP64())
	var tables []quarters
	for i := range size {
		tables = append(tables, loadQuarters(table, 256*i))
	}
	sequence := ZMM()
	if size > 1 {
		VMOVDQU32(order, sequence)
	}
	look := func(idx VecVirtual) []VecVirtual {
		if size > 1 {
			VPERMD(idx, sequence, idx)
		}
		var v []VecVirtual
		k := upper(idx)
		for i, t := range tables {
			v = append(v, t.half(0, idx))
			VPBLENDMB(t.half(1, idx), v[i], k, v[i])
		}
		zip := func(f func(ops ...Op), a, b VecVirtual) VecVirtual {
			o := ZMM()
			f(b, a, o)
			return o
		}
		switch size {
		case 1:
			return v
		case 2:
			return []VecVirtual{zip(VPUNPCKLBW, v[0], v[1]), zip(VPUNPCKHBW, v[0], v[1])}
		}
		var o []VecVirtual
		for _, f := range []func(ops ...Op){VPUNPCKLBW, VPUNPCKHBW} {
			low, high := zip(f, v[0], v[1]), zip(f, v[2], v[3])
			o = append(o, zip(VPUNPCKLWD, low, high), zip(VPUNPCKHWD, low, high))
		}
		return o
	}
	SUBQ(U8(64), n)
	JB(LabelRef("tail"))
	Label("loop")
	idx := ZMM()
	VMOVDQU64(Mem{Base: src}, idx)
	for i, v := range look(idx) {
		VMOVDQU64(v, Mem{Base: dst, Disp: 64 * i})
	}
	ADDQ(U8(64), src)
	ADDQ(I32(64*size), dst)
	SUBQ(U8(64), n)
	JAE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(64), n)
	JZ(LabelRef("done"))
	k := tailMask(n)
	VMOVDQU8_Z(Mem{Base: src}, k, idx)
	for i, v := range look(idx) {
		to := Mem{Base: dst, Disp: 64 * i}
		if i > 0 {
			KSHIFTRQ(U8(64/size), k, k)
		}
		switch size {
		case 1:
			VMOVDQU8(v, k, to)
		case 2:
			VMOVDQU16(v, k, to)
		default:
			VMOVDQU32(v, k, to)
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// everyThird has the bits of the bytes from first on, three apart.
func everyThird(first int) (bits uint64) {
	for i := first; i < 64; i += 3 {
		bits |= 1 << i
	}
	return bits
}

func lookup3VBMI() {
	function("lookup3VBMI", "func(dst, src *byte, n int, tables *byte)")
	Doc("lookup3VBMI is LookupHWC for n bytes of three channels.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, p := Load(Param("n"), GP64()), Load(Param("tables"), GP64())
	var tables [3]quarters
	var masks [3]OpmaskVirtual
	for c := range tables {
		tables[c] = loadQuarters(p, 256*c)
		bits := GP64()
		masks[c] = K()
		MOVQ(U64(everyThird(c)), bits)
		KMOVQ(bits, masks[c])
	}
	// look looks up vector j of three.
	look := func(idx VecVirtual, j int) VecVirtual {
		var v [2]VecVirtual
		for h := range v {
			v[h] = ZMM()
			VMOVDQA64(idx, v[h])
			for c, t := range tables {
				VPERMI2B(t[2*h+1], t[2*h], masks[(c+2*j)%3], v[h])
			}
		}
		VPBLENDMB(v[1], v[0], upper(idx), v[0])
		return v[0]
	}
	idx := ZMM()
	Label("loop")
	for j := range 3 {
		SUBQ(U8(64), n)
		JB(LabelRef(fmt.Sprint("tail", j)))
		VMOVDQU64(Mem{Base: src, Disp: 64 * j}, idx)
		VMOVDQU64(look(idx, j), Mem{Base: dst, Disp: 64 * j})
	}
	ADDQ(U8(192), src)
	ADDQ(U8(192), dst)
	JMP(LabelRef("loop"))
	for j := range 3 {
		Label(fmt.Sprint("tail", j))
		ADDQ(U8(64), n)
		JZ(LabelRef("done"))
		k := tailMask(n)
		VMOVDQU8_Z(Mem{Base: src, Disp: 64 * j}, k, idx)
		VMOVDQU8(look(idx, j), k, Mem{Base: dst, Disp: 64 * j})
		JMP(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

func lookupShuffle() {
	// VPSHUFB returns 0 for indices with bit 7. Adding 0x70 with saturation
	// sets it unless the index is below 16.
	limit := bytesOf("lookup1AVX2_limit", 32, func(int) int { return 0x70 })
	var part [16]Mem
	for i := 1; i < 16; i++ {
		part[i] = bytesOf(fmt.Sprint("lookup1AVX2_part", i), 32, func(int) int { return 16 * i })
	}
	function("lookup1AVX2", "func(dst, src *byte, n int, table *byte)")
	Doc("lookup1AVX2 looks up n bytes, a multiple of 64 and not 0, in a table of 256 bytes.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, table := Load(Param("n"), GP64()), Load(Param("table"), GP64())
	most := YMM()
	VMOVDQU(limit, most)
	Label("loop")
	var idx, out [2]VecVirtual
	for i := range idx {
		idx[i], out[i] = YMM(), YMM()
		VMOVDQU(Mem{Base: src, Disp: 32 * i}, idx[i])
	}
	for k := range 16 {
		entries, high := YMM(), YMM()
		VBROADCASTI128(Mem{Base: table, Disp: 16 * k}, entries)
		if k > 0 {
			VMOVDQU(part[k], high)
		}
		for i := range idx {
			at := idx[i]
			if k > 0 {
				at = YMM()
				VPXOR(high, idx[i], at)
			}
			limited := YMM()
			VPADDUSB(most, at, limited)
			if k == 0 {
				VPSHUFB(limited, entries, out[i])
				continue
			}
			VPSHUFB(limited, entries, limited)
			VPOR(limited, out[i], out[i])
		}
	}
	for i := range out {
		VMOVDQU(out[i], Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(64), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(64), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func bits() {
	function("bitsAVX2", "func(dst, src *byte, n int, and, xor uint64)")
	Doc("bitsAVX2 computes src & and ^ xor for n bytes, a multiple of 128 and not 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, keep, change := Load(Param("n"), GP64()), YMM(), YMM()
	VPBROADCASTQ(NewParamAddr("and", 24), keep)
	VPBROADCASTQ(NewParamAddr("xor", 32), change)
	Label("loop")
	var v [4]VecVirtual
	for i := range v {
		v[i] = YMM()
		VPAND(Mem{Base: src, Disp: 32 * i}, keep, v[i])
		VPXOR(change, v[i], v[i])
	}
	for i := range v {
		VMOVDQU(v[i], Mem{Base: dst, Disp: 32 * i})
	}
	SUBQ(I8(-128), src)
	SUBQ(I8(-128), dst)
	ADDQ(I8(-128), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
