// Command msgpgen writes msgp_gen.go for the package in the current folder, for
// go generate. It runs the msgp tool on the package's files without its tests,
// since the tool would also copy their imports.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const output = "msgp_gen.go"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "msgpgen:", err)
		os.Exit(1)
	}
}

func run() error {
	// The folder has the same name as the package's, since the tool uses it.
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "msgpgen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, filepath.Base(here))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == output || strings.HasSuffix(n, "_test.go") {
			continue
		}
		b, err := os.ReadFile(n)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, n), b, 0o644); err != nil {
			return err
		}
	}
	c := exec.Command("go", "tool", "msgp", "-file", dir, "-o", filepath.Join(here, output), "-io=false", "-tests=false")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}
