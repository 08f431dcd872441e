package dataset

import "context"

var filterEarly = passInfo{
	Name: "filter-early",
	Doc:  "a filter moves below the maps that do not change its columns",
	Run:  runFilterEarly,
}

func runFilterEarly(ctx context.Context, b *Built, s *step) *step {
	if b.options.OnError == ReplaceOnError {
		return s // a map above a filter has no index, and so no replacements
	}
	for i := range s.in {
		s.in[i] = runFilterEarly(ctx, b, s.in[i])
	}
	if s.traits.filters {
		return sink(s)
	}
	return s
}

// sink moves the filter f below the maps that do not change its columns, and
// returns the step that takes its place. f stays above other filters: its
// predicate may rely on them.
func sink(f *step) *step {
	slot := below(&f.in[0])
	m := *slot
	n, ok := m.node.(oneToOne)
	if !ok {
		return f
	}
	from := n.from(m)
	var in []int
	for _, c := range f.state.([]int) {
		if from[c] < 0 {
			return f
		}
		in = append(in, from[c])
	}
	// f, choosers, m, x become m, f, choosers, x.
	*slot = m.in[0]
	columnsFrom(&f.in[0], slot)
	f.state, f.columns = in, (*slot).columns
	f.addPass(FilterEarly)
	m.size, m.indexed = Unknown, false
	m.in = []*step{sink(f)}
	return m
}
