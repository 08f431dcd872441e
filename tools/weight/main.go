// Command weight refuses files that weigh on every clone: files of more than
// 1 MB, and executables. Given a program, it lists what its parts weigh.
//
//	go run ./tools/weight
//	go run ./tools/weight ./cmd/infer-prep
//
// The first form checks every file that git tracks, prints each one that it
// refuses and exits with status 1 if there is one. Scripts are text, so they
// are no executables. The second form builds the program and prints the table
// that docs/benchmarks.md shows.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// largest is the size in bytes of the largest file that needs no reason.
const largest = 1 << 20

// large lists the files that may be larger, each with its reason. None is.
var large = map[string]string{}

// magics are the first bytes of executables, libraries and object files.
var magics = []struct{ what, magic string }{
	{"ELF", "\x7fELF"},
	{"PE", "MZ"},
	{"Mach-O", "\xfe\xed\xfa\xce"},
	{"Mach-O", "\xfe\xed\xfa\xcf"},
	{"Mach-O", "\xce\xfa\xed\xfe"},
	{"Mach-O", "\xcf\xfa\xed\xfe"},
	{"Mach-O or Java", "\xca\xfe\xba\xbe"},
	{"WebAssembly", "\x00asm"},
	{"archive of objects", "!<arch>\n"},
	{"Dalvik", "dex\n"},
}

func main() {
	if len(os.Args) > 1 {
		if err := program(os.Stdout, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "weight:", err)
			os.Exit(2)
		}
		return
	}
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "weight: git ls-files: %v\n", err)
		os.Exit(2)
	}
	refused := 0
	for _, name := range strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }) {
		why, err := check(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "weight:", err)
			os.Exit(2)
		}
		if why != "" {
			fmt.Printf("%s: %s\n", name, why)
			refused++
		}
	}
	if refused > 0 {
		fmt.Fprintf(os.Stderr, "weight: %d files refused\n", refused)
		os.Exit(1)
	}
}

// check returns why a file is refused, "" if it is not.
func check(name string) (string, error) {
	i, err := os.Lstat(name)
	if os.IsNotExist(err) {
		return "", nil // tracked, but deleted in the working tree
	}
	if err != nil || !i.Mode().IsRegular() {
		return "", err
	}
	if i.Size() > largest && large[name] == "" {
		return fmt.Sprintf("%d bytes, want at most %d, or a reason in tools/weight", i.Size(), largest), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	for _, m := range magics {
		if bytes.HasPrefix(head[:n], []byte(m.magic)) && (m.what != "PE" || n == len(head)) {
			return "an executable: " + m.what, nil
		}
	}
	return "", nil
}
