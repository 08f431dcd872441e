// Command kernelasm writes the assembly of internal/kernel for amd64.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
	. "github.com/mmcloughlin/avo/operand"
)

// groups maps the name of each output file (-group) to the functions that write
// it. Each kernel adds its own functions.
var groups = map[string][]func(){}

func add(group string, f func()) bool {
	groups[group] = append(groups[group], f)
	return true
}

func main() {
	group := flag.String("group", "", "group of functions to write")
	flag.Parse()
	write, ok := groups[*group]
	if !ok {
		fmt.Fprintf(os.Stderr, "unknown -group %q\n", *group)
		os.Exit(2)
	}
	Constraint(buildtags.Not("purego").ToConstraint())
	for _, f := range write {
		f()
	}
	Generate()
}

// words is a constant of 16 words that alternate between a and b.
func words(name string, a, b int) Mem {
	m := GLOBL(name, 8|16) // RODATA, NOPTR
	for i := range 8 {
		DATA(4*i, U32(uint32(uint16(a))|uint32(uint16(b))<<16))
	}
	return m
}

// dwords is a constant of 8 copies of v.
func dwords(name string, v uint32) Mem {
	m := GLOBL(name, 8|16)
	for i := range 8 {
		DATA(4*i, U32(v))
	}
	return m
}

var labels int

// label returns a unique label.
func label(name string) string {
	labels++
	return fmt.Sprint(name, labels)
}

// function starts a function that does not retain its arguments, so they may be
// on the stack.
func function(name, signature string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
}
