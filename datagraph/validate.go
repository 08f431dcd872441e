package datagraph

import (
	"errors"
	"slices"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ErrGraph reports an invalid graph: a column that is used before it is
// produced, an invalid name, or a wrong number of columns.
var ErrGraph = errors.New("invalid graph")

// The limits of a graph, which bound the work that a graph file can cause. The
// longest known graph (a vision-language processor) has fewer than 30 steps.
const (
	maxSteps   = 1000
	maxColumns = 100
	maxName    = 64
)

func graphErr(format string, args ...any) error {
	return errfmt.Errorf("%w: %s", ErrGraph, errfmt.Sprintf(format, args...))
}

// Validate checks names, columns and the parameters of every op. Infer also
// checks shapes.
func (g *Graph) Validate() error {
	if len(g.Inputs) == 0 || len(g.Inputs) > maxColumns {
		return errfmt.Errorf("datagraph: %w", graphErr("%d inputs, want 1 to %d", len(g.Inputs), maxColumns))
	}
	if len(g.Steps) > maxSteps {
		return errfmt.Errorf("datagraph: %w", graphErr("%d steps, want at most %d", len(g.Steps), maxSteps))
	}
	if len(g.Outputs) == 0 || len(g.Outputs)+len(g.SideOutputs) > maxColumns {
		return errfmt.Errorf("datagraph: %w", graphErr("%d outputs, want 1 to %d", len(g.Outputs)+len(g.SideOutputs), maxColumns))
	}
	have := map[string]bool{}
	for _, c := range g.Inputs {
		if err := checkName(c.Name); err != nil {
			return errfmt.Errorf("datagraph: input: %w", err)
		}
		if have[c.Name] {
			return errfmt.Errorf("datagraph: %w", graphErr("two inputs are named %q, want different names", c.Name))
		}
		if err := c.Desc.Validate(); err != nil {
			return errfmt.Errorf("datagraph: input %q: %w", c.Name, err)
		}
		if c.Batch != (Batching{}) {
			return errfmt.Errorf("datagraph: %w", graphErr("input %q has a batch rule: only outputs have one", c.Name))
		}
		have[c.Name] = true
	}
	if err := g.validateRoles(); err != nil {
		return errfmt.Errorf("datagraph: %w", err)
	}
	for i := range g.Steps {
		if err := g.validateStep(i, have); err != nil {
			return g.stepErr(i, err)
		}
	}
	for i, o := range slices.Concat(g.Outputs, g.SideOutputs) {
		if !have[o] {
			return errfmt.Errorf("datagraph: %w", graphErr("output %q is not produced by any step", o))
		}
		if slices.Index(slices.Concat(g.Outputs, g.SideOutputs), o) != i {
			return errfmt.Errorf("datagraph: %w", graphErr("output %q is listed twice", o))
		}
	}
	if err := g.validateRoleColumns(have); err != nil {
		return errfmt.Errorf("datagraph: %w", err)
	}
	if err := g.validateBatch(have); err != nil {
		return errfmt.Errorf("datagraph: %w", err)
	}
	return nil
}

func (g *Graph) validateStep(i int, have map[string]bool) error {
	s := g.Steps[i]
	if s.Op == nil {
		return graphErr("the op is nil")
	}
	info := transforms.InfoOf(s.Op)
	if len(s.In) != len(info.In) || len(s.Out) != len(info.Out) {
		return graphErr("columns %q -> %q, want %d -> %d (%q -> %q)", s.In, s.Out, len(info.In), len(info.Out), info.In, info.Out)
	}
	if err := s.Op.Validate(); err != nil {
		return err
	}
	for _, c := range s.In {
		if !have[c] {
			for j, later := range g.Steps {
				if slices.Contains(later.Out, c) {
					return graphErr("column %q is used before step %d (%s) produces it", c, j, transforms.InfoOf(later.Op).Name)
				}
			}
			return graphErr("column %q is neither an input nor produced by an earlier step", c)
		}
	}
	if err := g.validateMoves(i, have); err != nil {
		return err
	}
	for j, c := range s.Out {
		if err := checkName(c); err != nil {
			return err
		}
		if slices.Index(s.Out, c) != j {
			return graphErr("column %q is written twice", c)
		}
		have[c] = true
	}
	return nil
}

func checkName(s string) error {
	ok := len(s) > 0 && len(s) <= maxName && s[0] != '.' && s[0] != '-'
	for _, r := range []byte(s) {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')
	}
	if !ok {
		return graphErr("column name %q, want 1 to %d letters, digits, _ . -", s, maxName)
	}
	return nil
}

// Infer returns the descriptions of every step's outputs, then of the columns
// that it moves, for inputs as described by g.Inputs. Sizes that depend on the
// data are tensor.Unknown.
func (g *Graph) Infer() ([][]tensor.Desc, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	have := map[string]tensor.Desc{}
	for _, c := range g.Inputs {
		have[c.Name] = c.Desc
	}
	all := make([][]tensor.Desc, len(g.Steps))
	for i, s := range g.Steps {
		in := make([]tensor.Desc, len(s.In))
		for j, c := range s.In {
			in[j] = have[c]
		}
		out := make([]tensor.Desc, len(s.Out))
		if err := s.Op.Infer(out, in); err != nil {
			return nil, g.stepErr(i, err)
		}
		for j, c := range s.Out {
			if err := out[j].Validate(); err != nil {
				return nil, g.stepErr(i, err)
			}
			have[c] = out[j]
		}
		for _, c := range s.Moves {
			r, _ := g.role(c)
			d, err := moved(r.Role, have[c], out[0])
			if err != nil {
				return nil, g.stepErr(i, errfmt.Errorf("column %q: %w", c, err))
			}
			have[c] = d
			out = append(out, d)
		}
		all[i] = out
	}
	return all, nil
}
