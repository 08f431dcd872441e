// Command typecheck type-checks all packages of this module, without their
// tests, for platforms that are not run or built elsewhere. It takes a
// twentieth of the time of a build: it generates no code, and reads only the
// declarations of other modules and of the standard library. It leaves out
// programs for ios and android/arm, which need the platform's linker.
//
// usage: typecheck GOOS/GOARCH...
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is a package, as go list prints it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH...")
		os.Exit(2)
	}
	failed := false
	for _, platform := range os.Args[1:] {
		n, err := check(platform)
		if err != nil {
			failed = true
			fmt.Printf("%s: TYPE CHECK FAILED\n%v\n", platform, err)
			continue
		}
		fmt.Printf("%s: %d packages are type-checked\n", platform, n)
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the number of packages of this module.
func check(platform string) (int, error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return 0, fmt.Errorf("typecheck: platform %q: want GOOS/GOARCH", platform)
	}
	command := os.Getenv("GO")
	if command == "" {
		command = "go"
	}
	list := exec.Command(command, "list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("typecheck: go list: %w", err)
	}
	c := checker{done: map[string]*types.Package{"unsafe": types.Unsafe}, sizes: sizes}
	own := 0
	// A package comes after those it imports.
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return own, c.errors()
		} else if err != nil {
			return 0, fmt.Errorf("typecheck: go list: %w", err)
		}
		if p.Module != nil && p.Module.Main {
			own++
		}
		if p.ImportPath != "unsafe" {
			c.check(p)
		}
	}
}

type checker struct {
	done  map[string]*types.Package
	sizes types.Sizes
	errs  []error
}

// report keeps ten errors.
func (c *checker) report(err error) {
	if len(c.errs) < 10 {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) errors() error { return errors.Join(c.errs...) }

func (c *checker) check(p listed) {
	own := p.Module != nil && p.Module.Main
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.report(err)
			continue
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if to, ok := p.ImportMap[path]; ok {
				path = to
			}
			if d, ok := c.done[path]; ok {
				return d, nil
			}
			return nil, fmt.Errorf("typecheck: package %s is not listed", path)
		}),
		Sizes:            c.sizes,
		IgnoreFuncBodies: !own,
		Error: func(err error) {
			if own {
				c.report(err)
			}
		},
	}
	// Errors are reported above.
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil)
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
