// Command shake writes an overlay for go build with which a program links less.
//
// Go's linker drops functions that nothing calls. It keeps what package
// initialization uses, and the methods of interfaces that some package calls.
// The overlay keeps the declarations that main, an init function or another
// kept declaration mentions, and drops the others and the imports that are then
// unused.
//
//	go run ./tools/shake -o DIR ./wasm
//	go build -overlay DIR/overlay.json ./wasm
//
// -drop lists methods to drop: METHOD of all types, or TYPE.METHOD. Name a
// method only if its callers are in packages that the program no longer links.
//
// The functions of -random, PACKAGE.TYPE.METHOD, only serve ops that draw
// random numbers. They panic in the program if it has no such op.
//
// The tool compares names, not types. It keeps too much rather than too little:
// every method of a type stays.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var o options
	drop := flag.String("drop", "", "methods to drop, separated by commas")
	random := flag.String("random", "", "functions that only random ops need, separated by commas")
	flag.StringVar(&o.tags, "tags", "", "build tags")
	flag.StringVar(&o.out, "o", "", "folder to write to")
	flag.Parse()
	if flag.NArg() != 1 || o.out == "" {
		flag.Usage()
		os.Exit(2)
	}
	o.drop, o.random = split(*drop), split(*random)
	if err := run(flag.Arg(0), o); err != nil {
		fmt.Fprintln(os.Stderr, "shake:", err)
		os.Exit(1)
	}
}

func split(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" })
}

type options struct {
	drop, random []string
	tags, out    string
}

func run(main string, o options) error {
	pkgs, err := load(main, o)
	if err != nil {
		return err
	}
	p, err := parse(pkgs, o)
	if err != nil {
		return err
	}
	if err := p.leaveOut(o.random); err != nil {
		return err
	}
	p.reach()
	if p.draws() {
		p.restore()
		p.reach()
	}
	return p.write(o.out)
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir, Name string
	GoFiles, Imports      []string
	Module                *struct {
		Path, Dir string
		Main      bool
	}
}

// load lists the packages to reduce: those of the main module that the program
// links.
func load(main string, o options) ([]*listed, error) {
	all, err := list(o.tags, "-deps", main)
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(all, func(p *listed) bool { return p.Module == nil || !p.Module.Main })
	if len(own) == 0 {
		return nil, errors.New("no package of the main module")
	}
	return own, nil
}

// list runs go list.
func list(tags string, args ...string) ([]*listed, error) {
	c := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Name,GoFiles,Imports,Module", "-tags", tags}, args...)...)
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var ps []*listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := &listed{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return ps, nil
		} else if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
}

// write writes the overlay to dir.
func (p *program) write(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	replace := map[string]string{}
	for _, k := range p.pkgs {
		for _, f := range k.files {
			b := p.source(f)
			at, to := filepath.Join(k.Dir, f.name), filepath.Join(dir, filepath.FromSlash(k.ImportPath), f.name)
			switch {
			case b == nil:
				replace[at] = "" // go build takes the file as deleted
				continue
			case string(b) == string(f.src):
				continue
			}
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(to, b, 0o644); err != nil {
				return err
			}
			replace[at] = to
		}
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overlay.json"), b, 0o644)
}
