// Package opsource reads the documentation of ops and nodes from the comments
// in the source, for programs that write it down.
package opsource

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Op is the documentation of one op, or of one node.
type Op struct {
	Type    string // the Go type in its package
	Summary string // first sentence of Doc, on one line
	Doc     string // doc comment, as in the source
	Fields  []Field
}

// Field is one parameter.
type Field struct {
	Name string // JSON name
	Go   string // field of the struct
	Type string // Go type, as in the source
	Doc  string // comment on one line; may be empty
}

// module is the import path of the repository.
const module = "github.com/infer-prep/infer-prep/"

// Sources are packages of the repository that were parsed, and their types, by
// import path.
type Sources struct {
	root     string
	packages map[string]*doc.Package
	Types    map[string]map[string]*doc.Type
}

// New returns Sources of the repository at root.
func New(root string) *Sources {
	return &Sources{root: root, packages: map[string]*doc.Package{}, Types: map[string]map[string]*doc.Type{}}
}

// Document returns the documentation of the type of an op or a node, and its
// package, which it parses if needed.
func (s *Sources) Document(v any) (d Op, pkg *doc.Package, err error) {
	of := reflect.TypeOf(v).Elem()
	if s.packages[of.PkgPath()] == nil {
		if err := s.parse(strings.TrimPrefix(of.PkgPath(), module)); err != nil {
			return d, nil, err
		}
	}
	typ, ok := s.Types[of.PkgPath()][of.Name()]
	if !ok {
		return d, nil, fmt.Errorf("no type %T in the source", v)
	}
	pkg = s.packages[of.PkgPath()]
	d = Op{Type: typ.Name, Summary: Line(pkg.Synopsis(typ.Doc)), Doc: typ.Doc}
	d.Fields, err = fields(typ)
	return d, pkg, err
}

// parse reads the source of the package in a folder below root, without its
// tests.
func (s *Sources) parse(folder string) error {
	dir := filepath.Join(s.root, filepath.FromSlash(folder))
	fset := token.NewFileSet()
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, n), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, module+folder)
	if err != nil {
		return err
	}
	s.packages[module+folder], s.Types[module+folder] = pkg, map[string]*doc.Type{}
	for _, t := range pkg.Types {
		s.Types[module+folder][t.Name] = t
	}
	return nil
}

// fields returns the parameters of an op's struct.
func fields(t *doc.Type) ([]Field, error) {
	for _, s := range t.Decl.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok || spec.Name.Name != t.Name {
			continue
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			return nil, fmt.Errorf("%s is not a struct", t.Name)
		}
		var list []Field
		for _, f := range st.Fields.List {
			if f.Tag == nil {
				continue
			}
			var b strings.Builder
			if err := format.Node(&b, token.NewFileSet(), f.Type); err != nil {
				return nil, err
			}
			name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			text := Line(f.Doc.Text() + " " + f.Comment.Text())
			for _, n := range f.Names {
				list = append(list, Field{Name: name, Go: n.Name, Type: b.String(), Doc: text})
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("no declaration of %s", t.Name)
}

// Line joins the lines of a text.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }
