// Command arm64 writes the assembly of internal/kernel for arm64. Go's assembler
// lacks most of NEON's instructions, so they are written by their codes, with
// GNU's text behind; the rest (arguments, labels, branches) is Go's.
package main

import (
	"flag"
	"fmt"
	"os"
)

// groups are the files that are written, by the name of -group.
var groups = map[string]func(){
	"jpeg":     func() { ycc(); idct(); idct4(); idct2(); upsample() },
	"resample": resample,
	"pixels":   pixels,
	"cv":       cv,
}

func main() {
	group := flag.String("group", "", "what to write")
	path := flag.String("out", "", "where to")
	flag.Parse()
	write, ok := groups[*group]
	if !ok {
		fmt.Fprintf(os.Stderr, "-group %q is not known\n", *group)
		os.Exit(2)
	}
	header(*group)
	write()
	if err := os.WriteFile(*path, out.Bytes(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
