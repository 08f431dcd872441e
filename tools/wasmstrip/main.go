// Command wasmstrip takes out of a WebAssembly file of Go what only tracebacks
// read: the names of functions and files, line numbers, and descriptions of
// arguments. It replaces FILE.
//
// Frame sizes, stack maps and the trees of inlined calls stay: the garbage
// collector, growing stacks and recover read them. So do the few names that
// package runtime compares. Tracebacks of a stripped file name no function.
//
// The tool knows the tables of Go 1.27 (runtime/symtab.go, internal/abi) and
// refuses files of other versions.
//
//	go run ./tools/wasmstrip FILE
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wasmstrip FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "wasmstrip:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if b, err = strip(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, b, 0o644)
}

// strip returns the WebAssembly file b without what only tracebacks read.
func strip(b []byte) ([]byte, error) {
	m, err := load(b)
	if err != nil {
		return nil, err
	}
	t, err := findTable(m.b)
	if err != nil {
		return nil, err
	}
	if err := t.strip(); err != nil {
		return nil, err
	}
	return m.file(b), nil
}
