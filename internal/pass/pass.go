// Package pass describes optimisation passes: their names, their documentation,
// and the order in which they run. Packages datagraph and dataset share it.
package pass

import (
	"errors"
	"slices"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// ErrUnknown reports the name or number of a pass that does not exist.
var ErrUnknown = errors.New("unknown pass")

// Info describes one pass. F is the type of the function that runs it.
type Info[F any] struct {
	Name string // "fold-geometry"
	Doc  string // one sentence, without a full stop
	Run  F
}

// Table lists the passes of one package in the order in which they run. A pass
// of type P is its position in the table.
type Table[P ~uint8, F any] struct {
	owner string
	infos []*Info[F]
}

// NewTable returns a table of passes. owner is the package named in errors.
func NewTable[P ~uint8, F any](owner string, infos ...*Info[F]) *Table[P, F] {
	return &Table[P, F]{owner, infos}
}

// All returns all passes in the order in which they run.
func (t *Table[P, F]) All() []P {
	l := make([]P, len(t.infos))
	for i := range l {
		l[i] = P(i)
	}
	return l
}

// Enabled returns the passes that disabled does not list, in the order in which
// they run. It returns an error that matches ErrUnknown if disabled lists a
// pass that does not exist.
func (t *Table[P, F]) Enabled(disabled []P) ([]P, error) {
	for _, p := range disabled {
		if int(p) >= len(t.infos) {
			return nil, errfmt.Errorf("%s: %w %d", t.owner, ErrUnknown, uint8(p))
		}
	}
	return slices.DeleteFunc(t.All(), func(p P) bool { return slices.Contains(disabled, p) }), nil
}

// Parse returns the pass of a name. The error of an unknown name matches
// ErrUnknown and suggests the closest known name.
func (t *Table[P, F]) Parse(name string) (P, error) {
	var known []string
	for i, info := range t.infos {
		if info.Name == name {
			return P(i), nil
		}
		known = append(known, info.Name)
	}
	return 0, errfmt.Errorf("%s: %w %q%s", t.owner, ErrUnknown, name, registry.Hint(name, known))
}

// Name returns the name of p, or "pass N" if p does not exist.
func (t *Table[P, F]) Name(p P) string {
	if int(p) < len(t.infos) {
		return t.infos[p].Name
	}
	return errfmt.Sprintf("pass %d", uint8(p))
}

// Doc returns the documentation of p, or "" if p does not exist.
func (t *Table[P, F]) Doc(p P) string {
	if int(p) < len(t.infos) {
		return t.infos[p].Doc
	}
	return ""
}

// Run returns the function that runs p, which must exist.
func (t *Table[P, F]) Run(p P) F { return t.infos[p].Run }

// Add returns a copy of list with the passes of more added, sorted and without
// duplicates.
func Add[P ~uint8](list []P, more ...P) []P {
	var all []P
	for i := range 256 {
		if p := P(i); slices.Contains(list, p) || slices.Contains(more, p) {
			all = append(all, p)
		}
	}
	return all
}
