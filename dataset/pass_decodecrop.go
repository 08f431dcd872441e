package dataset

import (
	"context"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
)

var decodeCrop = passInfo{
	Name: "decode-crop",
	Doc:  "Project and Rename become part of the map below, so that maps are adjacent",
	Run:  runDecodeCrop,
}

func runDecodeCrop(ctx context.Context, b *Built, s *step) *step {
	for i := range s.in {
		s.in[i] = runDecodeCrop(ctx, b, s.in[i])
	}
	if !s.traits.selects {
		return s
	}
	slot := below(&s.in[0])
	m := *slot
	old := m.mapped()
	if old == nil {
		return s
	}
	cols := &outputs{in: old.cols.in}
	for _, mid := range s.node.(oneToOne).from(s) {
		cols.from = append(cols.from, old.cols.from[mid])
	}
	m.state = b.dropOutputs(old, cols)
	m.columns = s.columns
	m.addPass(DecodeCrop)
	columnsFrom(&s.in[0], slot)
	return s.in[0]
}

// dropOutputs returns the state of a map with the columns cols. It removes the
// outputs that no column uses, unless no output is used.
func (b *Built) dropOutputs(old *mapState, cols *outputs) *mapState {
	g := *old.plan.Graph()
	all := slices.Concat(g.Outputs, g.SideOutputs)
	g.Outputs, g.SideOutputs = nil, nil
	number := make([]int, len(all))
	for i, name := range all {
		number[i] = len(g.Outputs)
		if slices.Contains(cols.from, -1-i) {
			g.Outputs = append(g.Outputs, name)
		}
	}
	st := &mapState{plan: old.plan, cols: cols}
	if len(g.Outputs) == 0 || len(g.Outputs) == len(all) {
		return st
	}
	plan, err := datagraph.Compile(&g, b.compileOptions())
	if err != nil {
		return st
	}
	st.plan = plan
	for i, f := range cols.from {
		if f < 0 {
			cols.from[i] = -1 - number[-1-f]
		}
	}
	return st
}
