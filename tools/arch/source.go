package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the main module.
const Module = "github.com/infer-prep/infer-prep"

// Root stands for the package at the root of the module, whose folder has no
// name.
const Root = "inferprep"

// Found describes a package as read from its files, those of all platforms and
// build tags.
type Found struct {
	Imports []string // direct imports without those of tests and of the standard library; sorted
	Doc     string   // the first sentence of the package comment
}

// Read finds the packages below root, by folder. It skips the same folders as
// the go tool, and node_modules, which go.mod ignores.
func Read(root string) (map[string]*Found, error) {
	found := map[string]*Found{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if path != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if dir = filepath.ToSlash(dir); dir == "." {
			dir = Root
		}
		p := found[dir]
		if p == nil {
			p = &Found{}
			found[dir] = p
		}
		return p.add(file, strings.HasSuffix(name, "_test.go"))
	})
	for _, p := range found {
		slices.Sort(p.Imports)
		p.Imports = slices.Compact(p.Imports)
	}
	return found, err
}

func (p *Found) add(file *ast.File, test bool) error {
	if file.Doc != nil && p.Doc == "" {
		p.Doc = new(doc.Package).Synopsis(file.Doc.Text())
	}
	if test {
		return nil
	}
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		if own, ok := strings.CutPrefix(path, Module+"/"); ok {
			path = own
		} else if path == Module {
			path = Root
		} else if host, _, _ := strings.Cut(path, "/"); !strings.Contains(host, ".") {
			continue // the standard library
		}
		p.Imports = append(p.Imports, path)
	}
	return nil
}

// Allows reports whether the package may import path, a folder of this module
// or a package of another.
func (p Package) Allows(path string) bool {
	return slices.ContainsFunc(p.May, func(m string) bool { return inModule(path, m) })
}

// inModule reports whether path is m, or a package of the other module m.
func inModule(path, m string) bool {
	return path == m || isOther(m) && strings.HasPrefix(path, m+"/")
}

// isOther reports whether path belongs to another module.
func isOther(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return strings.Contains(host, ".")
}

// The markers in docs/packages.md around the generated table.
const (
	begin = "<!-- packages: generated from tools/arch/layers.go by go generate; do not edit -->"
	end   = "<!-- end of packages -->"
)

// Table returns the table of packages in Markdown.
func Table(found map[string]*Found) string {
	var b strings.Builder
	b.WriteString("| package | what it is | may import |\n|---|---|---|\n")
	for _, l := range Layers {
		fmt.Fprintf(&b, "| **%s** | | |\n", l.Name)
		for _, p := range l.Packages {
			text := ""
			if f := found[p.Path]; f != nil {
				text = strings.TrimRight(summary(f.Doc), ".:,")
			}
			may := "std"
			if len(p.May) > 0 {
				may = strings.Join(sorted(p.May), ", ")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Path, strings.ReplaceAll(text, "|", `\|`), may)
		}
	}
	return b.String()
}

// summary returns a package's sentence without its first two words, "Package
// tensor".
func summary(doc string) string {
	for _, start := range []string{"Package ", "Command ", "Program "} {
		if rest, ok := strings.CutPrefix(doc, start); ok {
			_, rest, _ = strings.Cut(rest, " ")
			return rest
		}
	}
	return doc
}

// sorted returns folders of this module first, then other modules, each once.
func sorted(l []string) []string {
	return slices.Compact(slices.SortedFunc(slices.Values(l), func(a, b string) int {
		if isOther(a) != isOther(b) {
			if isOther(a) {
				return 1
			}
			return -1
		}
		return cmp.Compare(a, b)
	}))
}

// Replace returns the document with the table between its markers replaced.
func Replace(document, table string) (string, error) {
	before, rest, ok := strings.Cut(document, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("arch: the document lacks the markers %q and %q", begin, end)
	}
	return before + begin + "\n\n" + table + "\n" + end + after, nil
}

// Update rewrites the table in the document at path. root is the root of the
// repository.
func Update(root, path string) error {
	found, err := Read(root)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := Replace(string(b), Table(found))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// Print returns the layers as text, from the top to the bottom, with every
// package and what it imports of this repository.
func Print(found map[string]*Found) string {
	var b strings.Builder
	for i, l := range slices.Backward(Layers) {
		fmt.Fprintf(&b, "%d. %s\n", i+1, l.Name)
		for _, p := range l.Packages {
			var own []string
			if f := found[p.Path]; f != nil {
				for _, q := range f.Imports {
					if !isOther(q) {
						own = append(own, q)
					}
				}
			}
			fmt.Fprintf(&b, "   %-28s %s\n", p.Path, strings.Join(own, " "))
		}
	}
	return b.String()
}

// Problems returns every violation of the table, sorted. It reports packages
// missing from the table or from the tree, and imports that are not allowed or
// point up. It also reports packages of the top-level internal folder that
// import public ones.
func Problems(layers []Layer, found map[string]*Found) (bad []string) {
	report := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	seen := map[string]bool{}
	for _, l := range layers {
		for _, p := range l.Packages {
			if seen[p.Path] {
				report("%s: listed twice", p.Path)
			}
			for _, m := range p.May {
				if !isOther(m) && !seen[m] {
					report("%s: may import %s, which is not below it", p.Path, m)
				}
				if !isOther(m) && internal(p.Path) && !internal(m) && p.Why == "" {
					report("%s: an internal package may import the public %s without a reason", p.Path, m)
				}
			}
			seen[p.Path] = true
			f := found[p.Path]
			if f == nil {
				report("%s: no such package", p.Path)
				continue
			}
			for _, i := range f.Imports {
				if !p.Allows(i) {
					report("%s: imports %s, which is not allowed", p.Path, i)
				}
			}
			if f.Doc == "" {
				report("%s: no package comment", p.Path)
			}
		}
	}
	for path := range found {
		if !seen[path] {
			report("%s: not in the table", path)
		}
	}
	slices.Sort(bad)
	return bad
}

// internal reports whether a package is in the top-level internal folder.
func internal(path string) bool { return strings.HasPrefix(path, "internal/") }
