package dataset

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/transforms"
)

var cachePrefix = passInfo{
	Name: "cache-prefix",
	Doc:  "the part of maps that is equal in every epoch is kept in memory, if all samples fit",
	Run:  runCachePrefix,
}

func runCachePrefix(ctx context.Context, b *Built, top *step) *step {
	if b.options.CacheBytes <= 0 {
		return top
	}
	free := &atomic.Int64{}
	free.Store(b.options.CacheBytes)
	room := b.options.CacheBytes
	var walk func(slot **step, above []**step)
	walk = func(slot **step, above []**step) {
		s := *slot
		if s.traits.caches {
			return
		}
		above = append(above, slot)
		switch len(s.in) {
		case 0:
			room -= b.cachePrefix(ctx, above, room, free)
		case 1:
			walk(&s.in[0], above)
		default:
			for i := range s.in {
				walk(&s.in[i], nil)
			}
		}
	}
	walk(&top, nil)
	return top
}

// cachePrefix puts a cache above the source in the last slot and returns the
// bytes that it will need, 0 if it adds none. The slots lead from the top to
// the source.
func (b *Built) cachePrefix(ctx context.Context, slots []**step, room int64, free *atomic.Int64) int64 {
	source := *slots[len(slots)-1]
	if !source.indexed || source.size <= 0 || source.size == Endless {
		return 0
	}
	rows, changes := source.size, false
	low := source    // the top of the steps below the cache
	var high []*step // the steps above the cache, from the lowest
	maps, at := 0, len(slots)-1
chain:
	for ; at > 0; at-- {
		s := *slots[at-1]
		switch {
		case s.mapped() != nil:
			maps++
			if !s.traits.changes {
				low = s.withInput(low)
				continue
			}
			first, second := b.split(s, low)
			if first == nil {
				maps--
				break chain
			}
			low, high = first, append(high, second)
			at--
			break chain
		case s.traits.selects:
			low = s.withInput(low)
		case s.chooser():
			if changes = changes || s.traits.changes; !changes {
				rows = min(rows, s.size)
			}
			high = append(high, s)
		default:
			break chain
		}
	}
	if maps == 0 || rows == 0 {
		return 0
	}
	one := b.sampleSize(ctx, low)
	if one < 0 || one > room/rows {
		return 0
	}
	cache := &Cache{Bytes: room}
	now := &step{
		node: cache, traits: cache.traits(), name: "cache", path: source.path + "+cache", in: []*step{low}, columns: low.columns,
		size: low.size, indexed: true, state: &memoryCache{free: free, samples: map[int64]*Sample{}},
	}
	now.addPass(CachePrefix)
	for _, s := range high {
		s.in = []*step{now}
		if s.chooser() {
			s.columns = now.columns
		}
		now = s
	}
	*slots[at] = now
	return one * rows
}

// withInput returns s on another input with the same columns.
func (s *step) withInput(in *step) *step {
	c := *s
	c.in, c.size, c.indexed = []*step{in}, in.size, true
	return &c
}

// sampleSize returns the size of a sample of s: from the descriptions of its
// columns, else from the first sample. It returns -1 if the first sample is
// bad.
func (b *Built) sampleSize(ctx context.Context, s *step) int64 {
	known := int64(0)
	for _, c := range s.columns {
		n := c.Desc.Size()
		if n < 0 || c.Desc.DType.Size() == 0 {
			known = -1
			break
		}
		known += n
	}
	if known >= 0 {
		return known
	}
	o := &opener{b: b, stage: inline, bad: &badList{}, strict: true, logs: newHeldLogs()}
	it, err := o.openIndexed(s, feed{one: &place{}})
	if err != nil {
		return -1
	}
	var first Sample
	err = it.Next(ctx, &first)
	n := int64(0)
	for i := range first.Values {
		n += int64(len(first.Values[i].Data))
	}
	if it.Close() != nil || err != nil {
		return -1
	}
	return n
}

// split divides a map before its first random op. The first part has the input
// in, whose columns are those of s's input. The second part takes the place of
// s and has no input yet. split returns nil if there is no first part.
func (b *Built) split(s, in *step) (first, second *step) {
	st := s.mapped()
	if len(st.plan.Graph().Roles) > 0 {
		return nil, nil // a writer renames columns, which roles name
	}
	w := newWriter(in.columns)
	outs := w.add(st.plan.Graph(), w.inputs(st.cols.in))
	g := w.g
	g.Outputs = outs
	if !drawable(&g) {
		return nil, nil
	}
	k := slices.IndexFunc(g.Steps, func(x datagraph.Step) bool {
		_, random := x.Op.(transforms.Random)
		return random
	})
	// The values that the second part reads.
	read := slices.Clone(outs)
	for _, x := range g.Steps[k:] {
		read = append(read, x.In...)
	}
	a := w.head(k, read)
	if len(a.g.Inputs) == 0 || len(a.g.Outputs) == 0 {
		return nil, nil
	}
	plan, err := datagraph.Compile(&a.g, datagraph.CompileOptions{Limits: b.options.Limits})
	if err != nil {
		return nil, nil
	}
	// The columns between the parts: those that are still needed, then the
	// outputs of the first part.
	f := *s.withInput(in)
	cols := &outputs{in: a.columns}
	f.columns = nil
	middle := map[string]int{} // their numbers by name in g
	column := map[int]int{}    // and by column of in
	for c, col := range in.columns {
		name := ""
		if i := slices.Index(w.columns, c); i >= 0 {
			name = g.Inputs[i].Name
		}
		if slices.Contains(st.cols.from, c) || name != "" && slices.Contains(read, name) {
			middle[name], column[c] = len(cols.from), len(cols.from)
			cols.from = append(cols.from, c)
			f.columns = append(f.columns, col)
		}
	}
	for i, c := range plan.Outputs() {
		middle[c.Name] = len(cols.from)
		cols.from = append(cols.from, -1-i)
		f.columns = append(f.columns, c)
	}
	f.state = &mapState{plan: plan, cols: cols}
	f.addPass(CachePrefix)

	r := *s
	r.in = nil
	next := &outputs{}
	z := datagraph.Graph{Steps: g.Steps[k:], Outputs: outs}
	for c, col := range f.columns {
		for name, i := range middle {
			if i == c && name != "" && slices.Contains(read, name) {
				z.Inputs = append(z.Inputs, datagraph.Column{Name: name, Desc: col.Desc})
				next.in = append(next.in, c)
			}
		}
	}
	for _, c := range st.cols.from {
		if c >= 0 {
			c = column[c]
		}
		next.from = append(next.from, c)
	}
	if plan, err = datagraph.Compile(&z, datagraph.CompileOptions{Limits: b.options.Limits}); err != nil {
		return nil, nil
	}
	r.state = &mapState{plan: plan, cols: next, before: st.before + k}
	r.addPass(CachePrefix)
	return &f, &r
}

// head returns a writer of the first k steps alone, with the outputs that are
// read.
func (w *writer) head(k int, read []string) *writer {
	a := newWriter(w.base)
	for _, x := range w.g.Steps[:k] {
		for _, name := range x.In {
			if i := slices.IndexFunc(w.g.Inputs, func(c Column) bool { return c.Name == name }); i >= 0 {
				a.input(w.columns[i])
			}
		}
		for _, name := range x.Out {
			if slices.Contains(read, name) {
				a.g.Outputs = append(a.g.Outputs, name)
			}
		}
	}
	a.g.Steps = w.g.Steps[:k]
	return a
}
