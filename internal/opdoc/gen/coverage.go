package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/internal/coverage"
	"github.com/infer-prep/infer-prep/transforms"
)

// classes returns the contents of docs/coverage.md.
func classes() []byte {
	l := coverage.Classes(func(op string) (coverage.Op, bool) {
		i, err := transforms.Lookup(op)
		return coverage.Op{Reference: i.Reference, Exactness: i.Exactness}, err == nil
	})
	var b bytes.Buffer
	fmt.Fprint(&b, "# The classes of other packages\n\n"+
		"Generated from internal/coverage/coverage.tsv by `go generate ./internal/opdoc`; edit the table there.\n"+
		"The command `infer-prep ops --coverage` prints it, with the references of the ops.\n"+
		wrap("Several ops run one after the other; those after `random_apply` or `random_choice` are its parameters. The parameters shown select the class; [ops.md](ops.md) describes all of them. "+
			"The difference is the largest one measured against the reference; 0 means equal bytes. Random numbers have the same distribution, not the same values.\n"))
	fmt.Fprintf(&b, "\n%d classes: %d covered, %d planned, %d not here.\n", len(l),
		coverage.Count(l, coverage.Covered), coverage.Count(l, coverage.Planned), coverage.Count(l, coverage.NotHere))
	last := ""
	for _, c := range l {
		if c.Package != last {
			last = c.Package
			first, _, _ := strings.Cut(last, ".")
			fmt.Fprintf(&b, "\n## %s %s\n\n| class | ops | difference | note |\n|---|---|---|---|\n", last, coverage.Version[first])
		}
		var ops []string
		for _, u := range c.Ops {
			text := "`" + u.String() + "`"
			if _, err := transforms.Lookup(u.Op); err == nil {
				text = fmt.Sprintf("[%s](ops.md#%s)", text, u.Op)
			}
			ops = append(ops, text)
		}
		difference := c.Difference
		if c.State != coverage.Covered {
			difference = c.State
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Name, cmp.Or(strings.Join(ops, " "), "-"), cell(difference), cell(c.Note))
	}
	return b.Bytes()
}
