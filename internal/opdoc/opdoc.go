// Package opdoc reads the documentation of the ops of packages transforms and
// plugin, and of the nodes of datasets, from docs/ops.md and docs/nodes.md, for
// programs that print it, such as the command infer-prep ops. Both pages are
// generated from the comments in the source. The command itself draws
// docs/ops.png.
package opdoc

import (
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/docs"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
)

//go:generate go run ../../tools/opdoc
//go:generate go run ../../tools/picture ../../docs/ops.png go run ../../cmd/infer-prep ops --sheet

// Op is the documentation of one op, or of one node.
type Op struct {
	Summary string // what it does, on one line
	Doc     string // doc comment, in lines of at most 77 columns
	Fields  []Field
	// Sheet is the JSON of the parameters with which the sheet of ops shows an
	// op, if its defaults show nothing.
	Sheet string
}

// Field is one parameter.
type Field struct {
	Name string // JSON name
	Doc  string // comment on one line; may be empty
}

var (
	ops   = sync.OnceValue(func() map[string]Op { return parse(docs.Ops()) })
	nodes = sync.OnceValue(func() map[string]Op { return parse(docs.Nodes()) })
)

// Lookup returns the documentation of an op by its registered name and reports
// whether there is any.
func Lookup(name string) (Op, bool) {
	o, ok := ops()[name]
	return o, ok
}

// LookupNode is Lookup of a dataset's node.
func LookupNode(name string) (Op, bool) {
	o, ok := nodes()[name]
	return o, ok
}

// parse reads a page: a table with a summary for each name, then a section for
// each, which has a line for programs in Go, the doc comment and a table of
// parameters.
func parse(page string) map[string]Op {
	all := map[string]Op{}
	head, rest, _ := strings.Cut(strings.ReplaceAll(page, "\r\n", "\n"), "\n## ")
	for l := range strings.Lines(head) {
		if c := cells(l); len(c) > 1 && strings.HasPrefix(c[0], "[") {
			name, _, _ := strings.Cut(c[0][1:], "]")
			all[name] = Op{Summary: c[1]}
		}
	}
	for _, s := range strings.Split(rest, "\n## ") {
		name, text, _ := strings.Cut(s, "\n")
		o, ok := all[name]
		if !ok {
			continue
		}
		_, text, _ = strings.Cut(strings.TrimPrefix(text, "\n"), "\n\n")
		text, sheet, _ := strings.Cut(text, "\nThe sheet shows it with:\n\n```json\n")
		o.Sheet, _, _ = strings.Cut(sheet, "\n")
		text, table, _ := strings.Cut(text, "\n| parameter |")
		text, _, _ = strings.Cut(text, "\n\nMeasured against ")
		o.Doc = plain(text)
		for l := range strings.Lines(table) {
			if c := cells(l); len(c) == 4 && !strings.HasPrefix(c[0], "-") {
				o.Fields = append(o.Fields, Field{Name: c[0], Doc: c[3]})
			}
		}
		all[name] = o
	}
	return all
}

// cells returns the cells of a table's row, nil for other lines.
func cells(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil
	}
	const bar = "\x00"
	c := strings.Split(strings.TrimSuffix(strings.ReplaceAll(line, `\|`, bar), "|"), "|")
	for i := range c {
		c[i] = strings.TrimSpace(strings.ReplaceAll(c[i], bar, "|"))
	}
	return c
}

var (
	escaped = lazyregexp.New("\\\\([\\\\`*_\\[\\]<>+#.()-])")
	link    = lazyregexp.New(`\[([^\]]*)\]\(#[^)]*\)`)
	heading = lazyregexp.New(`^#+ (.*?)( \{#.*\})?\n`)
)

// columns is the width of a text. A Go comment has three more, for the slashes.
const columns = 77

// plain returns Markdown as plain text. Code stays as it is.
func plain(markdown string) string {
	var b strings.Builder
	at := 0 // columns of the open line, 0 if none is open
	end := func() {
		if at > 0 {
			b.WriteByte('\n')
		}
		at = 0
	}
	hang := 0
	for l := range strings.Lines(strings.TrimSpace(markdown) + "\n") {
		text := strings.TrimLeft(l, " ")
		switch {
		case text == "\n":
			end()
			b.WriteByte('\n')
			continue
		case text[0] == '\t':
			end()
			b.WriteString(l)
			continue
		case text[0] == '#':
			text = heading().ReplaceAllString(text, "# $1\n")
		case strings.HasPrefix(text, "- "):
			end()
			hang = len(l) - len(text) + len("- ")
			b.WriteString(strings.Repeat(" ", hang-len("- ")))
			at = hang - len("- ")
		case at == 0:
			hang = len(l) - len(text)
			b.WriteString(strings.Repeat(" ", hang))
		}
		first := at == 0 || strings.HasPrefix(text, "- ")
		for _, word := range strings.Fields(escaped().ReplaceAllString(link().ReplaceAllString(text, "[$1]"), "$1")) {
			if n := len([]rune(word)); !first && at+1+n > columns {
				b.WriteString("\n" + strings.Repeat(" ", hang) + word)
				at = hang + n
			} else {
				if !first {
					b.WriteByte(' ')
					at++
				}
				b.WriteString(word)
				at += n
			}
			first = false
		}
	}
	end()
	return b.String()
}
