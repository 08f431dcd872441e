package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// program is the source of all packages that are reduced.
type program struct {
	fset   *token.FileSet
	pkgs   []*pkg
	byPath map[string]*pkg
	drop   []string
	left   []*unit // functions without their bodies
}

type pkg struct {
	*listed
	files []*file
	units map[string][]*unit // by the name of what they declare, or the receiver's type
}

type file struct {
	name    string
	src     []byte
	ast     *ast.File
	imports map[string]string // path by name
	units   []*unit
	cuts    [][2]int // offsets to cut, whatever is reached
}

// unit is a declaration that stays or goes as a whole.
type unit struct {
	pkg        *pkg
	file       *file
	start, end int // offsets in the file
	names      []string
	mentions   []mention
	imports    map[string]bool // names of imports that it uses
	kept       bool
	function   *ast.FuncDecl // nil for other declarations
	bodyless   bool
	group      *group // the declaration in parentheses that it is part of
}

// group is a declaration in parentheses.
type group struct{ start, end int }

// mention is a use of a name, of the package itself if path is empty.
type mention struct{ path, name string }

func parse(list []*listed, o options) (*program, error) {
	p := &program{fset: token.NewFileSet(), byPath: map[string]*pkg{}, drop: o.drop}
	for _, l := range list {
		k := &pkg{listed: l, units: map[string][]*unit{}}
		for _, name := range l.GoFiles {
			f, err := p.parseFile(k, name)
			if err != nil {
				return nil, err
			}
			k.files = append(k.files, f)
		}
		p.pkgs = append(p.pkgs, k)
		p.byPath[l.ImportPath] = k
	}
	for _, k := range p.pkgs {
		for _, f := range k.files {
			for _, d := range f.ast.Decls {
				p.declare(k, f, d)
			}
		}
	}
	return p, nil
}

func (p *program) parseFile(k *pkg, name string) (*file, error) {
	path := filepath.Join(k.Dir, name)
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	a, err := parser.ParseFile(p.fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, src: src, ast: a, imports: map[string]string{}}
	for _, i := range a.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		n := importName(path)
		if i.Name != nil {
			n = i.Name.Name
		}
		f.imports[n] = path
	}
	return f, nil
}

var version = regexp.MustCompile(`^v[0-9]+$`)

// importName returns the usual name of a package.
func importName(path string) string {
	parts := strings.Split(path, "/")
	if n := len(parts); n > 1 && version.MatchString(parts[n-1]) {
		return parts[n-2]
	}
	return parts[len(parts)-1]
}

func (p *program) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

// span returns the offsets of a declaration with its comment.
func (p *program) span(n ast.Node, doc *ast.CommentGroup) (start, end int) {
	start = p.offset(n.Pos())
	if doc != nil {
		start = p.offset(doc.Pos())
	}
	return start, p.offset(n.End())
}

// declare records the units of a declaration.
func (p *program) declare(k *pkg, f *file, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		u := p.unit(k, f, d, d.Doc)
		u.function = d
		switch {
		case d.Recv != nil:
			t := receiver(d.Recv.List[0].Type)
			if !slices.Contains(p.drop, d.Name.Name) && !slices.Contains(p.drop, t+"."+d.Name.Name) {
				k.add(u, t)
			}
		case d.Name.Name == "init":
			u.kept = true
		default:
			k.add(u, d.Name.Name)
		}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return
		}
		if d.Tok == token.CONST || !d.Lparen.IsValid() { // a list of constants depends on its order
			u := p.unit(k, f, d, d.Doc)
			for _, s := range d.Specs {
				k.add(u, names(s)...)
			}
			return
		}
		g := &group{}
		g.start, g.end = p.span(d, d.Doc)
		for _, s := range d.Specs {
			var doc *ast.CommentGroup
			switch s := s.(type) {
			case *ast.TypeSpec:
				doc = s.Doc
			case *ast.ValueSpec:
				doc = s.Doc
			}
			u := p.unit(k, f, s, doc)
			u.group = g
			k.add(u, names(s)...)
		}
	}
}

// unit returns the unit of a node.
func (p *program) unit(k *pkg, f *file, n ast.Node, doc *ast.CommentGroup) *unit {
	u := &unit{pkg: k, file: f, imports: map[string]bool{}, kept: k.Name == "main"}
	u.start, u.end = p.span(n, doc)
	u.mention(n)
	f.units = append(f.units, u)
	return u
}

func (k *pkg) add(u *unit, names ...string) {
	u.names = append(u.names, names...)
	for _, n := range names {
		k.units[n] = append(k.units[n], u)
	}
}

func names(s ast.Spec) (l []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			l = append(l, n.Name)
		}
	}
	return l
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// mention records the names that a node uses. Names of fields, methods and
// parameters are none of a package.
func (u *unit) mention(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				u.mention(n.Recv)
			}
			u.mention(n.Type)
			if n.Body != nil {
				u.mention(n.Body)
			}
			return false
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				u.mention(n.X)
				return false
			}
			if path, ok := u.file.imports[x.Name]; ok {
				u.imports[x.Name] = true
				u.mentions = append(u.mentions, mention{path, n.Sel.Name})
			}
			u.mentions = append(u.mentions, mention{"", x.Name})
			return false
		case *ast.Field:
			u.mention(n.Type)
			return false
		case *ast.Ident:
			u.mentions = append(u.mentions, mention{"", n.Name})
		}
		return true
	})
}

// leaveOut takes the bodies of functions, PACKAGE.TYPE.METHOD.
func (p *program) leaveOut(names []string) error {
	for _, name := range names {
		found := false
		for _, k := range p.pkgs {
			for _, f := range k.files {
				for _, u := range f.units {
					d := u.function
					if d == nil || d.Recv == nil || name != k.Name+"."+receiver(d.Recv.List[0].Type)+"."+d.Name.Name {
						continue
					}
					found = true
					u.bodyless = true
					u.mentions, u.imports = nil, map[string]bool{}
					u.mention(d.Recv)
					u.mention(d.Type)
					p.left = append(p.left, u)
				}
			}
		}
		if !found {
			return fmt.Errorf("unknown function %q", name)
		}
	}
	return nil
}

// restore gives the functions of leaveOut their bodies back.
func (p *program) restore() {
	for _, u := range p.left {
		u.bodyless = false
		u.mention(u.function.Body)
	}
}

// draws reports whether an op of the program is random: a type with a method
// Draw stays.
func (p *program) draws() bool {
	for _, k := range p.pkgs {
		for _, f := range k.files {
			for _, u := range f.units {
				if u.kept && u.function != nil && u.function.Recv != nil && u.function.Name.Name == "Draw" {
					return true
				}
			}
		}
	}
	return false
}

// reach marks the units that the kept ones mention.
func (p *program) reach() {
	var work []*unit
	for _, k := range p.pkgs {
		for _, f := range k.files {
			for _, u := range f.units {
				if u.kept {
					work = append(work, u)
				}
			}
		}
	}
	for len(work) > 0 {
		u := work[len(work)-1]
		work = work[:len(work)-1]
		for _, m := range u.mentions {
			k := u.pkg
			if m.path != "" {
				k = p.byPath[m.path]
			}
			if k == nil {
				continue
			}
			for _, n := range k.units[m.name] {
				if !n.kept {
					n.kept = true
					work = append(work, n)
				}
			}
		}
	}
}

// source returns the text of a file without what goes, nil if nothing stays.
func (p *program) source(f *file) []byte {
	type edit struct {
		start, end int
		text       string
	}
	var edits []edit
	cuts := slices.Clone(f.cuts)
	used := map[string]bool{}
	some := false
	groups := map[*group]bool{} // whether a unit of it stays
	for _, u := range f.units {
		if u.group != nil {
			groups[u.group] = groups[u.group] || u.kept
		}
		if !u.kept {
			cuts = append(cuts, [2]int{u.start, u.end})
			continue
		}
		some = true
		for n := range u.imports {
			used[n] = true
		}
		if u.bodyless {
			edits = append(edits, edit{p.offset(u.function.Body.Pos()), u.end, fmt.Sprintf("{ panic(%q) }", "shake: only random ops need "+u.function.Name.Name)})
		}
	}
	for g, kept := range groups {
		if !kept {
			cuts = append(cuts, [2]int{g.start, g.end})
		}
	}
	for _, c := range cuts {
		edits = append(edits, edit{c[0], c[1], ""})
	}
	for _, i := range f.ast.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := importName(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		start, end := p.span(i, i.Doc)
		if name == "_" {
			some = true
		} else if !used[name] {
			edits = append(edits, edit{start, end, ""})
		}
	}
	if !some {
		return nil
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.start >= at {
			out = append(append(out, f.src[at:e.start]...), e.text...)
		}
		at = max(at, e.end)
	}
	out = append(out, f.src[at:]...)
	// An import without a group, and a group that has lost all of its specs.
	return regexp.MustCompile(`(?m)^(import|var|type) *(\(\s*\))?$`).ReplaceAll(out, nil)
}
