// Command arm64 writes the assembly of internal/kernel for arm64. Go's
// assembler lacks most NEON instructions, so they are written as codes, with
// GNU's text as a comment. Arguments, labels and branches use Go's syntax.
package main

import (
	"flag"
	"fmt"
	"os"
)

// groups maps the name of each output file (-group) to the function that writes
// it.
var groups = map[string]func(){
	"jpeg":      func() { ycc(); idct(); idct4(); idct2(); upsample() },
	"encode":    func() { fdct(); rgbToYCC(); downsample() },
	"resample":  resample,
	"pixels":    pixels,
	"blur":      blur,
	"cv":        cv,
	"yuv":       yuv,
	"pngfilter": png,
	"adler":     adler,
	"vp8":       vp8,
	"find":      findWord,
	"palette":   palette,
	"vp8l":      vp8l,
	"rearrange": rearrange,
	"color":     color,
	"predict":   predict,
}

func main() {
	group := flag.String("group", "", "group of functions to write")
	path := flag.String("out", "", "path of the output file")
	flag.Parse()
	write, ok := groups[*group]
	if !ok {
		fmt.Fprintf(os.Stderr, "unknown -group %q\n", *group)
		os.Exit(2)
	}
	header(*group)
	write()
	if err := os.WriteFile(*path, out.Bytes(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
