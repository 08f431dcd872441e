// Command gen writes the table of packages into docs/packages.md. With -layers
// it prints the layers instead.
//
// usage: gen [-layers] PACKAGES.md
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/tools/arch"
)

func main() {
	layers := flag.Bool("layers", false, "print the layers and write nothing")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen [-layers] PACKAGES.md")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *layers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run works on the repository whose docs folder holds the page.
func run(page string, layers bool) error {
	root := filepath.Dir(filepath.Dir(page))
	if !layers {
		return arch.Update(root, page)
	}
	found, err := arch.Read(root)
	if err != nil {
		return err
	}
	_, err = fmt.Print(arch.Print(found))
	return err
}
