package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("find", findWord)

// findWord writes the search for a word in blocks of 128 bytes. It prefetches,
// because files that are read once are not in a cache.
func findWord() {
	const ahead = 8192 // the fastest of 256 to 8192 for a file in the page cache
	function("findWordAVX2", "func(b *byte, n int, w uint32) int")
	Doc("findWordAVX2 returns the index of the first block of 128 bytes that has w at a multiple", "of 4, or n. n is a multiple of 128 and not 0.")
	p, n, at := Load(Param("b"), GP64()), Load(Param("n"), GP64()), GP64()
	w, one := YMM(), XMM()
	VMOVD(Load(Param("w"), GP32()), one)
	VPBROADCASTD(one, w)
	XORQ(at, at)
	loop, done := label("loop"), label("done")
	Label(loop)
	var hit [4]VecVirtual
	for i := range hit {
		hit[i] = YMM()
		VPCMPEQD(Mem{Base: p, Index: at, Scale: 1, Disp: 32 * i}, w, hit[i])
	}
	for i := range 2 {
		PREFETCHT0(Mem{Base: p, Index: at, Scale: 1, Disp: ahead + 64*i})
	}
	VPOR(hit[0], hit[1], hit[1])
	VPOR(hit[2], hit[3], hit[3])
	VPOR(hit[1], hit[3], hit[3])
	VPTEST(hit[3], hit[3])
	JNZ(LabelRef(done))
	ADDQ(Imm(128), at)
	CMPQ(at, n)
	JB(LabelRef(loop))
	Label(done)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	RET()
}
