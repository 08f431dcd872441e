package graph

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/coverage"
	"github.com/infer-prep/infer-prep/transforms"
)

// ClassesJSON is the table of ops --coverage --json.
type ClassesJSON struct {
	Packages map[string]string `json:"packages"` // versions
	Covered  int               `json:"covered"`
	NotHere  int               `json:"not_here"`
	Classes  []opClassJSON     `json:"classes"`
}

type opClassJSON struct {
	Class      string   `json:"class"`
	State      string   `json:"state"` // covered or not here
	Ops        []string `json:"ops"`   // in order, with the parameters that select the class
	Reference  string   `json:"reference,omitempty"`
	Difference string   `json:"difference,omitempty"`
	Note       string   `json:"note,omitempty"`
}

// listClasses prints the classes of other packages.
func listClasses(a *command.App, asJSON bool) error {
	classes := coverage.Classes(func(op string) (coverage.Op, bool) {
		i, err := transforms.Lookup(op)
		return coverage.Op{Reference: i.Reference, Exactness: i.Exactness}, err == nil
	})
	c := ClassesJSON{
		Packages: coverage.Version, Covered: coverage.Count(classes, coverage.Covered),
		NotHere: coverage.Count(classes, coverage.NotHere),
	}
	for _, k := range classes {
		j := opClassJSON{Class: k.Package + "." + k.Name, State: k.State, Ops: []string{}, Reference: k.Reference, Difference: k.Difference, Note: k.Note}
		for _, u := range k.Ops {
			j.Ops = append(j.Ops, u.String())
		}
		c.Classes = append(c.Classes, j)
	}
	if asJSON {
		return a.PrintJSON(c)
	}
	t := command.Table{}
	last := ""
	for i, k := range classes {
		if k.Package != last {
			if last = k.Package; i > 0 {
				t.Row("")
			}
			first, _, _ := strings.Cut(k.Package, ".")
			t.Row(k.Package+" "+coverage.Version[first], "OPS", "DIFFERENCE", "REFERENCE OR NOTE")
		}
		difference := k.Difference
		if k.State != coverage.Covered {
			difference = k.State
		}
		text := k.Note
		if k.Reference != "" {
			text = k.Reference
			if k.Note != "" {
				text += " (" + k.Note + ")"
			}
		}
		t.Row(k.Name, cmp.Or(strings.Join(c.Classes[i].Ops, " "), "-"), command.Shorten(difference, 24), text)
	}
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "\n%d classes: %d covered, %d not here.\n", len(classes), c.Covered, c.NotHere)
	return err
}
