package dataset

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/transforms"
)

var placeCaches = passInfo{
	Name: "place-caches",
	Doc:  "a cache moves to the last deterministic step or to the source, whichever lets more samples fit",
	Run:  runPlaceCaches,
}

// cacheScope is a bound of memory for the caches below a place.
type cacheScope struct {
	bytes int64
	free  *atomic.Int64 // of bytes, not yet in use
	room  int64         // of bytes, not yet planned
	// asked reports that a Cache node asks for it, so that user functions below
	// the node are deterministic.
	asked bool
}

func newCacheScope(bytes int64, asked bool) *cacheScope {
	c := &cacheScope{bytes: bytes, free: &atomic.Int64{}, room: bytes, asked: asked}
	c.free.Store(bytes)
	return c
}

// cache returns the step of a cache above s.
func (c *cacheScope) cache(s *step, path string) *step {
	n := &Cache{Bytes: c.bytes}
	return &step{
		node: n, traits: n.traits(), name: "cache", path: path, in: []*step{s}, columns: s.columns, size: s.size, indexed: true,
		state: &cacheState{keeper: &memoryCache{free: c.free, samples: map[int64]*Sample{}}},
	}
}

func runPlaceCaches(ctx context.Context, b *Built, top *step) *step {
	// walk places caches at or below a slot. The slots above lead to it,
	// through steps with one input, from the top of the scope.
	var walk func(slot **step, above []**step, scope *cacheScope)
	walk = func(slot **step, above []**step, scope *cacheScope) {
		s := *slot
		if n, ok := s.node.(*Cache); ok {
			*slot = s.in[0]
			walk(slot, nil, newCacheScope(n.Bytes, true))
			return
		}
		if s.traits.caches {
			walk(&s.in[0], nil, newCacheScope(0, false))
			return
		}
		above = append(above, slot)
		switch {
		case len(s.in) == 1:
			walk(&s.in[0], above, scope)
		case len(s.in) == 0 || s.indexed && !s.varies(scope.asked):
			if b.placeCache(ctx, above, scope) {
				return
			}
			fallthrough
		default:
			for i := range s.in {
				walk(&s.in[i], nil, scope)
			}
		}
	}
	walk(&top, nil, newCacheScope(b.options.CacheBytes, false))
	return top
}

// placeCache puts a cache above the step of the last slot, the bottom: a source
// or a step with several inputs. The slots lead to it from the top. placeCache
// reports whether it has put one.
func (b *Built) placeCache(ctx context.Context, slots []**step, scope *cacheScope) bool {
	bottom := *slots[len(slots)-1]
	if scope.room <= 0 || !bottom.indexed || bottom.size <= 0 || bottom.size == Endless {
		return false
	}
	rows, changes := bottom.size, false
	low := bottom    // the top of the steps below the cache
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
		case scope.asked && s.copies() && !s.traits.changes:
			maps++
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
	if rows == 0 {
		return false
	}
	// fits returns how many samples of a step the bound holds.
	fits := func(s *step, shared bool) (n, size int64) {
		size = b.sampleSize(ctx, s, shared)
		if size <= 0 {
			return 0, 0
		}
		return min(rows, scope.room/size), size
	}
	n, size := int64(0), int64(0)
	if maps > 0 {
		n, size = fits(low, true)
	}
	if bottom.data != nil && n < rows {
		// Reading costs less than reading and the maps: equally many of its
		// samples are worth less.
		if m, small := fits(bottom, false); m > n {
			n, size = m, small
			low, high, at = bottom, nil, len(slots)-1
		}
	}
	if n == 0 {
		return false
	}
	scope.room -= n * size
	now := scope.cache(low, bottom.path+"+cache")
	now.addPass(PlaceCaches)
	for _, s := range high {
		s.in = []*step{now}
		if s.chooser() {
			s.columns = now.columns
		}
		now = s
	}
	*slots[at] = now
	return true
}

// varies reports whether a cache must not be above s: a step at or below s
// differs between epochs, as a user's function may unless asked, or caches.
func (s *step) varies(asked bool) bool {
	t := s.traits
	return t.changes || t.caches || t.draws && !asked || slices.ContainsFunc(s.in, func(in *step) bool { return in.varies(asked) })
}

// copies reports whether s makes one sample of each.
func (s *step) copies() bool {
	_, ok := s.node.(oneToOne)
	return ok && s.indexed
}

// withInput returns s on another input with the same columns.
func (s *step) withInput(in *step) *step {
	c := *s
	c.in, c.size, c.indexed = []*step{in}, in.size, true
	return &c
}

// sampleSize returns the memory that a cache needs for a sample of s: from the
// descriptions of its columns, else the mean of some samples. It returns 0 if
// all of these are bad, and, unless shared, if most of their bytes are in
// memory anyway.
func (b *Built) sampleSize(ctx context.Context, s *step, shared bool) int64 {
	known := sampleBytes(len(s.columns))
	for _, c := range s.columns {
		n := c.Desc.Size()
		if n < 0 || c.Desc.DType.Size() == 0 {
			known = -1
			break
		}
		known += n
	}
	if known >= 0 && shared {
		return known
	}
	at := place{}
	o := &opener{b: b, stage: inline, bad: &badList{}, strict: true, logs: newHeldLogs()}
	it, err := o.openIndexed(s, feed{one: &at})
	if err != nil {
		return 0
	}
	sum, count, lent := int64(0), int64(0), int64(0)
	for i := range min(s.size, probes) {
		at.k = s.size / probes * i
		at.pos = at.k
		x := Sample{}
		if it.Next(ctx, &x) != nil {
			continue
		}
		sum, count = sum+x.kept(), count+1
		for i := range x.Values {
			if v := &x.Values[i]; !v.owned() {
				lent += v.dense()
			}
		}
	}
	if it.Close() != nil || count == 0 || !shared && lent > sum/2 {
		return 0
	}
	return sum / count
}

// probes is the number of samples of which sampleSize takes the mean.
const probes = 4

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
	plan, err := datagraph.Compile(&a.g, b.compileOptions())
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
	f.addPass(PlaceCaches)

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
	if plan, err = datagraph.Compile(&z, b.compileOptions()); err != nil {
		return nil, nil
	}
	r.state = &mapState{plan: plan, cols: next, before: st.before + k}
	r.addPass(PlaceCaches)
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
