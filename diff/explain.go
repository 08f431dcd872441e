package diff

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Explanation is a set of changes that the other program may have made, with
// the difference that remains.
type Explanation struct {
	// Changes is empty if the unchanged graph computes the values.
	Changes []Change `json:"changes"`
	// Also lists, for each change, the names of others that have the same
	// effect on this image.
	Also [][]string `json:"also"`
	// Equal reports that all values are equal.
	Equal bool `json:"equal"`
	// Rounding reports that all values are equal within the rounding of
	// float32.
	Rounding bool   `json:"rounding"`
	Elements int64  `json:"elements"`
	Differ   int64  `json:"differ"`
	Max      Number `json:"max"`
	Mean     Number `json:"mean"`
	// DType is the dtype of the changed graph's output.
	DType tensor.DType `json:"dtype"`
}

// Report is the result of Explain.
type Report struct {
	// Facts are the visible differences of the other tensor: its layout, dtype,
	// size or batch axis.
	Facts []string `json:"facts"`
	// Explanations are those that make the tensors equal with the fewest
	// changes. If none does, they are the nearest, best first. If none comes
	// near, the only one is the unchanged graph. It is empty if no change
	// yields the other tensor's shape.
	Explanations []Explanation `json:"explanations"`
	// More is the number of equally good explanations that were left out.
	More int `json:"more"`
	// Tried is the number of combinations that were compared.
	Tried int `json:"tried"`
}

// Options configures Explain.
type Options struct {
	Limits codec.Limits
	// MaxExplanations is the number of explanations in a report. Default 5.
	MaxExplanations int
	// Alternatives are graphs that the other program may have run instead, for
	// example an importer's graph of another backend. Each counts as one
	// change. Explain does not change them.
	Alternatives []Alternative
}

// Alternative is a graph that the other program may have run instead. It has an
// output of the same name.
type Alternative struct {
	Name  string // of the change
	Text  string // what the other program did, as a clause
	Graph *datagraph.Graph
}

// change returns the change to the alternative.
func (a *Alternative) change() Change {
	return Change{Name: a.Name, Text: a.Text, group: "graph", rewrite: func(g *datagraph.Graph, t target) bool {
		if !slices.Contains(slices.Concat(a.Graph.Outputs, a.Graph.SideOutputs), t.output) {
			return false
		}
		*g = *clone(a.Graph)
		g.Outputs, g.SideOutputs = []string{t.output}, nil
		return true
	}}
}

const (
	// roundings is the error that counts as rounding, in units in the last
	// place of the largest value. float32 arithmetic in another order stays
	// below it, such as (x/255-mean)/std against (x-255*mean)/(255*std).
	roundings = 8

	// maxChanges is the largest number of changes in one explanation.
	maxChanges = 6
	// beam is the number of nearest combinations that get one more change.
	beam = 6
	// gain is the factor by which one more change must reduce the mean
	// difference.
	gain = 0.9
)

// Explain finds the changes that make the graph's output equal to other, a
// tensor that another program made of the same encoded image. It tries each
// change alone, then pairs, then adds changes to the nearest combinations.
// Cancelling ctx ends the search with an error. The graph may not contain
// random ops.
func Explain(ctx context.Context, g *datagraph.Graph, output string, image, other *tensor.Tensor, o Options) (*Report, error) {
	if o.MaxExplanations == 0 {
		o.MaxExplanations = 5
	}
	if g.Random() {
		return nil, errors.New("diff: explain: the graph has random ops")
	}
	if g.Moves() {
		return nil, errors.New("diff: explain: the graph moves columns with an image")
	}
	if tensor.Float64s(other) == nil {
		return nil, fmt.Errorf("diff: explain: the other tensor is %v: want numbers", other.Desc)
	}
	g = clone(g)
	g.Outputs, g.SideOutputs = []string{output}, nil
	e := newExplainer(ctx, g, newRunner(o.Limits, image), other)
	for i := range o.Alternatives { // before the changes that apply to them
		e.changes = append(e.changes, o.Alternatives[i].change())
	}
	e.changes = append(e.changes, allChanges()...)
	unchanged, err := e.runner.run(g)
	if err != nil {
		return nil, err
	}
	e.align(unchanged.Desc)
	if err := e.tryAlone(unchanged); err != nil {
		return nil, err
	}
	if !e.anyEqual() {
		if err := e.tryPairs(); err != nil {
			return nil, err
		}
		if !e.anyEqual() && !slices.ContainsFunc(e.found, func(x Explanation) bool { return x.Rounding }) {
			if err := e.extend(); err != nil {
				return nil, err
			}
		}
	}
	e.found = worthwhile(ranked(e.found))
	for _, x := range e.found[:min(len(e.found), o.MaxExplanations)] {
		if err := e.tryEquivalents(x); err != nil {
			return nil, err
		}
	}
	e.found = worthwhile(ranked(e.found))
	return e.report(o.MaxExplanations), nil
}

// explainer searches for the changes that turn the graph's output into the
// other tensor.
type explainer struct {
	ctx    context.Context
	graph  *datagraph.Graph // with one output
	runner *runner
	other  *tensor.Tensor
	// changes are in the order in which they are applied.
	changes []Change

	facts  []string
	shape  tensor.Shape // of other without its batch axis
	layout tensor.Layout
	target target
	undone map[string]*pixels // other with changes undone, by their names
	buffer []float64          // reused by have

	baseline *Explanation // the unchanged graph, nil if the shapes differ
	singles  []single     // changes with distinct effects
	found    []Explanation
	tried    int
}

// single is a change that was tried alone.
type single struct {
	change   Change
	also     []Change // others with the same effect
	rounding bool     // equal within roundings
	mean     float64  // the mean difference, infinite if the shapes differ
}

func newExplainer(ctx context.Context, g *datagraph.Graph, r *runner, other *tensor.Tensor) *explainer {
	return &explainer{ctx: ctx, graph: g, runner: r, other: other, facts: []string{}, undone: map[string]*pixels{}}
}

// align finds the batch axis and the layout of the other tensor, given the
// description of the graph's output.
func (e *explainer) align(have tensor.Desc) {
	s := e.other.Shape
	for s.Rank() > have.Shape.Rank() && s.At(0) == 1 {
		s = tensor.Dims(s.Slice()[1:]...)
		e.facts = append(e.facts, "the other tensor has a batch axis")
	}
	e.shape = s
	if e.other.DType != have.DType {
		e.facts = append(e.facts, fmt.Sprintf("the other tensor is %v, the graph's is %v", e.other.DType, have.DType))
	}
	if !have.IsImage() || s.Rank() != 3 {
		return
	}
	e.layout = e.other.Layout
	if e.layout == tensor.NoLayout {
		e.layout = have.Layout
		c := have.Channels()
		hwc, chw := s.At(2) == c, s.At(0) == c
		switch {
		case hwc && (!chw || have.Layout == tensor.HWC):
			e.layout = tensor.HWC
		case chw:
			e.layout = tensor.CHW
		}
	}
	if e.layout != have.Layout {
		e.facts = append(e.facts, fmt.Sprintf("the other tensor is %v, the graph's is %v", e.layout, have.Layout))
	}
	d := tensor.Desc{DType: e.other.DType, Layout: e.layout, Shape: s}
	e.target.h, e.target.w = d.Height(), d.Width()
	if have.Height() != d.Height() || have.Width() != d.Width() || have.Channels() != d.Channels() {
		e.facts = append(e.facts, fmt.Sprintf("the other image is %d x %d with %d channels, the graph's is %d x %d with %d",
			d.Height(), d.Width(), d.Channels(), have.Height(), have.Width(), have.Channels()))
	}
}

// tryAlone tries the unchanged graph and each change alone. Changes with the
// same effect become one single.
func (e *explainer) tryAlone(unchanged *tensor.Tensor) error {
	e.baseline = e.judge(nil, unchanged)
	known := map[[sha256.Size]byte]int{e.digest(nil, unchanged): -1}
	if e.baseline != nil {
		e.found = append(e.found, *e.baseline)
	}
	for _, c := range e.changes {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		t, ok := e.run([]Change{c})
		if !ok {
			continue
		}
		e.tried++
		key := e.digest([]Change{c}, t)
		if i, ok := known[key]; ok {
			if i >= 0 {
				e.singles[i].also = append(e.singles[i].also, c)
			}
			continue
		}
		known[key] = len(e.singles)
		s := single{change: c, mean: math.Inf(1)}
		if x := e.judge([]Change{c}, t); x != nil {
			e.found = append(e.found, *x)
			s.rounding, s.mean = x.Rounding, float64(x.Mean)
		}
		e.singles = append(e.singles, s)
	}
	return nil
}

// tryPairs tries the changes in pairs, starting with those that come nearest
// alone. If a change alone leaves only rounding, pairs without such a change
// are skipped.
func (e *explainer) tryPairs() error {
	near := slices.ContainsFunc(e.found, func(x Explanation) bool { return x.Rounding })
	baselineNear := e.baseline != nil && e.baseline.Rounding
	order := make([]int, len(e.singles))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(e.singles[i].mean, e.singles[j].mean) })
	for n, i := range order {
		for _, j := range order[n+1:] {
			a, b := e.singles[min(i, j)], e.singles[max(i, j)]
			if near && !baselineNear && !a.rounding && !b.rounding {
				continue
			}
			if err := e.combine(a.change, b.change); err != nil {
				return err
			}
		}
		if e.anyEqual() { // every pair with this change was tried
			break
		}
	}
	return nil
}

// extend adds one more change at a time to the nearest combinations, until one
// is equal or they have maxChanges.
func (e *explainer) extend() error {
	var pool []Change
	for _, s := range e.singles {
		pool = append(pool, s.change)
	}
	for n := 2; n < maxChanges && !e.anyEqual(); n++ {
		var best []Explanation
		for _, x := range worthwhile(ranked(e.found)) {
			if len(x.Changes) == n && len(best) < beam {
				best = append(best, x)
			}
		}
		tried := map[string]bool{}
		for _, x := range best {
			for _, c := range pool {
				l := append(slices.Clone(x.Changes), c)
				slices.SortFunc(l, func(a, b Change) int { return position(pool, a) - position(pool, b) })
				key := ""
				for _, c := range l {
					key += c.Name + " "
				}
				if tried[key] {
					continue
				}
				tried[key] = true
				if err := e.combine(l...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tryEquivalents replaces each change of an explanation by those that have the
// same effect alone: together with other changes their effect may differ.
func (e *explainer) tryEquivalents(x Explanation) error {
	if len(x.Changes) < 2 {
		return nil
	}
	for i, c := range x.Changes {
		for _, o := range e.equivalents(c) {
			l := slices.Clone(x.Changes)
			l[i] = o
			if err := e.combine(l...); err != nil {
				return err
			}
		}
	}
	return nil
}

// equivalents returns the changes that have the same effect as c alone.
func (e *explainer) equivalents(c Change) []Change {
	i := slices.IndexFunc(e.singles, func(s single) bool { return s.change.Name == c.Name })
	if i < 0 {
		return nil
	}
	return e.singles[i].also
}

// report selects at most so many explanations.
func (e *explainer) report(maxExplanations int) *Report {
	found := e.found
	for i := range found {
		found[i].Also = make([][]string, len(found[i].Changes))
		for k := range found[i].Also {
			found[i].Also[k] = []string{}
			if len(found[i].Changes) == 1 {
				for _, c := range e.equivalents(found[i].Changes[k]) {
					found[i].Also[k] = append(found[i].Also[k], c.Name)
				}
			}
		}
	}
	found = merged(found)
	if len(found) > 0 && e.baseline != nil && !found[0].Equal && !found[0].Rounding && found[0].Mean > e.baseline.Mean/2 {
		// So small a gain is chance: any change that shrinks the values comes
		// nearer.
		found = []Explanation{*e.baseline}
		found[0].Also = [][]string{}
	}
	r := &Report{Facts: e.facts, Explanations: []Explanation{}, Tried: e.tried}
	for i, x := range found {
		// A report with equal or nearly equal explanations lists no worse ones.
		if best := found[0]; i > 0 && (best.Equal && (!x.Equal || len(x.Changes) > len(best.Changes)) || best.Rounding && !x.Rounding) {
			break
		}
		if i < maxExplanations {
			r.Explanations = append(r.Explanations, x)
		} else if x.Equal {
			r.More++
		}
	}
	return r
}

func (e *explainer) anyEqual() bool {
	return slices.ContainsFunc(e.found, func(x Explanation) bool { return x.Equal })
}

// position returns the index of a change by its name, or -1.
func position(l []Change, c Change) int {
	return slices.IndexFunc(l, func(o Change) bool { return o.Name == c.Name })
}

// merged joins explanations that differ in one change of the same group only.
func merged(l []Explanation) (kept []Explanation) {
	for _, x := range l {
		same := false
		for _, y := range kept {
			if len(x.Changes) != len(y.Changes) || x.Differ != y.Differ || x.Max != y.Max || x.Mean != y.Mean {
				continue
			}
			mine := slices.DeleteFunc(slices.Clone(x.Changes), func(c Change) bool { return position(y.Changes, c) >= 0 })
			i := slices.IndexFunc(y.Changes, func(c Change) bool { return position(x.Changes, c) < 0 })
			if len(mine) == 1 && mine[0].group == y.Changes[i].group {
				y.Also[i] = append(y.Also[i], mine[0].Name)
				same = true
				break
			}
		}
		if !same {
			kept = append(kept, x)
		}
	}
	return kept
}

// ranked sorts explanations in place, the best first, and returns them.
func ranked(l []Explanation) []Explanation {
	slices.SortStableFunc(l, func(a, b Explanation) int {
		switch {
		case a.Equal != b.Equal && a.Equal:
			return -1
		case a.Equal != b.Equal:
			return 1
		case a.Equal, a.Rounding && b.Rounding:
			return cmp.Or(cmp.Compare(len(a.Changes), len(b.Changes)), cmp.Compare(a.Mean, b.Mean))
		}
		return cmp.Or(cmp.Compare(a.Mean, b.Mean), cmp.Compare(len(a.Changes), len(b.Changes)))
	})
	return l
}

// worthwhile leaves out explanations that are hardly better than one with a
// part of their changes.
func worthwhile(l []Explanation) (better []Explanation) {
	for _, x := range l {
		if !slices.ContainsFunc(l, func(y Explanation) bool {
			if len(y.Changes) >= len(x.Changes) || float64(x.Mean) < gain*float64(y.Mean) {
				return false
			}
			return !slices.ContainsFunc(y.Changes, func(c Change) bool { return position(x.Changes, c) < 0 })
		}) {
			better = append(better, x)
		}
	}
	return better
}

// combine tries changes together, unless two of them exclude each other.
func (e *explainer) combine(l ...Change) error {
	for i, a := range l {
		if slices.ContainsFunc(l[:i], func(b Change) bool { return a.group == b.group }) {
			return nil
		}
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	t, ok := e.run(l)
	if !ok {
		return nil
	}
	e.tried++
	if x := e.judge(l, t); x != nil {
		e.found = append(e.found, *x)
	}
	return nil
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
	return t, err == nil
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

// digest identifies a comparison: changes with the same effect have the same
// digest.
func (e *explainer) digest(l []Change, t *tensor.Tensor) [sha256.Size]byte {
	a, b := e.have(t).digest(), [sha256.Size]byte{}
	if w := e.want(l); w.v != nil {
		b = w.digest()
	}
	return sha256.Sum256(append(a[:], b[:]...))
}

// judge compares the changed graph's output with the other tensor. It returns
// nil if the shapes differ.
func (e *explainer) judge(l []Change, t *tensor.Tensor) *Explanation {
	if t.DType == tensor.Bytes {
		return nil
	}
	h, w := e.have(t), e.want(l)
	if w.v == nil || h.image != w.image || h.h != w.h || h.w != w.w || h.c != w.c || len(h.v) == 0 {
		return nil
	}
	x := &Explanation{Changes: append([]Change{}, l...), Also: [][]string{}, Elements: int64(len(h.v)), DType: t.DType}
	sum, largest := 0.0, 0.0
	for i, a := range h.v {
		b := w.v[i]
		if a == b || a != a && b != b {
			continue
		}
		x.Differ++
		d := math.Abs(a - b)
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		x.Max = Number(max(float64(x.Max), d))
		sum += d
		largest = max(largest, math.Abs(a), math.Abs(b))
	}
	x.Mean = Number(sum / float64(len(h.v)))
	x.Equal = x.Differ == 0
	x.Rounding = t.DType == tensor.Float32 && float64(x.Max) <= roundings*largest/(1<<23)
	return x
}

// pixels holds the values of a tensor, those of an image in the order (y, x,
// c).
type pixels struct {
	h, w, c int
	image   bool
	layout  tensor.Layout // of the tensor
	v       []float64
}

// permute makes the image h x w; from returns the source of each pixel. It
// reports false for a tensor that is not an image.
func (p *pixels) permute(h, w int, from func(y, x, c int) (int, int, int)) bool {
	if !p.image {
		return false
	}
	v := make([]float64, 0, len(p.v))
	for y := range h {
		for x := range w {
			for c := range p.c {
				sy, sx, sc := from(y, x, c)
				v = append(v, p.v[(sy*p.w+sx)*p.c+sc])
			}
		}
	}
	p.h, p.w, p.v = h, w, v
	return true
}

// pixelsOf reads a tensor, as an image of geometry g if image is true. It uses
// the memory of v if that is large enough.
func pixelsOf(t *tensor.Tensor, g geometry, image bool, v []float64) *pixels {
	t = dense(t)
	at := tensor.Float64s(t)
	n := int(t.Len())
	if cap(v) < n {
		v = make([]float64, n)
	}
	p := &pixels{h: 1, w: n, c: 1, v: v[:n]}
	if !image {
		for i := range p.v {
			p.v[i] = at(i)
		}
		return p
	}
	p.h, p.w, p.c, p.image, p.layout = g.h, g.w, g.c, true, g.layout
	channelStride, pixelStride := 1, g.c
	if g.layout == tensor.CHW {
		channelStride, pixelStride = g.h*g.w, 1
	}
	for i := range g.h * g.w {
		for c := range g.c {
			p.v[i*g.c+c] = at(i*pixelStride + c*channelStride)
		}
	}
	return p
}

// digest returns a hash of the size and the values.
func (p *pixels) digest() [sha256.Size]byte {
	h := sha256.New()
	b := make([]byte, 0, 1<<16)
	for _, n := range []int{p.h, p.w, p.c} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, v := range p.v {
		if b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)); len(b) > 1<<16-8 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return [sha256.Size]byte(h.Sum(nil))
}
