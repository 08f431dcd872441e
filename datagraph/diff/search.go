package diff

import (
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	// maxPixelChanges is the largest number of changes of pixels in one
	// explanation. Three of values may be added: of the order of channels, of
	// the range, and of the mean.
	maxPixelChanges = 4
	// beam is the number of nearest combinations that get one more change.
	beam = 6
	// progress is the factor by which a third change of pixels must reduce what
	// two leave, for the search to go on.
	progress = 0.8
	// tries is the number of combinations of values that are compared for each
	// combination of pixels.
	tries = 10
)

// explainer searches for the changes that turn the graph's output into the
// other tensor. It looks for changes of pixels first: it compares images after
// the linear function of each channel that makes them most alike, which does
// not depend on the range, the mean and std or the order of channels. These it
// takes from that function.
type explainer struct {
	ctx    context.Context
	graph  *datagraph.Graph // with one output
	runner *runner
	other  *tensor.Tensor
	sound  bool // the graph is one of sounds
	// changes are in the order in which they are applied.
	changes []Change

	shape  tensor.Shape // of other without its batch axis
	layout tensor.Layout
	target target
	undone map[string]*pixels // other with changes undone, by their names
	buffer []float64          // reused by have

	seen   map[[sha256.Size]byte]*node
	values []valueSet
	tried  int
}

// node is a set of changes of pixels. Sets with the same effect are one node.
type node struct {
	changes []Change
	same    [][]Change // other sets of the same number with the same effect
	fits    []*fit     // in the order of channels, and reversed
	score   float64
	whole   bool // the fit leaves rounding only
}

// valueSet is a set of changes of values with its function, compared with the
// unchanged graph.
type valueSet struct {
	changes []Change
	same    [][]Change
	fit     *fit
}

func newExplainer(ctx context.Context, g *datagraph.Graph, output string, image, other *tensor.Tensor, o *Options) *explainer {
	g = clone(g)
	g.Outputs, g.SideOutputs = []string{output}, nil
	e := &explainer{
		ctx: ctx, graph: g, runner: newRunner(o.Limits, image), other: other,
		undone: map[string]*pixels{}, seen: map[[sha256.Size]byte]*node{},
	}
	for i := range o.Alternatives { // before the changes that apply to them
		e.changes = append(e.changes, o.Alternatives[i].change())
	}
	e.changes = append(e.changes, changesOf(g)...)
	e.sound = g.OfSound()
	return e
}

// run runs the changed graph. ok is false if a change does not apply to the
// graph or the changed graph fails.
func (e *explainer) run(l []Change) (t *tensor.Tensor, ok bool) {
	g := clone(e.graph)
	e.target.output = g.Outputs[0]
	for _, c := range l {
		if c.rewrite != nil && !c.rewrite(g, e.target) {
			return nil, false
		}
		e.target.output = g.Outputs[0]
	}
	t, err := e.runner.run(g)
	return t, err == nil && t.DType != tensor.Bytes
}

// want returns the other tensor with the changes undone. Its v is nil if a
// change cannot be undone.
func (e *explainer) want(l []Change) *pixels {
	name := ""
	for _, c := range l {
		if c.undo != nil {
			name += c.Name
		}
	}
	if p := e.undone[name]; p != nil {
		return p
	}
	d := tensor.Desc{DType: e.other.DType, Layout: e.layout, Shape: e.shape}
	g, image := geometry{}, false
	if d.IsImage() {
		g, image = geometry{d.Layout, d.Height(), d.Width(), d.Channels()}, true
	}
	p := pixelsOf(e.other, g, image, nil)
	if !image && e.shape.Rank() == 2 && e.shape.Len() == e.other.Shape.Len() {
		p.h, p.w = e.shape.At(0), e.shape.At(1)
	}
	for _, c := range l {
		if c.undo != nil && !c.undo(p) {
			p.v = nil
			break
		}
	}
	e.undone[name] = p
	return p
}

// have returns the values of a graph's output. They are valid until the next
// call.
func (e *explainer) have(t *tensor.Tensor) *pixels {
	g, image := geometry{}, t.IsImage()
	if image {
		g = geometry{t.Layout, t.Height(), t.Width(), t.Channels()}
	}
	p := pixelsOf(t, g, image, e.buffer)
	e.buffer = p.v
	return p
}

// joined returns sets of changes as one, in the order in which they are
// applied. It returns false if two changes exclude each other.
func (e *explainer) joined(sets ...[]Change) ([]Change, bool) {
	l := slices.Concat(sets...)
	for i, a := range l {
		if slices.ContainsFunc(l[:i], func(b Change) bool { return a.group == b.group }) {
			return nil, false
		}
	}
	sorts.Func(l, func(a, b Change) int { return cmp.Compare(position(e.changes, a), position(e.changes, b)) })
	return l, true
}

// fits fits images in both orders of channels.
func fits(h, w *pixels) []*fit {
	l := []*fit{fitted(h, w, false)}
	if h.c == 3 {
		l = append(l, fitted(h, w, true))
	}
	return l
}

// look runs the graph with changes of pixels. It returns nil if the shape is
// not the other tensor's or if fewer or other changes have the same effect.
func (e *explainer) look(l []Change) *node {
	t, ok := e.run(l)
	if !ok {
		return nil
	}
	e.tried++
	h, w := e.have(t), e.want(l)
	a, b := h.digest(), [sha256.Size]byte{}
	if w.v != nil {
		b = w.digest()
	}
	key := sha256.Sum256(append(a[:], b[:]...))
	if n, ok := e.seen[key]; ok {
		if n != nil && len(n.changes) == len(l) && len(l) > 0 {
			if other(n.changes) && !other(l) { // a single change says more than another graph
				n.changes, l = l, n.changes
			}
			n.same = append(n.same, l)
		}
		return nil
	}
	e.seen[key] = nil
	if !h.sameShape(w) {
		return nil
	}
	n := &node{changes: l, fits: fits(h, w)}
	n.score = math.Inf(1)
	for _, f := range n.fits {
		n.score = min(n.score, f.score())
		lo, hi := w.extent()
		if f.score() < 1 && f.rmse() <= tolerance(t.DType, e.other.DType)/2*max(math.Abs(lo), math.Abs(hi)) {
			n.whole = true
		}
	}
	e.seen[key] = n
	return n
}

// nearest sorts nodes, the best first.
func nearest(l []*node) []*node {
	slices.SortStableFunc(l, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(len(a.changes), len(b.changes)))
	})
	return l
}

// search returns the sets of changes of pixels that are worth a closer look:
// the smallest ones after which a linear function of each channel makes the
// images equal, or else the nearest.
func (e *explainer) search() ([]*node, error) {
	var found, level []*node
	var pool []Change
	tried := map[string]bool{}
	try := func(sets ...[]Change) error {
		l, ok := e.joined(sets...)
		if key := names(l); !ok || tried[key] {
			return nil
		} else {
			tried[key] = true
		}
		if n := e.look(l); n != nil {
			level = append(level, n)
		}
		return e.ctx.Err()
	}
	done := func() bool {
		found = append(found, level...)
		return slices.ContainsFunc(level, func(n *node) bool { return n.whole })
	}
	whole := func() []*node {
		return nearest(slices.DeleteFunc(slices.Clone(level), func(n *node) bool { return !n.whole }))
	}
	if err := try(); err != nil || done() {
		return whole(), err
	}
	level = nil
	for _, c := range e.changes {
		if c.isValue() {
			continue
		}
		if err := try([]Change{c}); err != nil {
			return nil, err
		}
		if _, ok := e.run([]Change{c}); ok {
			pool = append(pool, c)
		}
	}
	if done() {
		return whole(), nil
	}
	for n := 2; n <= maxPixelChanges; n++ {
		best := nearest(slices.Clone(found))
		best = best[:min(len(best), beam)]
		level = nil
		for _, b := range best {
			for _, c := range pool {
				if err := try(b.changes, []Change{c}); err != nil {
					return nil, err
				}
			}
		}
		for i, a := range pool {
			for _, b := range pool[:i] {
				if n > 2 || !a.isCoarse() || !b.isCoarse() {
					continue
				}
				if err := try([]Change{a}, []Change{b}); err != nil {
					return nil, err
				}
			}
		}
		if done() {
			return whole(), nil
		}
		if len(level) == 0 || n > 2 && nearest(level)[0].score > progress*best[0].score {
			break
		}
	}
	nearest(found)
	l := found[:min(len(found), beam)]
	if n := slices.IndexFunc(found, func(n *node) bool { return len(n.changes) == 0 }); n >= len(l) {
		l = append(slices.Clone(l), found[n])
	}
	return l, nil
}

// searchSounds returns the explanations of a graph of sounds: each change
// alone, then pairs, then the nearest sets with one more change, until nothing
// but rounding remains.
func (e *explainer) searchSounds() ([]Explanation, error) {
	var l, level []*Explanation
	tried, known := map[string]bool{}, map[string]bool{}
	done := false
	try := func(sets ...[]Change) error {
		set, ok := e.joined(sets...)
		key := names(set)
		if !ok || tried[key] {
			return nil
		}
		tried[key] = true
		e.tried++
		if x := e.judge(set); x != nil {
			level = append(level, x)
			done = done || x.explained()
		}
		return e.ctx.Err()
	}
	var pool [][]Change
	for _, c := range e.changes {
		if _, ok := e.run([]Change{c}); ok {
			pool = append(pool, []Change{c})
		}
	}
	base := [][]Change{nil}
	for n := 1; n <= maxPixelChanges && !done; n++ {
		level = nil
		for _, b := range base {
			for _, c := range pool {
				if err := try(b, c); err != nil {
					return nil, err
				}
			}
		}
		l = append(l, level...)
		slices.SortStableFunc(l, func(a, b *Explanation) int { return compare(a, b) })
		if base = pool; n > 1 {
			base = nil
			for _, x := range l[:min(len(l), beam)] {
				base = append(base, x.Changes)
			}
		}
	}
	var best []Explanation
	for _, x := range l[:min(len(l), tries)] {
		if x = e.simplified(x); len(x.Changes) == 0 || known[names(x.Changes)] {
			continue
		}
		known[names(x.Changes)] = true
		e.addSameSounds(x)
		best = append(best, *x)
	}
	return best, nil
}

// addSameSounds lists the changes with the same effect as one of the
// explanation's.
func (e *explainer) addSameSounds(x *Explanation) {
	for i, c := range x.Changes {
		others := slices.Delete(slices.Clone(x.Changes), i, i+1)
		for _, o := range e.changes {
			if o.group != c.group || o.Name == c.Name {
				continue
			}
			set, _ := e.joined(others, []Change{o})
			if y := e.judge(set); y != nil && y.Differ == x.Differ && y.Max == x.Max && y.Mean == x.Mean {
				x.Also[i] = append(x.Also[i], o.Name)
			}
		}
	}
}

// other reports whether changes run another graph.
func other(l []Change) bool {
	return slices.ContainsFunc(l, func(c Change) bool { return c.group == groupGraph })
}

// names joins the names of changes.
func names(l []Change) (s string) {
	for _, c := range l {
		s += c.Name + " "
	}
	return s
}

// findValues computes the functions of all sets of changes of values, the
// smallest sets first. unchanged is the graph's own output.
func (e *explainer) findValues(unchanged *tensor.Tensor) error {
	base := e.have(unchanged)
	base.v = slices.Clone(base.v)
	var groups [3][][]Change
	for i, g := range []string{groupColor, groupMean, groupRange} {
		groups[i] = [][]Change{nil}
		for _, c := range e.changes {
			if c.group == g {
				groups[i] = append(groups[i], []Change{c})
			}
		}
	}
	var l []valueSet
	for _, color := range groups[0] {
		for _, mean := range groups[1] {
			for _, scale := range groups[2] {
				set, _ := e.joined(color, mean, scale)
				l = append(l, valueSet{changes: set})
			}
		}
	}
	sorts.Stable(l, func(a, b valueSet) int { return cmp.Compare(len(a.changes), len(b.changes)) })
	for _, v := range l {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		t, ok := e.run(v.changes)
		if !ok {
			continue
		}
		e.tried++
		h := e.have(t)
		if !h.sameShape(base) {
			continue
		}
		for _, f := range fits(base, h) {
			if v.fit == nil || f.rmse() < v.fit.rmse() {
				v.fit = f
			}
		}
		i := slices.IndexFunc(e.values, func(o valueSet) bool { return o.fit.sameAs(v.fit) })
		switch {
		case i < 0:
			e.values = append(e.values, v)
		case len(e.values[i].changes) == len(v.changes):
			e.values[i].same = append(e.values[i].same, v.changes)
		}
	}
	return nil
}

// valuesFor returns the sets of changes of values that come nearest after the
// changes of pixels of n.
func (e *explainer) valuesFor(n *node) []valueSet {
	rest := func(v valueSet) float64 {
		for _, f := range n.fits {
			if f.reversed == v.fit.reversed {
				return f.rmseOf(v.fit)
			}
		}
		return math.Inf(1)
	}
	l := slices.Clone(e.values)
	sorts.Stable(l, func(a, b valueSet) int { return cmp.Compare(rest(a), rest(b)) })
	return l[:min(len(l), tries)]
}
