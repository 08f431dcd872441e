// Command opdoc writes docs/ops.md and docs/nodes.md from the registries and
// the doc comments of packages transforms, plugin and dataset, and
// docs/coverage.md from the table of package coverage, and the methods of
// Python's Dataset, python/src/infer_prep/_nodes.py. It compresses the two
// pages that package docs embeds. Run it with go generate ./internal/opdoc.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/docs"
	"github.com/infer-prep/infer-prep/tools/opsource"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
	_ "github.com/infer-prep/infer-prep/transforms/frames"
	_ "github.com/infer-prep/infer-prep/transforms/plugin"
	_ "github.com/infer-prep/infer-prep/transforms/radiology"
	_ "github.com/infer-prep/infer-prep/transforms/subwords"
)

func main() {
	// go generate runs in internal/opdoc.
	files, err := generate(filepath.Join("..", ".."))
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
	}
	for name, embedded := range map[string]func() string{"ops.md": docs.Ops, "nodes.md": docs.Nodes} {
		name = filepath.Join("..", "..", "docs", name)
		// Another release of Go may write other bytes for the same page.
		if text := files[name]; err == nil && embedded() != string(text) {
			err = compress(name+".gz", text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "opdoc:", err)
		os.Exit(1)
	}
}

// compress writes a file that package docs embeds.
func compress(name string, text []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// generate returns the contents of the files for the module at root.
func generate(root string) (map[string][]byte, error) {
	s := opsource.New(root)
	ops, err := writeOps(s)
	if err != nil {
		return nil, err
	}
	nodes, err := writeNodes(s)
	if err != nil {
		return nil, err
	}
	python, err := writePython(s)
	return map[string][]byte{
		filepath.Join(root, "docs", "ops.md"):                           ops,
		filepath.Join(root, "docs", "nodes.md"):                         nodes,
		filepath.Join(root, "docs", "coverage.md"):                      classes(),
		filepath.Join(root, "python", "src", "infer_prep", "_nodes.py"): python,
	}, err
}

// writeOps returns docs/ops.md.
func writeOps(s *opsource.Sources) ([]byte, error) {
	var list, t bytes.Buffer
	list.WriteString("# The ops\n\nGenerated from the comments of the ops by `go generate ./internal/opdoc`; edit them there.\n" +
		"The difference is the largest one measured against the reference; 0 means equal bytes.\n" +
		"The default column shows the parameters of a newly created op; a graph states every parameter.\n\n" +
		"![what each op makes of a picture](ops.png)\n\n" +
		"`infer-prep ops --sheet FILE` draws this sheet, with `--image` of another picture.\n\n" +
		"| op | what it does | difference |\n|---|---|---|\n")
	infos := transforms.Ops()
	for _, i := range infos {
		d, pkg, err := s.Document(i.New())
		if err == nil {
			fmt.Fprintf(&list, "| [%s](#%s) | %s | %s |\n", i.Name, i.Name, cell(d.Summary), cell(i.Exactness))
			err = section(&t, pkg, i, d)
			if sheet := s.Sheets[i.Name]; sheet != "" {
				t.WriteString("\nThe sheet shows it with:\n\n```json\n" + sheet + "\n```\n")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("op %s: %w", i.Name, err)
		}
	}
	for name := range s.Sheets {
		if _, err := transforms.Lookup(name); err != nil {
			return nil, fmt.Errorf("comment //sheet:%s: %w", name, err)
		}
	}
	t.WriteString("\n## The values of parameters\n")
	seen := map[string]bool{}
	for _, i := range infos {
		v := reflect.ValueOf(i.New()).Elem()
		for n := range v.NumField() {
			enumeration(&t, v.Field(n), s.Types[v.Field(n).Type().PkgPath()], seen)
		}
	}
	return append(list.Bytes(), t.Bytes()...), nil
}

// section writes the section of an op.
func section(w *bytes.Buffer, pkg *doc.Package, i transforms.Info, d opsource.Op) error {
	fmt.Fprintf(w, "\n## %s\n\n`%s.%s`, version %d. Inputs: %s. Outputs: %s.", i.Name, pkg.Name, d.Type, i.Version,
		strings.Join(i.In, ", "), strings.Join(i.Out, ", "))
	if i.InPlace {
		w.WriteString(" Works in place.")
	}
	if err := description(w, pkg, d, i.New()); err != nil {
		return err
	}
	w.WriteString(wrap(fmt.Sprintf("\nMeasured against %s. Difference: %s.\n", strings.TrimSuffix(i.Reference, "."), strings.TrimSuffix(i.Exactness, "."))))
	return nil
}

// description writes the doc comment of an op or a node, and a table of its
// parameters, whose usual values are those of v.
func description(w *bytes.Buffer, pkg *doc.Package, d opsource.Op, v any) error {
	p := pkg.Printer()
	p.HeadingLevel = 3
	fmt.Fprintf(w, "\n\n%s", wrap(string(p.Markdown(pkg.Parser().Parse(d.Doc)))))
	if len(d.Fields) > 0 {
		w.WriteString("\n| parameter | type | default | meaning |\n|---|---|---|---|\n")
	}
	for _, f := range d.Fields {
		x := reflect.ValueOf(v).Elem().FieldByName(f.Go)
		value, err := json.Marshal(x.Interface())
		if err != nil {
			return err
		}
		typ := f.Type
		if names := values(x); names != "" {
			typ = names
		}
		fmt.Fprintf(w, "| %s | %s | `%s` | %s |\n", f.Name, cell(typ), value, cell(f.Doc))
	}
	return nil
}

// enumeration writes a table of a parameter's values with their meaning, once
// per type. It omits types without documented constants in package transforms.
func enumeration(w *bytes.Buffer, v reflect.Value, types map[string]*doc.Type, seen map[string]bool) {
	name := v.Type().Name()
	typ := types[name]
	if typ == nil || seen[name] || values(v) == "" {
		return
	}
	seen[name] = true
	fmt.Fprintf(w, "\n### %s\n\n%s\n| value | meaning |\n|---|---|\n", name, wrap(opsource.Line(typ.Doc)+"\n"))
	names := strings.Split(values(v), ", ")
	for _, c := range typ.Consts {
		for n, s := range c.Decl.Specs {
			s := s.(*ast.ValueSpec)
			fmt.Fprintf(w, "| %s | %s |\n", names[n], cell(s.Doc.Text()+" "+s.Comment.Text()))
		}
	}
}

// values returns the names of an enumeration, "" if v is not one. Its values
// must be numbered without gaps from 0 or 1. A set of flags is not an
// enumeration.
func values(v reflect.Value) string {
	if _, ok := v.Interface().(encoding.TextMarshaler); !ok || v.Kind() != reflect.Uint8 {
		return ""
	}
	var names []string
	for n := range 256 {
		x := reflect.New(v.Type()).Elem()
		x.SetUint(uint64(n))
		name, err := x.Interface().(encoding.TextMarshaler).MarshalText()
		if err == nil {
			names = append(names, string(name))
		} else if n > 0 {
			break
		}
	}
	if strings.Contains(strings.Join(names, ""), "|") || strings.Contains(strings.Join(names, ""), ",") {
		return ""
	}
	return strings.Join(names, ", ")
}

// cell escapes a text for a table.
func cell(s string) string { return strings.ReplaceAll(opsource.Line(s), "|", "\\|") }

// wrap breaks the long lines of Markdown prose. Code blocks and tables stay as
// they are, and list items keep their indentation.
func wrap(s string) string {
	const columns = 100
	var b strings.Builder
	for l := range strings.Lines(s) {
		text := strings.TrimLeft(l, " ")
		indent := len(l) - len(text)
		if indent >= 4 || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "|") {
			b.WriteString(l)
			continue
		}
		hang := indent
		if strings.HasPrefix(text, "- ") {
			hang += 2
		}
		b.WriteString(l[:indent])
		at := indent
		for n, word := range strings.Fields(text) {
			width := utf8.RuneCountInString(word)
			switch {
			case n == 0:
			case at+1+width > columns:
				b.WriteString("\n" + strings.Repeat(" ", hang))
				at = hang
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += width
		}
		b.WriteByte('\n')
	}
	return b.String()
}
