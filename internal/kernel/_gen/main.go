// Command _gen writes the assembly of internal/kernel for amd64.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
	. "github.com/mmcloughlin/avo/operand"
)

func main() {
	Constraint(buildtags.Not("purego").ToConstraint())
	idct()
	ycc()
	Generate()
}

// words is a constant of 16 words, a and b in turn.
func words(name string, a, b int) Mem {
	m := GLOBL(name, 8|16) // RODATA, NOPTR
	for i := range 8 {
		DATA(4*i, U32(uint32(uint16(a))|uint32(uint16(b))<<16))
	}
	return m
}

// dwords is a constant of 8 times v.
func dwords(name string, v uint32) Mem {
	m := GLOBL(name, 8|16)
	for i := range 8 {
		DATA(4*i, U32(v))
	}
	return m
}
