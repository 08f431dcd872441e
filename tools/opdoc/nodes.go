package main

import (
	"bytes"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	_ "github.com/infer-prep/infer-prep/dataset/all"
	"github.com/infer-prep/infer-prep/tools/opsource"
)

// writeNodes returns docs/nodes.md.
func writeNodes(s *opsource.Sources) ([]byte, error) {
	var list, t bytes.Buffer
	list.WriteString("# The nodes of datasets\n\nGenerated from the comments of the nodes by `go generate ./internal/opdoc`; edit them there.\n" +
		wrap("A definition states every parameter. `infer-prep dataset make` fills in the defaults, and so does the Python package. "+
			"[format/dataset.md](format/dataset.md) describes the JSON form, [datasets.md](datasets.md) how datasets work.\n"))
	for _, source := range []bool{false, true} {
		title := "Nodes with inputs"
		if source {
			title = "Sources"
		}
		fmt.Fprintf(&list, "\n%s:\n\n| node | what it does |\n|---|---|\n", title)
		for _, i := range dataset.Nodes() {
			n := i.New()
			if _, ok := n.(dataset.Source); ok != source {
				continue
			}
			d, pkg, err := s.Document(n)
			if err == nil {
				fmt.Fprintf(&list, "| [%s](#%s) | %s |\n", i.Name, i.Name, cell(i.Doc))
				fmt.Fprintf(&t, "\n## %s\n\n`%s.%s`, version %d.", i.Name, pkg.Name, d.Type, i.Version)
				err = description(&t, pkg, d, n)
			}
			if err != nil {
				return nil, fmt.Errorf("node %s: %w", i.Name, err)
			}
		}
	}
	return append(list.Bytes(), t.Bytes()...), nil
}
