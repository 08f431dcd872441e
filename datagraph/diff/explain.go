package diff

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Explanation is a set of changes that the other program may have made, with
// the difference that remains.
type Explanation struct {
	// Changes is empty if the unchanged graph computes the values. Those that
	// explain the most come first.
	Changes []Change `json:"changes"`
	// Without is, for each change, the mean difference that remains with the
	// other changes only. It is infinite if they yield another shape.
	Without []Number `json:"without"`
	// Also lists, for each change, the names of others that have the same
	// effect on this image.
	Also [][]string `json:"also"`
	// Equal reports that all values are equal.
	Equal bool `json:"equal"`
	// Rounding reports that all values are equal up to the rounding of float32,
	// or of the other tensor's type if it is narrower.
	Rounding bool `json:"rounding"`
	// These are as in Difference.
	Elements  int64  `json:"elements"`
	Differ    int64  `json:"differ"`
	NotFinite int64  `json:"not_finite"`
	Max       Number `json:"max"`
	Mean      Number `json:"mean"`
	// Explains is the part of the mean difference from the unchanged graph that
	// the changes remove, 0 to 1. It is 1 if the unchanged graph yields another
	// shape.
	Explains Number `json:"explains"`
	// Levels is Max in levels of an 8-bit image, 0 if the graph's arithmetic is
	// unknown.
	Levels Number `json:"levels"`
}

// explained reports that nothing but rounding remains.
func (x *Explanation) explained() bool { return x.Equal || x.Rounding }

// Report is the result of Explain.
type Report struct {
	// Facts are the visible differences of the other tensor: its layout, dtype,
	// size or batch axis. If no changes explain it, they state what else is
	// known, such as the ranges of the values.
	Facts []string `json:"facts"`
	// Explanations are those that make the tensors equal, or equal but for
	// rounding, with the fewest changes. If none does, they are the nearest,
	// best first, if each of their changes removes most of the difference that
	// remains without it. If none does, the only one is the unchanged graph. It
	// is empty if no change yields the other tensor's shape.
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
	return Change{Name: a.Name, Text: a.Text, group: groupGraph, rewrite: func(g *datagraph.Graph, t target) bool {
		if !slices.Contains(slices.Concat(a.Graph.Outputs, a.Graph.SideOutputs), t.output) {
			return false
		}
		*g = *clone(a.Graph)
		g.Outputs, g.SideOutputs = []string{t.output}, nil
		return true
	}}
}

const (
	// substantial is the largest part of a difference that may remain after a
	// change that is named: a change explains three quarters of what remains
	// without it.
	substantial = 0.25
	// alike is the largest score of an explanation that leaves more than
	// rounding. Pictures of the same scene score less, others more.
	alike = 0.2
	// tiny is the largest difference in levels of an 8-bit image that counts as
	// rounding. Libraries that scale floats differ by up to 0.002 levels,
	// because they round weights and sums differently; bytes differ by 1.
	tiny = 0.005
	// hazy is the largest difference of spectrograms that counts as rounding,
	// relative to the largest value. torch's float32 transforms differ from
	// float64 by less, and from each other on other processors: by 6e-5 for
	// Whisper's features.
	hazy = 1e-4
	// few is the largest difference in levels that another decoder of the same
	// standard makes in photographs.
	few = 4
	// asNear is the factor within which the mean differences of explanations
	// count as equally near.
	asNear = 1.25
)

// spectral reports whether the graph computes a spectrogram.
func (e *explainer) spectral() bool {
	return find(e.graph, 0, func(op transforms.Op) bool { return transforms.InfoOf(op).Name == "spectrogram" }) >= 0
}

// tolerance is the largest error that counts as rounding, relative to the
// largest value. float32 arithmetic in another order stays below 8 units in the
// last place, such as (x/255-mean)/std against (x-255*mean)/(255*std). In
// narrower types it stays below 2: one level of an 8-bit image would be 9 units
// of float16.
func tolerance(have, other tensor.DType) float64 {
	switch {
	case have != tensor.Float32:
		return 0
	case other == tensor.Float16:
		return 2. / (1 << 10)
	case other == tensor.BFloat16:
		return 2. / (1 << 7)
	}
	return 8. / (1 << 23)
}

// checkExplained checks that Explain and Match can run a graph.
func checkExplained(g *datagraph.Graph, what string) error {
	switch {
	case g.Random():
		return fmt.Errorf("diff: %s: the graph has random ops", what)
	case g.Moves():
		return fmt.Errorf("diff: %s: the graph moves columns with an image", what)
	}
	return nil
}

// Explain finds the changes that make the graph's output equal to other, a
// tensor that another program made of the same encoded image. A change is named
// only if it explains three quarters of the difference that remains without it,
// and never for rounding. Cancelling ctx ends the search with an error. The
// graph may not contain random ops.
func Explain(ctx context.Context, g *datagraph.Graph, output string, image, other *tensor.Tensor, o Options) (*Report, error) {
	if err := checkExplained(g, "explain"); err != nil {
		return nil, err
	}
	e, unchanged, facts, err := started(ctx, g, output, image, other, &o)
	if err != nil {
		return nil, err
	}
	r := &Report{Facts: facts, Explanations: []Explanation{}}
	baseline := e.judge(nil)
	if baseline == nil || !baseline.explained() {
		l, err := e.candidates(unchanged)
		if err != nil {
			return nil, err
		}
		e.choose(r, l, baseline, cmp.Or(o.MaxExplanations, 5))
	}
	if len(r.Explanations) == 0 {
		if baseline != nil {
			r.Explanations = append(r.Explanations, *baseline)
			r.Explanations[0].Levels = e.levels(baseline)
		}
		if baseline == nil || !baseline.explained() {
			r.Facts = append(r.Facts, e.facts(unchanged, baseline)...)
		}
	}
	r.Tried = e.tried
	return r, nil
}

// started returns an explainer that has run the unchanged graph, with the
// visible differences.
func started(ctx context.Context, g *datagraph.Graph, output string, image, other *tensor.Tensor, o *Options) (e *explainer, unchanged *tensor.Tensor, facts []string, err error) {
	if other.DType == tensor.Bytes {
		return nil, nil, nil, fmt.Errorf("diff: explain: the other tensor is %v: want numbers", other.Desc)
	}
	e = newExplainer(ctx, g, output, image, other, o)
	if unchanged, err = e.runner.run(e.graph); err != nil {
		return nil, nil, nil, err
	}
	if unchanged.DType == tensor.Bytes {
		return nil, nil, nil, fmt.Errorf("diff: explain: the output %s is %v: want numbers", output, unchanged.Desc)
	}
	return e, unchanged, e.align(unchanged.Desc), nil
}

// align finds the batch axis and the layout of the other tensor, given the
// description of the graph's output. It returns the visible differences.
func (e *explainer) align(have tensor.Desc) []string {
	facts := []string{}
	s := e.other.Shape
	for s.Rank() > have.Shape.Rank() && s.At(0) == 1 {
		s = tensor.Dims(s.Slice()[1:]...)
		facts = append(facts, "the other tensor has a batch axis")
	}
	if s.Rank() == 1 && have.Shape.Rank() > 1 && s.Len() == have.Shape.Len() {
		s = have.Shape
		facts = append(facts, "the other tensor is flat")
	}
	e.shape = s
	if s.Rank() == have.Shape.Rank()+1 {
		facts = append(facts, fmt.Sprintf("the other tensor has %v: %d images, of which only one can be compared", s, s.At(0)))
	}
	if e.other.DType != have.DType {
		facts = append(facts, fmt.Sprintf("the other tensor is %v, the graph's is %v", e.other.DType, have.DType))
	}
	if !have.IsImage() || s.Rank() != 3 {
		return facts
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
		facts = append(facts, fmt.Sprintf("the other tensor is %v, the graph's is %v", e.layout, have.Layout))
	}
	d := tensor.Desc{DType: e.other.DType, Layout: e.layout, Shape: s}
	e.target.h, e.target.w, e.target.c = d.Height(), d.Width(), d.Channels()
	if have.Height() != d.Height() || have.Width() != d.Width() || have.Channels() != d.Channels() {
		facts = append(facts, fmt.Sprintf("the other image is %d x %d with %d channels, the graph's is %d x %d with %d",
			d.Height(), d.Width(), d.Channels(), have.Height(), have.Width(), have.Channels()))
	}
	return facts
}

// facts states what is known of a tensor that no changes explain. baseline
// compares it with the unchanged graph's output, and is nil if the shapes
// differ.
func (e *explainer) facts(unchanged *tensor.Tensor, baseline *Explanation) (facts []string) {
	h, w := e.have(unchanged), e.want(nil)
	lo, hi := w.extent()
	ownLo, ownHi := h.extent()
	if lo > hi {
		return append(facts, "the other tensor has no finite values")
	}
	facts = append(facts, fmt.Sprintf("the other tensor's values are %.4g to %.4g, the graph's %.4g to %.4g", lo, hi, ownLo, ownHi))
	if baseline == nil {
		return facts
	}
	if n := baseline.NotFinite; n > 0 {
		facts = append(facts, fmt.Sprintf("%d of %d values are NaN or infinite", n, baseline.Elements))
	}
	if levels := e.levels(baseline); levels > 0 && levels <= few {
		return append(facts, fmt.Sprintf("all values are within %.2g of 255 levels, as after another decoder, or another version of a library", levels))
	}
	l := fits(h, w)
	slices.SortFunc(l, func(a, b *fit) int { return cmp.Compare(a.score(), b.score()) })
	switch f := l[0]; {
	case f.score() >= 0.9:
		facts = append(facts, "the tensors have nothing in common")
	case f.score() < 0.01 && h.image && f.rmse() < substantial*f.rmseOf(f.identity()):
		facts = append(facts, fmt.Sprintf("each channel is nearly a linear function of the graph's: times %.4g, plus %.4g; another mean or std does that", f.a, f.b))
	}
	return facts
}

// judge compares the changed graph's output with the other tensor. It returns
// nil if a change does not apply or the shapes differ.
func (e *explainer) judge(l []Change) *Explanation {
	t, ok := e.run(l)
	if !ok {
		return nil
	}
	h, w := e.have(t), e.want(l)
	if !h.sameShape(w) {
		return nil
	}
	x := &Explanation{Changes: append([]Change{}, l...), Without: []Number{}, Also: [][]string{}, Elements: int64(len(h.v))}
	sum, largest := 0.0, 0.0
	for i, a := range h.v {
		b := w.v[i]
		if a == b || a != a && b != b {
			continue
		}
		x.Differ++
		d := math.Abs(a - b)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			x.NotFinite++
			continue
		}
		x.Max = Number(max(float64(x.Max), d))
		sum += d
		largest = max(largest, math.Abs(a), math.Abs(b))
	}
	if n := x.Elements - x.NotFinite; n > 0 {
		x.Mean = Number(sum / float64(n))
	}
	x.Equal = x.Differ == 0
	x.Rounding = x.NotFinite == 0 && float64(x.Max) <= tolerance(t.DType, e.other.DType)*largest
	if e.sound {
		x.Rounding = x.Rounding || x.NotFinite == 0 && e.spectral() && float64(x.Max) <= hazy*largest
		return x
	}
	if !x.Rounding && x.NotFinite == 0 && t.DType == tensor.Float32 && float64(x.Max) < tiny*largest {
		n := e.levels(x)
		x.Rounding = n > 0 && n < tiny
	}
	return x
}

// candidates returns the explanations of the search, each without the changes
// that explain too little.
func (e *explainer) candidates(unchanged *tensor.Tensor) ([]Explanation, error) {
	if e.sound {
		return e.searchSounds()
	}
	nodes, err := e.search()
	if err == nil {
		err = e.findValues(unchanged)
	}
	if err != nil {
		return nil, err
	}
	var l []Explanation
	known := map[string]bool{}
	for _, n := range nodes {
		var best []*Explanation
		for _, v := range e.valuesFor(n) {
			set, ok := e.joined(n.changes, v.changes)
			if !ok || e.ctx.Err() != nil {
				continue
			}
			e.tried++
			if x := e.judge(set); x != nil {
				best = append(best, x)
			}
		}
		slices.SortStableFunc(best, func(a, b *Explanation) int { return compare(a, b) })
		for _, x := range best[:min(len(best), 2)] {
			if x = e.simplified(x); len(x.Changes) > 0 && !known[names(x.Changes)] {
				known[names(x.Changes)] = true
				e.addSame(x, n)
				l = append(l, *x)
			}
		}
	}
	return l, e.ctx.Err()
}

// compare sorts the better explanation first: those that leave rounding only,
// by the number of changes, then the nearest.
func compare(a, b *Explanation) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	order := first(a.explained(), b.explained())
	if a.explained() && b.explained() {
		order = cmp.Or(cmp.Compare(len(a.Changes), len(b.Changes)), first(a.Equal, b.Equal), first(!other(a.Changes), !other(b.Changes)))
	}
	return cmp.Or(order, cmp.Compare(a.Mean, b.Mean), cmp.Compare(len(a.Changes), len(b.Changes)))
}

// simplified removes the changes of an explanation that explain too little
// beyond the others, and sorts the others by what they explain.
func (e *explainer) simplified(x *Explanation) *Explanation {
	for {
		without := make([]*Explanation, len(x.Changes))
		least := -1
		for i := range x.Changes {
			l := slices.Delete(slices.Clone(x.Changes), i, i+1)
			y := e.judge(l)
			if without[i] = y; y == nil {
				continue
			}
			dispensable := y.explained() || !x.explained() && substantial*float64(y.Mean) < float64(x.Mean)
			if dispensable && (least < 0 || y.Mean < without[least].Mean) {
				least = i
			}
		}
		if least >= 0 {
			x = without[least]
			continue
		}
		mean := func(y *Explanation) Number {
			if y == nil {
				return Number(math.Inf(1))
			}
			return y.Mean
		}
		order := make([]int, len(x.Changes))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(mean(without[j]), mean(without[i])) })
		sorted := *x
		sorted.Changes = []Change{}
		for _, i := range order {
			sorted.Changes = append(sorted.Changes, x.Changes[i])
			sorted.Without = append(sorted.Without, mean(without[i]))
			sorted.Also = append(sorted.Also, []string{})
		}
		return &sorted
	}
}

// addSame lists the changes with the same effect as one of the explanation's.
func (e *explainer) addSame(x *Explanation, n *node) {
	same := append([][]Change{}, n.same...)
	for _, v := range e.values {
		same = append(same, v.same...)
		for range v.same {
			same = append(same, v.changes)
		}
	}
	for i, c := range x.Changes {
		others := slices.Delete(slices.Clone(x.Changes), i, i+1)
		for _, l := range same {
			// The changes that x lacks must be one, of the same group.
			more := slices.DeleteFunc(slices.Clone(l), func(o Change) bool { return position(others, o) >= 0 })
			if len(more) != 1 || more[0].group != c.group || more[0].Name == c.Name || slices.Contains(x.Also[i], more[0].Name) {
				continue
			}
			set, ok := e.joined(others, more)
			if !ok {
				continue
			}
			if y := e.judge(set); y != nil && y.Differ == x.Differ && y.Max == x.Max && y.Mean == x.Mean {
				x.Also[i] = append(x.Also[i], more[0].Name)
			}
		}
	}
}

// choose fills the report with the best explanations, at most so many.
func (e *explainer) choose(r *Report, l []Explanation, baseline *Explanation, most int) {
	l = slices.DeleteFunc(l, func(x Explanation) bool { return !x.explained() && !e.near(&x, baseline) })
	sorts.Stable(l, func(a, b Explanation) int { return compare(&a, &b) })
	for i := range l {
		x, best := &l[i], &l[0]
		if best.explained() && (!x.explained() || len(x.Changes) > len(best.Changes)) || float64(x.Mean) > asNear*float64(best.Mean) && !best.explained() {
			break
		}
		x.Explains, x.Levels = explains(x, baseline), e.levels(x)
		if len(r.Explanations) < most {
			r.Explanations = append(r.Explanations, *x)
		} else {
			r.More++
		}
	}
}

// near reports whether an explanation that leaves more than rounding is worth
// naming: it shows the same picture, and explains most of the difference.
func (e *explainer) near(x, baseline *Explanation) bool {
	t, ok := e.run(x.Changes)
	if !ok || baseline != nil && (baseline.Mean == 0 || float64(x.Mean) > substantial*float64(baseline.Mean)) {
		return false
	}
	return fitted(e.have(t), e.want(x.Changes), false).score() <= alike
}

// explains returns the part of the baseline's difference that an explanation
// removes.
func explains(x, baseline *Explanation) Number {
	if baseline == nil || baseline.Mean == 0 {
		return 1
	}
	return 1 - x.Mean/baseline.Mean
}

// levels returns the largest difference in levels of an 8-bit image.
func (e *explainer) levels(x *Explanation) Number {
	if e.sound {
		return 0
	}
	g := clone(e.graph)
	for _, c := range x.Changes {
		if c.rewrite != nil {
			c.rewrite(g, e.target)
		}
	}
	f := linear{[]float64{1}, []float64{0}}
	for _, s := range g.Steps {
		f.then(s.Op)
	}
	slope := math.Inf(1)
	for _, a := range f.a {
		slope = min(slope, math.Abs(a))
	}
	if n := float64(x.Max) / slope; !math.IsInf(n, 0) && !math.IsNaN(n) {
		return Number(n)
	}
	return 0
}
