package dataset

import (
	"context"
	"slices"
)

// Rename renames columns.
type Rename struct {
	From []string `json:"from"`
	To   []string `json:"to"`
}

func init() {
	Register(Info{Name: "rename", Version: 1, New: func() Node { return &Rename{From: []string{}, To: []string{}} }, Doc: "other names for columns"})
}

// Rename renames the columns from to the names to.
func (d *Dataset) Rename(from, to []string) *Dataset { return d.then(&Rename{from, to}) }

// Validate requires as many new names as old ones.
func (n *Rename) Validate() error {
	if len(n.From) == 0 || len(n.From) != len(n.To) {
		return paramErr("%d columns renamed to %d names, want as many, 1 or more", len(n.From), len(n.To))
	}
	return nil
}

func (n *Rename) traits() traits { return traits{selects: true} }

func (n *Rename) build(_ *Built, s *step) error {
	in := s.inherit()
	l, err := in.columnsOf(n.From)
	if err != nil {
		return err
	}
	s.columns = slices.Clone(in.columns)
	for i, c := range l {
		s.columns[c].Name = n.To[i]
	}
	return nil
}

func (n *Rename) from(s *step) []int {
	l := make([]int, len(s.columns))
	for i := range l {
		l[i] = i
	}
	return l
}

func (n *Rename) worker(*Built, *step) (worker, error) { return nothing{}, nil }

func (n *Rename) trace(ctx context.Context, t *tracer, s *scope) error {
	l, err := s.below[0].columns(ctx, n.From)
	if err != nil {
		return err
	}
	for _, c := range n.From {
		s.hidden[c] = true
	}
	for i, c := range n.To {
		s.put(c, l[i])
	}
	return nil
}

// nothing is a worker without work.
type nothing struct{}

func (nothing) Do(context.Context, *Sample) error { return nil }
