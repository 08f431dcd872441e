// Package coverage holds the table of the transforms of other packages:
// MindSpore's vision, transforms and audio, torchvision's v2, torchaudio's
// transforms and MXNet's mx.image.
// Each class has the ops that return its pixels, or the reason that there are
// none. The command infer-prep ops --coverage and docs/coverage.md show it.
package coverage

import (
	_ "embed"
	"slices"
	"strings"
)

// Version is the version of a package in the table, by its first name.
var Version = map[string]string{"mindspore": "2.10.0", "torchvision": "0.29.2", "torchaudio": "2.11.0", "mxnet": "1.9.1"}

// The states of a class.
const (
	Covered = "covered"
	NotHere = "not here" // Note has the reason
)

// Class is a class of another package.
type Class struct {
	Package string // "torchvision.transforms.v2"
	Name    string
	State   string
	// Ops run one after the other, with the parameters that select the class.
	// Those after random_apply or random_choice are its ops. Ops is empty if
	// the class needs no op.
	Ops []Use
	// Difference is the largest difference measured, "0" for equal bytes.
	Difference string
	// Reference lists the references that Ops reproduce.
	Reference string
	Note      string
}

// Use is an op of a class.
type Use struct {
	Op     string
	Params [][2]string // names and values as in graphs, without quotes
}

// String returns the op's name with its parameters: "resize(backend=opencv)".
func (u Use) String() string {
	if len(u.Params) == 0 {
		return u.Op
	}
	var l []string
	for _, p := range u.Params {
		l = append(l, p[0]+"="+p[1])
	}
	return u.Op + "(" + strings.Join(l, ",") + ")"
}

// Op is the registration of an op: the fields of transforms.Info that the table
// shows.
type Op struct{ Reference, Exactness string }

// optional holds the registrations of ops that only some programs link, so that
// the table is the same in all of them.
var optional = map[string]Op{
	"plugin": {Reference: "the library", Exactness: "0 for the same library; not compared with MindSpore's"},
}

//go:embed coverage.tsv
var rows string

// Classes returns the table in its order, with the registered ops that lookup
// returns.
func Classes(lookup func(op string) (Op, bool)) []Class {
	var l []Class
	for row := range strings.Lines(rows) {
		f := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(f) != 5 || f[0] == "package" {
			continue // the head; a test checks the number of fields
		}
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		c := Class{Package: f[0], Name: f[1], State: Covered, Ops: uses(f[2]), Difference: f[3], Note: f[4]}
		c.complete(lookup)
		l = append(l, c)
	}
	return l
}

// uses parses ops, separated by spaces.
func uses(s string) []Use {
	var l []Use
	for _, text := range strings.Fields(s) {
		name, params, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		u := Use{Op: name}
		for p := range strings.SplitSeq(params, ",") {
			if k, v, ok := strings.Cut(p, "="); ok {
				u.Params = append(u.Params, [2]string{k, v})
			}
		}
		l = append(l, u)
	}
	return l
}

// complete sets the state, and takes the references and, unless the table
// states it, the difference from the ops.
func (c *Class) complete(lookup func(string) (Op, bool)) {
	if c.Difference == NotHere {
		c.State, c.Difference = NotHere, ""
		return
	}
	var references, differences []string
	for _, u := range c.Ops {
		op, ok := lookup(u.Op)
		if !ok {
			op = optional[u.Op]
		}
		references = add(references, op.Reference)
		// The remark on random numbers is the same for all random ops.
		d, _, _ := strings.Cut(op.Exactness, "; random numbers")
		differences = add(differences, d)
	}
	c.Reference = strings.Join(references, "; ")
	if c.Difference != "" {
		return
	}
	if len(differences) > 1 { // "0" says nothing beside another one
		differences = slices.DeleteFunc(differences, func(d string) bool { return d == "0" })
	}
	c.Difference = strings.Join(differences, "; ")
}

// add appends s unless it is in the list.
func add(l []string, s string) []string {
	if slices.Contains(l, s) {
		return l
	}
	return append(l, s)
}

// Count returns the number of classes with a state.
func Count(l []Class, state string) int {
	n := 0
	for _, c := range l {
		if c.State == state {
			n++
		}
	}
	return n
}
