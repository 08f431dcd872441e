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
	"github.com/infer-prep/infer-prep/transforms"
)

// pixels are the values of a tensor, of an image in the order (y, x, c).
type pixels struct {
	h, w, c int
	image   bool
	layout  tensor.Layout // that they came in
	v       []float64
}

// permute makes an image of h x w, whose pixel comes from where from says.
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

// pixelsOf reads a tensor, as an image of a geometry if there is one, into memory
// that is v's if it is large enough.
func pixelsOf(t *tensor.Tensor, g Geometry, image bool, v []float64) *pixels {
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
	p.h, p.w, p.c, p.image, p.layout = g.H, g.W, g.C, true, g.Layout
	next, pixel := 1, g.C // how far the next channel and the next pixel are
	if g.Layout == tensor.CHW {
		next, pixel = g.H*g.W, 1
	}
	for i := range g.H * g.W {
		for c := range g.C {
			p.v[i*g.C+c] = at(i*pixel + c*next)
		}
	}
	return p
}

// digest tells pixels apart.
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

// Explanation is what the foreign program may have done, and how near that comes.
type Explanation struct {
	// Suspects are none where the graph as it is gives the values.
	Suspects []Suspect `json:"suspects"`
	// Also are, for each of the suspects, the names of others that cannot be told from it on this image.
	Also [][]string `json:"also"`
	// Equal: all values are equal. Rounding: they are but for the last bits of float32.
	Equal    bool   `json:"equal"`
	Rounding bool   `json:"rounding"`
	Elements int64  `json:"elements"`
	Differ   int64  `json:"differ"`
	Max      Number `json:"max"`
	Mean     Number `json:"mean"`
	// DType is what the graph gives then.
	DType tensor.DType `json:"dtype"`
}

// Report is what Explain found.
type Report struct {
	// Facts are what is plain to see of the foreign tensor: another layout, dtype or batch axis.
	Facts []string `json:"facts"`
	// Explanations are those that make it equal, with the fewest suspects; if there are
	// none, the nearest, best first; if none comes near, the graph as it is.
	Explanations []Explanation `json:"explanations"`
	// More are as good as the last of Explanations, and not among them.
	More  int `json:"more"`
	Tried int `json:"tried"` // combinations
}

// Options are those of Explain.
type Options struct {
	Limits codec.Limits
	Most   int // explanations to give; default 5
}

// roundings is how many units in the last place of the largest value float32
// arithmetic in another order may be off, as (x/255-mean)/std against
// (x-255*mean)/(255*std).
const roundings = 8

// Explain finds what makes the graph's output equal to a foreign tensor: each
// suspect alone, then in pairs, then the nearest
// of them with further ones. image is the encoded image that both were made of.
// ctx ends the search.
func Explain(ctx context.Context, g *datagraph.Graph, output string, image, foreign *tensor.Tensor, o Options) (*Report, error) {
	if o.Most == 0 {
		o.Most = 5
	}
	if g.Random() {
		return nil, errors.New("the graph has random ops")
	}
	if tensor.Float64s(foreign) == nil {
		return nil, fmt.Errorf("the foreign tensor is %v, want numbers", foreign.Desc)
	}
	g = clone(g)
	g.Outputs, g.SideOutputs = []string{output}, nil
	e := &explainer{ctx: ctx, r: newRunner(o.Limits, image), foreign: foreign}
	plain, err := e.r.run(g)
	if err != nil {
		return nil, err
	}
	e.align(plain.Desc)
	r := &Report{Facts: e.facts, Explanations: []Explanation{}}
	baseline := e.judge(nil, plain)

	// Each alone.
	type single struct {
		suspect Suspect
		also    []Suspect
		close   bool    // equal but for roundings
		mean    float64 // the mean difference, infinite where there is none
	}
	var singles []single
	var found []Explanation
	known := map[[sha256.Size]byte]int{e.digest(nil, plain): -1}
	if baseline != nil {
		found = append(found, *baseline)
	}
	for _, s := range suspects() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, ok := e.try(g, []Suspect{s})
		if !ok {
			continue
		}
		e.tried++
		key := e.digest([]Suspect{s}, t)
		if i, ok := known[key]; ok {
			if i >= 0 {
				singles[i].also = append(singles[i].also, s)
			}
			continue
		}
		known[key] = len(singles)
		x := single{suspect: s, mean: math.Inf(1)}
		if j := e.judge([]Suspect{s}, t); j != nil {
			found = append(found, *j)
			x.close, x.mean = j.Rounding, float64(j.Mean)
		}
		singles = append(singles, x)
	}
	also := map[string][]Suspect{}
	for _, x := range singles {
		also[x.suspect.Name] = x.also
	}
	var pool []Suspect
	for _, x := range singles {
		pool = append(pool, x.suspect)
	}
	if !anyEqual(found) {
		// In pairs; if what is there is only a matter of rounding, only rounding is in question.
		near := slices.ContainsFunc(found, func(x Explanation) bool { return x.Rounding })
		plainNear := baseline != nil && baseline.Rounding
		order := make([]int, len(singles)) // those that come nearest alone first
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(singles[i].mean, singles[j].mean) })
		for n, i := range order {
			for _, j := range order[n+1:] {
				a, b := singles[min(i, j)], singles[max(i, j)]
				if near && !plainNear && !a.close && !b.close {
					continue
				}
				if err := e.combine(g, &found, a.suspect, b.suspect); err != nil {
					return nil, err
				}
			}
			if anyEqual(found) { // all that make it equal with this one are there
				break
			}
		}
		if !anyEqual(found) && !slices.ContainsFunc(found, func(x Explanation) bool { return x.Rounding }) {
			if err := e.extend(g, &found, pool); err != nil {
				return nil, err
			}
		}
	}
	rank(found)
	found = worth(found)
	// Suspects that cannot be told apart alone may differ together with others.
	for _, x := range found[:min(len(found), o.Most)] {
		if err := e.others(g, x, also, &found); err != nil {
			return nil, err
		}
	}
	rank(found)
	found = worth(found)
	for i := range found {
		found[i].Also = make([][]string, len(found[i].Suspects))
		for k := range found[i].Also {
			found[i].Also[k] = []string{}
			if s := found[i].Suspects[k]; len(found[i].Suspects) == 1 {
				found[i].Also[k] = append(found[i].Also[k], names(also[s.Name])...)
			}
		}
	}
	found = alikes(found)
	if len(found) > 0 && baseline != nil && !found[0].Equal && !found[0].Rounding && found[0].Mean > baseline.Mean/2 {
		// What makes so little better is chance: smaller values alone are nearer to anything.
		found = []Explanation{*baseline}
		found[0].Also = [][]string{}
	}
	for i, x := range found {
		// Beside those that are equal, or near, no others.
		if best := found[0]; i > 0 && (best.Equal && (!x.Equal || len(x.Suspects) > len(best.Suspects)) || best.Rounding && !x.Rounding) {
			break
		}
		if i < o.Most {
			r.Explanations = append(r.Explanations, x)
		} else if x.Equal {
			r.More++
		}
	}
	r.Tried = e.tried
	return r, nil
}

// others tries an explanation of several suspects with those that are the same as
// one of them alone.
func (e *explainer) others(g *datagraph.Graph, x Explanation, also map[string][]Suspect, found *[]Explanation) error {
	if len(x.Suspects) < 2 {
		return nil
	}
	for i, s := range x.Suspects {
		for _, o := range also[s.Name] {
			l := slices.Clone(x.Suspects)
			l[i] = o
			if err := e.combine(g, found, l...); err != nil {
				return err
			}
		}
	}
	return nil
}

func names(l []Suspect) (n []string) {
	for _, s := range l {
		n = append(n, s.Name)
	}
	return n
}

func anyEqual(l []Explanation) bool {
	return slices.ContainsFunc(l, func(x Explanation) bool { return x.Equal })
}

func position(pool []Suspect, s Suspect) int {
	return slices.IndexFunc(pool, func(o Suspect) bool { return o.Name == s.Name })
}

const (
	// beam is how many of the nearest combinations are tried with a further suspect.
	beam = 6
	// deepest is how many suspects there may be together.
	deepest = 6
)

// extend adds a further suspect to the nearest pairs, then to what is nearest of
// that, as long as it comes nearer.
func (e *explainer) extend(g *datagraph.Graph, found *[]Explanation, pool []Suspect) error {
	for n := 2; n < deepest && !anyEqual(*found); n++ {
		rank(*found)
		var best []Explanation
		for _, x := range worth(*found) {
			if len(x.Suspects) == n && len(best) < beam {
				best = append(best, x)
			}
		}
		tried := map[string]bool{}
		for _, x := range best {
			for _, s := range pool {
				l := append(slices.Clone(x.Suspects), s)
				slices.SortFunc(l, func(a, b Suspect) int { return position(pool, a) - position(pool, b) })
				name := ""
				for _, s := range l {
					name += s.Name + " "
				}
				if tried[name] {
					continue
				}
				tried[name] = true
				if err := e.combine(g, found, l...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// alikes makes one of explanations that differ in one suspect, and in nothing else.
func alikes(l []Explanation) (kept []Explanation) {
	for _, x := range l {
		same := false
		for _, y := range kept {
			if len(x.Suspects) != len(y.Suspects) || x.Differ != y.Differ || x.Max != y.Max || x.Mean != y.Mean {
				continue
			}
			mine := slices.DeleteFunc(slices.Clone(x.Suspects), func(s Suspect) bool { return position(y.Suspects, s) >= 0 })
			i := slices.IndexFunc(y.Suspects, func(s Suspect) bool { return position(x.Suspects, s) < 0 })
			if len(mine) == 1 && mine[0].group == y.Suspects[i].group {
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

// rank sorts explanations, the best first.
func rank(l []Explanation) {
	slices.SortStableFunc(l, func(a, b Explanation) int {
		switch {
		case a.Equal != b.Equal && a.Equal:
			return -1
		case a.Equal != b.Equal:
			return 1
		case a.Equal, a.Rounding && b.Rounding:
			return cmp.Or(cmp.Compare(len(a.Suspects), len(b.Suspects)), cmp.Compare(a.Mean, b.Mean))
		}
		return cmp.Or(cmp.Compare(a.Mean, b.Mean), cmp.Compare(len(a.Suspects), len(b.Suspects)))
	})
}

// gain is what a further suspect must make better, to be worth its words: the mean
// difference falls below this part.
const gain = 0.9

// worth leaves out explanations that are hardly better than with fewer of their suspects.
func worth(l []Explanation) (better []Explanation) {
	for _, x := range l {
		if !slices.ContainsFunc(l, func(y Explanation) bool {
			if len(y.Suspects) >= len(x.Suspects) || float64(x.Mean) < gain*float64(y.Mean) {
				return false
			}
			return !slices.ContainsFunc(y.Suspects, func(s Suspect) bool { return position(x.Suspects, s) < 0 })
		}) {
			better = append(better, x)
		}
	}
	return better
}

// combine tries suspects together, unless only one of them can be so.
func (e *explainer) combine(g *datagraph.Graph, found *[]Explanation, l ...Suspect) error {
	for i, a := range l {
		if slices.ContainsFunc(l[:i], func(b Suspect) bool { return a.group == b.group }) {
			return nil
		}
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	t, ok := e.try(g, l)
	if !ok {
		return nil
	}
	e.tried++
	if j := e.judge(l, t); j != nil {
		*found = append(*found, *j)
	}
	return nil
}

// explainer compares what graphs give with the foreign tensor.
type explainer struct {
	ctx     context.Context
	r       *runner
	foreign *tensor.Tensor
	facts   []string
	shape   tensor.Shape // the foreign one without batch
	layout  tensor.Layout
	target  target
	tried   int
	memory  []float64
	undone  map[string]*pixels // the foreign image changed back by a suspect, by its name
}

// align finds the batch axis and the layout of the foreign tensor, of which the
// graph gives something like have.
func (e *explainer) align(have tensor.Desc) {
	e.facts = []string{}
	e.undone = map[string]*pixels{}
	s := e.foreign.Shape
	for s.Rank() > have.Shape.Rank() && s.At(0) == 1 {
		s = tensor.Dims(s.Slice()[1:]...)
		e.facts = append(e.facts, "the foreign tensor has a batch axis")
	}
	e.shape = s
	if e.foreign.DType != have.DType {
		e.facts = append(e.facts, fmt.Sprintf("the foreign tensor is %v, the graph's is %v", e.foreign.DType, have.DType))
	}
	if !have.IsImage() || s.Rank() != 3 {
		return
	}
	e.layout = e.foreign.Layout
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
		e.facts = append(e.facts, fmt.Sprintf("the foreign tensor is %v, the graph's is %v", e.layout, have.Layout))
	}
	d := tensor.Desc{DType: e.foreign.DType, Layout: e.layout, Shape: s}
	e.target.h, e.target.w = d.Height(), d.Width()
	if have.Height() != d.Height() || have.Width() != d.Width() || have.Channels() != d.Channels() {
		e.facts = append(e.facts, fmt.Sprintf("the foreign image has %d x %d pixels of %d channels, the graph's %d x %d of %d",
			d.Height(), d.Width(), d.Channels(), have.Height(), have.Width(), have.Channels()))
	}
}

// try runs the graph as the suspects change it. Not ok if there is nothing for
// them to change, or the graph cannot be run then.
func (e *explainer) try(g *datagraph.Graph, l []Suspect) (*tensor.Tensor, bool) {
	g = clone(g)
	e.target.output = g.Outputs[0]
	for _, s := range l {
		if s.rewrite != nil && !s.rewrite(g, e.target) {
			return nil, false
		}
		e.target.output = g.Outputs[0]
	}
	t, err := e.r.run(g)
	return t, err == nil
}

// want is the foreign image as it was before the suspects.
func (e *explainer) want(l []Suspect) *pixels {
	name := ""
	for _, s := range l {
		if s.undo != nil {
			name += s.Name
		}
	}
	if p := e.undone[name]; p != nil {
		return p
	}
	d := tensor.Desc{DType: e.foreign.DType, Layout: e.layout, Shape: e.shape}
	g, image := Geometry{}, false
	if d.IsImage() {
		g, image = Geometry{d.Layout, d.Height(), d.Width(), d.Channels()}, true
	}
	p := pixelsOf(e.foreign, g, image, nil)
	for _, s := range l {
		if s.undo != nil && !s.undo(p) {
			p.v = nil
			break
		}
	}
	e.undone[name] = p
	return p
}

// have is what a graph gave, until the next call.
func (e *explainer) have(t *tensor.Tensor) *pixels {
	g, image := Geometry{}, t.IsImage()
	if image {
		g = Geometry{t.Layout, t.Height(), t.Width(), t.Channels()}
	}
	p := pixelsOf(t, g, image, e.memory)
	e.memory = p.v
	return p
}

// digest is that of what is compared: suspects that cannot be told apart have the same.
func (e *explainer) digest(l []Suspect, t *tensor.Tensor) [sha256.Size]byte {
	a, b := e.have(t).digest(), [sha256.Size]byte{}
	if w := e.want(l); w.v != nil {
		b = w.digest()
	}
	return sha256.Sum256(append(a[:], b[:]...))
}

// judge compares; nil if the shapes differ.
func (e *explainer) judge(l []Suspect, t *tensor.Tensor) *Explanation {
	if t.DType == tensor.Bytes {
		return nil
	}
	h, w := e.have(t), e.want(l)
	if w.v == nil || h.image != w.image || h.h != w.h || h.w != w.w || h.c != w.c || len(h.v) == 0 {
		return nil
	}
	x := &Explanation{Suspects: append([]Suspect{}, l...), Also: [][]string{}, Elements: int64(len(h.v)), DType: t.DType}
	sum, most := 0.0, 0.0
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
		most = max(most, math.Abs(a), math.Abs(b))
	}
	x.Mean = Number(sum / float64(len(h.v)))
	x.Equal = x.Differ == 0
	x.Rounding = t.DType == tensor.Float32 && float64(x.Max) <= roundings*most/(1<<23)
	return x
}

// memory bounds the tensors that a runner keeps, in bytes.
const memory = 256 << 20

// runner runs graphs that have much in common: what a step gave for the same
// inputs is kept.
type runner struct {
	limits codec.Limits
	image  *tensor.Tensor
	kept   map[[sha256.Size]byte][]*tensor.Tensor
	bytes  int64
}

func newRunner(limits codec.Limits, image *tensor.Tensor) *runner {
	return &runner{limits: limits, image: image, kept: map[[sha256.Size]byte][]*tensor.Tensor{}}
}

// computed is a column's tensor, and what tells it apart.
type computed struct {
	key [sha256.Size]byte
	t   *tensor.Tensor
}

// run gives a graph's first output. Steps that it does not need are not run.
func (r *runner) run(g *datagraph.Graph) (*tensor.Tensor, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	needed := make([]bool, len(g.Steps))
	wanted := map[string]bool{g.Outputs[0]: true}
	for i, s := range slices.Backward(g.Steps) {
		for _, c := range s.Out {
			if wanted[c] {
				needed[i] = true
				delete(wanted, c)
			}
		}
		if needed[i] {
			for _, c := range s.In {
				wanted[c] = true
			}
		}
	}
	columns := map[string]computed{g.Inputs[0].Name: {t: r.image}}
	for i, s := range g.Steps {
		if !needed[i] {
			continue
		}
		params, err := transforms.MarshalParams(s.Op)
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		fmt.Fprintf(h, "%s %s", transforms.InfoOf(s.Op).Name, params)
		one := &datagraph.Graph{}
		var in []*tensor.Tensor
		var names []string
		for j, c := range s.In {
			x := columns[c]
			h.Write(x.key[:])
			names = append(names, fmt.Sprintf("in%d", j))
			one.Inputs = append(one.Inputs, datagraph.Column{Name: names[j], Desc: x.t.Desc})
			in = append(in, x.t)
		}
		key := [sha256.Size]byte(h.Sum(nil))
		out, ok := r.kept[key]
		if !ok {
			for j := range s.Out {
				one.Outputs = append(one.Outputs, fmt.Sprintf("out%d", j))
			}
			one.Then(s.Op, names, one.Outputs)
			plan, err := datagraph.Compile(one, r.limits)
			if err != nil {
				return nil, err
			}
			made, err := plan.NewRunner().Run(in...)
			if err != nil {
				return nil, err
			}
			size := int64(0)
			for _, t := range made {
				out = append(out, t.Clone())
				size += t.Size()
			}
			if r.bytes += size; r.bytes > memory {
				clear(r.kept)
				r.bytes = size
			}
			r.kept[key] = out
		}
		for j, c := range s.Out {
			columns[c] = computed{sha256.Sum256(append(key[:], byte(j))), out[j]}
		}
	}
	return columns[g.Outputs[0]].t, nil
}
