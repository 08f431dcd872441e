// Package help holds the help texts of the commands: a file NAME.txt for each,
// named by its path without the program, with hyphens. Its examples stand at
// the end, after the line "Examples:". {{NAME}} stands for the file
// part-NAME.txt, {{stores}}, {{record-formats}}, {{passes}} and
// {{replacements}} for what is linked.
package help

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

//go:embed *.txt
var texts embed.FS

// Fill sets the texts of a program's commands.
func Fill(root *cobra.Command) {
	fill(root, root.Name())
}

// fill sets the texts of a command and of those below it.
func fill(cmd *cobra.Command, name string) {
	if b, err := texts.ReadFile(name + ".txt"); err == nil {
		cmd.Long, cmd.Example = split(string(b))
	}
	prefix := name + "-"
	if !cmd.HasParent() {
		prefix = ""
	}
	for _, c := range cmd.Commands() {
		fill(c, prefix+c.Name())
	}
}

// split returns the text and the examples of a file, with its parts.
func split(s string) (long, example string) {
	for head, rest, ok := strings.Cut(s, "{{"); ok; head, rest, ok = strings.Cut(s, "{{") {
		name, tail, _ := strings.Cut(rest, "}}")
		s = head + part(name) + tail
	}
	long, example, _ = strings.Cut(strings.TrimSuffix(s, "\n"), "\n\nExamples:\n")
	return long, example
}

// part returns the text of a placeholder.
func part(name string) string {
	switch name {
	case "stores":
		var l []string
		for _, s := range append([]string{"file"}, store.Schemes()...) {
			l = append(l, s+"://")
		}
		return strings.Join(l, ", ")
	case "record-formats":
		return recordFormats()
	case "passes":
		return list(16, datagraph.Passes(), func(p datagraph.Pass) (string, string) { return p.String(), p.Doc() })
	case "replacements":
		return list(20, dataset.Replacements(), func(r dataset.NamedReplacement) (string, string) {
			return r.Name, r.Doc + "; for " + strings.Join(r.For, ", ")
		})
	}
	b, err := texts.ReadFile("part-" + name + ".txt")
	if err != nil {
		panic("help: {{" + name + "}}: " + err.Error()) // TestHelpTexts fills all texts
	}
	return strings.TrimSuffix(string(b), "\n")
}

// list returns a line for each value: its name, of width characters, and its
// description.
func list[T any](width int, l []T, describe func(T) (name, doc string)) string {
	var lines []string
	for _, v := range l {
		name, doc := describe(v)
		lines = append(lines, fmt.Sprintf("  %-*s %s", width, name, doc))
	}
	return strings.Join(lines, "\n")
}

// recordFormats returns the paragraph that lists the record formats.
func recordFormats() string {
	width := 0
	for _, f := range records.Formats() {
		width = max(width, len(f.Name))
	}
	return "Formats:\n" + list(width+1, records.Formats(), func(f records.Format) (string, string) {
		if f.Create == nil {
			return f.Name, f.Doc + " (read only)"
		}
		return f.Name, f.Doc
	})
}
