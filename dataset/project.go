package dataset

import "context"

// Project keeps some columns, in the given order.
type Project struct {
	Columns []string `json:"columns"`
}

func init() {
	Register(Info{Name: "project", Version: 1, New: func() Node { return &Project{Columns: []string{}} }, Doc: "some of the columns"})
}

// Project keeps these columns, in this order.
func (d *Dataset) Project(columns ...string) *Dataset { return d.then(&Project{columns}) }

// Validate requires at least one column.
func (n *Project) Validate() error {
	if len(n.Columns) == 0 {
		return paramErr("no columns, want 1 or more")
	}
	return nil
}

func (n *Project) traits() traits { return traits{selects: true} }

func (n *Project) build(_ *Built, s *step) error {
	in := s.inherit()
	l, err := in.columnsOf(n.Columns)
	s.columns = nil
	for _, i := range l {
		s.columns = append(s.columns, in.columns[i])
	}
	s.state = &outputs{from: l}
	return err
}

func (n *Project) from(s *step) []int { return s.state.(*outputs).from }

func (n *Project) worker(_ *Built, s *step) (worker, error) {
	return &projecting{s.state.(*outputs).clone()}, nil
}

func (n *Project) trace(ctx context.Context, t *tracer, s *scope) error {
	l, err := s.below[0].columns(ctx, n.Columns)
	if err != nil {
		return err
	}
	for i, c := range n.Columns {
		s.put(c, l[i])
	}
	s.closed = true
	return nil
}

type projecting struct{ cols *outputs }

func (w *projecting) Do(_ context.Context, s *Sample) error {
	w.cols.apply(s, nil)
	w.cols.spare = w.cols.spare[:0]
	return nil
}
