package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ErrRandom is the error of a random op where there must be none.
var ErrRandom = errors.New("random op")

// RandomOps says what becomes of the random ops of a training in its inference graph.
type RandomOps uint8

// The choices.
const (
	// DropRandom leaves them out, with a Note of each.
	DropRandom RandomOps = iota
	// RefuseRandom is an error, of kind ErrRandom, that names them all.
	RefuseRandom
)

// Replacement gives the ops that stand in the place of a random op; none if it is
// only left out. Each has as many outputs as inputs, as the random op has.
type Replacement func(op transforms.Op) ([]transforms.Op, error)

// InferenceOptions are those of InferenceGraph.
type InferenceOptions struct {
	// Random says what becomes of random ops that Replace does not name. Default: DropRandom.
	Random RandomOps
	// Replace has, by the registered names of random ops, what stands in their
	// place; see Replacements. Default: nothing.
	Replace map[string]Replacement
	// Column is the source's column that the graph is given. Default: the one that a
	// map takes as an encoded image, or, if there is none, as an image.
	Column string
	// Outputs are the columns that the graph gives, in order. Default: all that are
	// made of the image, the side outputs of maps as side outputs; of those that are
	// the same without random ops between them one, with a Note of the others.
	Outputs []string
	// Store opens the sources' files, where a source must be opened to list its
	// columns. Default: store.Local.
	Store store.Opener
}

// Note is something of the training that is not in its inference graph.
type Note struct {
	Path string `json:"path"` // of the step in the definition: "batch/map/3"
	Op   string `json:"op"`   // the op's or the node's name
	// Params are the parameters that it had, as JSON.
	Params json.RawMessage `json:"params"`
	// ReplacedBy are the names of the ops that stand in its place; none if it was left out.
	ReplacedBy []string `json:"replaced_by"`
	Text       string   `json:"text"` // what became of it, for people
}

func (n Note) String() string { return fmt.Sprintf("%s (%s): %s", n.Path, n.Op, n.Text) }

// InferenceGraph is the part of a training's definition that makes a model's input
// of one image, the same each time: the graphs of its maps, one after another, from
// the source's column with the encoded image to the columns at the top. Nodes that
// choose, order, keep or stack samples (Shuffle, Batch, Cache, samplers, …) have no
// part in one sample, and columns that are not made of the image, such as labels, are
// left out. Random ops are dropped, replaced or refused, see InferenceOptions; of a
// random op that is a random thing and a certain one (Compose, RandomCropDecodeResize)
// the certain one stays. The notes tell of everything that is not in the graph, in
// the order of steps. Nothing is opened, unless a column could come from several sources.
//
// A definition is refused, by a *NodeError that names the node, where a column that
// is wanted is not a graph's result: a function of the user's, or a Filter, that looks at
// the image; a map on whole batches; datasets that are mixed but make the image in
// different ways; a map that takes other columns of the source too.
func InferenceGraph(ctx context.Context, d *Dataset, o InferenceOptions) (*datagraph.Graph, []Note, error) {
	for name := range o.Replace {
		if i, err := transforms.Lookup(name); err != nil {
			return nil, nil, fmt.Errorf("dataset: %w: replacement: %w", ErrParam, err)
		} else if _, ok := i.New().(transforms.Random); !ok {
			return nil, nil, fmt.Errorf("dataset: %w", paramErr("a replacement of %s, which is not random", name))
		}
	}
	t := &tracer{files: o.Store}
	if t.files == nil {
		t.files = store.Local
	}
	top, err := t.walk(ctx, d, "", 0)
	if err != nil {
		return nil, nil, err
	}
	path := InfoOf(d.Node).Name
	image, outputs, side, err := t.choose(ctx, top, o, path)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range t.checks {
		if l, err := c.scope.columns(ctx, c.columns); err != nil {
			return nil, nil, &NodeError{c.path, err}
		} else if i := slices.IndexFunc(l, func(x *traced) bool { return slices.Contains(x.sources, image) }); i >= 0 {
			if c.err != nil {
				return nil, nil, &NodeError{c.path, fmt.Errorf("column %q: %w", c.columns[i], c.err)}
			}
			t.notes = append(t.notes, c.note)
		}
	}
	e := &emitter{o: o}
	g, err := e.graph(path, image, outputs, side)
	if err != nil {
		return nil, nil, err
	}
	return g, append(e.notes, t.notes...), nil
}

// traced is a value of a sample: what a column has.
type traced struct {
	column  string      // of a source's: its name
	path    string      // of a source's: that of the source
	desc    tensor.Desc // of a source's: as the first map takes it
	by      *tracedStep // that made it; nil if it is a source's
	output  int         // of by
	side    bool        // a side output of its map
	sources []*traced   // columns of sources that it is made of
	err     *NodeError  // why no graph can give it
}

// tracedStep is a step of a map's graph.
type tracedStep struct {
	datagraph.Step
	path string // of the step in the definition
	in   []*traced
	out  []*traced
}

// scope is the columns at one place of a definition. Which ones a source has is not
// known; those that were asked for are.
type scope struct {
	names  []string
	known  map[string]*traced
	hidden map[string]bool // of those below
	below  []*scope        // where a name that is neither is looked for; of several it is in one
	either bool            // it is in all of below, of which any may give the sample
	closed bool            // there are no others than the known
	source Source          // of a leaf
	files  store.Opener    // of a leaf
	path   string
	axes   int        // those that batches put before the others
	spoilt *NodeError // what became of all columns since
}

func (s *scope) put(name string, t *traced) {
	if _, ok := s.known[name]; !ok {
		s.names = append(s.names, name)
	}
	s.known[name] = t
}

// above is the columns of one node above s.
func (s *scope) above(path string) *scope {
	return &scope{known: map[string]*traced{}, hidden: map[string]bool{}, below: []*scope{s}, path: path, axes: s.axes}
}

// get finds a column.
func (s *scope) get(ctx context.Context, name string) (*traced, error) {
	if t, ok := s.known[name]; ok {
		return t, nil
	}
	missing := defErr("no column %q, there are %q", name, s.list())
	if s.hidden[name] || s.closed {
		return nil, missing
	}
	if s.source != nil {
		t := &traced{column: name, path: s.path}
		t.sources = []*traced{t}
		s.put(name, t)
		return t, nil
	}
	var t *traced
	var err error
	switch {
	case s.either:
		t, err = s.getEither(ctx, name)
	case len(s.below) == 1:
		t, err = s.below[0].get(ctx, name)
	default:
		t, err = s.getOne(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	if s.spoilt != nil && t.err == nil {
		c := *t
		c.err = s.spoilt
		t = &c
	}
	s.put(name, t)
	return t, nil
}

// getOne finds a column of one of several datasets side by side.
func (s *scope) getOne(ctx context.Context, name string) (*traced, error) {
	var open []*scope
	for _, b := range s.below {
		if slices.Contains(b.list(), name) {
			return b.get(ctx, name)
		}
		if b.may(name) {
			open = append(open, b)
		}
	}
	if len(open) > 1 { // their sources must tell
		var have []*scope
		for _, b := range open {
			has, err := b.has(ctx, name)
			if err != nil {
				return nil, err
			}
			if has {
				have = append(have, b)
			}
		}
		open = have
	}
	if len(open) == 0 {
		return nil, defErr("no column %q, there are %q", name, s.list())
	}
	return open[0].get(ctx, name)
}

// may reports whether a source below could have a column of this name that is seen here.
func (s *scope) may(name string) bool {
	if s.closed || s.hidden[name] {
		return false
	}
	return s.source != nil || slices.ContainsFunc(s.below, func(b *scope) bool { return b.may(name) })
}

// has opens the sources below to see whether one has a column.
func (s *scope) has(ctx context.Context, name string) (bool, error) {
	if !s.may(name) {
		return false, nil
	}
	if s.source == nil {
		for _, b := range s.below {
			if ok, err := b.has(ctx, name); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	d, err := s.source.Open(ctx, s.files)
	if err != nil {
		return false, &NodeError{s.path, fmt.Errorf("opened to see whether it has the column %q: %w", name, err)}
	}
	has := slices.ContainsFunc(d.Columns(), func(c Column) bool { return c.Name == name })
	return has, d.Close()
}

// getEither finds a column that all of several datasets have, which must make it alike.
func (s *scope) getEither(ctx context.Context, name string) (*traced, error) {
	first, err := s.below[0].get(ctx, name)
	if err != nil {
		return nil, err
	}
	for i, b := range s.below[1:] {
		t, err := b.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if t.err != nil && first.err == nil {
			first = t
		}
		if first.err == nil && !alike(first, t) {
			c := *first
			c.err = &NodeError{s.path, defErr("column %q: inputs 0 and %d make it in different ways", name, i+1)}
			first = &c
		}
	}
	return first, nil
}

// alike reports whether two values are made in the same way of columns of the same name.
func alike(a, b *traced) bool {
	if a.by == nil || b.by == nil {
		return a.by == nil && b.by == nil && a.column == b.column && (a.err != nil || a.sources[0].desc == b.sources[0].desc)
	}
	if a.by == b.by {
		return a.output == b.output
	}
	x, errX := transforms.MarshalParams(a.by.Op)
	y, errY := transforms.MarshalParams(b.by.Op)
	if errX != nil || errY != nil || a.output != b.output || reflect.TypeOf(a.by.Op) != reflect.TypeOf(b.by.Op) || string(x) != string(y) {
		return false
	}
	return slices.EqualFunc(a.by.in, b.by.in, alike)
}

func (s *scope) columns(ctx context.Context, names []string) ([]*traced, error) {
	l := make([]*traced, len(names))
	for i, n := range names {
		var err error
		if l[i], err = s.get(ctx, n); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// list is the names that are known.
func (s *scope) list() []string {
	l := slices.Clone(s.names)
	if s.closed {
		return l
	}
	for _, b := range s.below {
		for _, n := range b.list() {
			if !s.hidden[n] && !slices.Contains(l, n) {
				l = append(l, n)
			}
		}
	}
	return l
}

// tracer follows columns up through a definition.
type tracer struct {
	files  store.Opener
	checks []check
	notes  []Note
}

// check is what is to be said, or refused, if one of the columns is made of the image.
type check struct {
	path    string
	scope   *scope
	columns []string
	err     error
	note    Note
}

// walk gives the columns above a node.
func (t *tracer) walk(ctx context.Context, d *Dataset, above string, depth int) (*scope, error) {
	if d == nil || d.Node == nil {
		return nil, &NodeError{above, defErr("an input is nil")}
	}
	path := above + InfoOf(d.Node).Name
	fail := func(err error) (*scope, error) { return nil, &NodeError{path, err} }
	if depth > deepest {
		return fail(defErr("nodes %d deep, want at most %d", depth, deepest))
	}
	if err := d.Node.Validate(); err != nil {
		return fail(err)
	}
	if src, ok := d.Node.(Source); ok {
		return &scope{known: map[string]*traced{}, source: src, files: t.files, path: path}, nil
	}
	var in []*scope
	for i, x := range d.In {
		prefix := path + "/"
		if len(d.In) > 1 {
			prefix += strconv.Itoa(i) + ":"
		}
		s, err := t.walk(ctx, x, prefix, depth+1)
		if err != nil {
			return nil, err
		}
		in = append(in, s)
	}
	several := false
	switch d.Node.(type) {
	case *Zip, *Concat, *Mix, *Interleave:
		several = true
	}
	if len(in) == 0 || len(in) > 1 && !several {
		return fail(defErr("%d inputs, want 1", len(in)))
	}
	s := in[0].above(path)
	var err error
	switch n := d.Node.(type) {
	case *Map:
		err = t.mapped(ctx, s, n)
	case *Func:
		err = computed(ctx, s, n.In, n.Out, "the function "+called(n.Name)+" makes it, which a graph cannot")
	case *FlatMap:
		err = computed(ctx, s, n.In, n.Out, "the function "+called(n.Name)+" makes several samples of one, which a graph cannot")
		s.closed = true
	case *Filter:
		t.checks = append(t.checks, check{path: path, scope: in[0], columns: n.In, err: defErr("the predicate %s looks at it, and a graph leaves no image out", called(n.Name))})
	case *Project:
		var l []*traced
		if l, err = in[0].columns(ctx, n.Columns); err == nil {
			for i, c := range n.Columns {
				s.put(c, l[i])
			}
		}
		s.closed = true
	case *Rename:
		var l []*traced
		if l, err = in[0].columns(ctx, n.From); err == nil {
			for _, c := range n.From {
				s.hidden[c] = true
			}
			for i, c := range n.To {
				s.put(c, l[i])
			}
		}
	case *Batch:
		t.batch(s, in[0], n, n.Pad)
		if n.f != nil || n.PerBatch != "" {
			s.spoilt = &NodeError{path, defErr("the function %s changes the samples of a batch, which a graph cannot", called(n.PerBatch))}
		}
	case *BucketBatch:
		t.batch(s, in[0], n, n.Pad)
	case *Unbatch:
		if s.axes--; s.axes < 0 {
			s.axes = 0
			s.spoilt = &NodeError{path, defErr("it makes several samples of one, which a graph cannot")}
		}
	case *Zip:
		s.below = in
	case *Concat, *Mix, *Interleave:
		s.below, s.either = in, true
	case *ShuffleBuffer, *Cache, *FileCache, *Watch, router:
		// They choose, order or keep samples.
	default:
		err = defErr("what it does to a sample is not known")
	}
	if err != nil {
		return fail(err)
	}
	return s, nil
}

// called is a function's name for people.
func called(name string) string {
	if name == "" {
		return "(which has no name)"
	}
	return strconv.Quote(name)
}

// batch is the columns above one that stacks samples.
func (t *tracer) batch(s, in *scope, n Node, pad []PadColumn) {
	s.axes++
	params, err := json.Marshal(n)
	if err != nil {
		params = nil
	}
	for _, p := range pad {
		t.checks = append(t.checks, check{path: s.path, scope: in, columns: []string{p.Column}, note: Note{
			Path: s.path, Op: InfoOf(n).Name, Params: params, ReplacedBy: []string{},
			Text: fmt.Sprintf("left out: it pads the column %s to %v, where -1 is the largest of the batch", p.Column, p.Shape),
		}})
	}
}

// computed puts the columns that a function of the user's makes.
func computed(ctx context.Context, s *scope, in []string, out []OutColumn, why string) error {
	from, err := s.below[0].columns(ctx, in)
	if err != nil {
		return err
	}
	for _, c := range in {
		s.hidden[c] = true
	}
	for _, c := range out {
		s.put(c.Name, &traced{sources: union(from), err: &NodeError{s.path, defErr("column %q: %s", c.Name, why)}})
	}
	return nil
}

func union(l []*traced) (sources []*traced) {
	for _, t := range l {
		for _, s := range t.sources {
			if !slices.Contains(sources, s) {
				sources = append(sources, s)
			}
		}
	}
	return sources
}

// mapped puts the columns that a map makes.
func (t *tracer) mapped(ctx context.Context, s *scope, n *Map) error {
	g := n.Graph
	names := n.In
	if len(names) == 0 {
		for _, c := range g.Inputs {
			names = append(names, c.Name)
		}
	}
	in, err := s.below[0].columns(ctx, names)
	if err != nil {
		return err
	}
	bound := map[string]*traced{}
	for i, c := range g.Inputs {
		bound[c.Name] = in[i]
		if in[i].by == nil && in[i].err == nil && in[i].sources[0].desc == (tensor.Desc{}) {
			in[i].sources[0].desc = c.Desc
		}
		s.hidden[names[i]] = true
	}
	for i, st := range g.Steps {
		m := &tracedStep{Step: st, path: fmt.Sprintf("%s/%d", s.path, i)}
		for _, c := range st.In {
			m.in = append(m.in, bound[c])
		}
		for j, c := range st.Out {
			v := &traced{by: m, output: j, sources: union(m.in)}
			for _, x := range m.in {
				if x.err != nil && v.err == nil {
					v.err = x.err
				}
			}
			if s.axes > 0 && v.err == nil {
				v.err = &NodeError{s.path, defErr("its graph takes whole batches")}
			}
			m.out = append(m.out, v)
			bound[c] = v
		}
	}
	for i, c := range slices.Concat(g.Outputs, g.SideOutputs) {
		v := *bound[c] // which may be an output twice, under two names
		v.side = i >= len(g.Outputs)
		if len(n.Out) > 0 {
			c = n.Out[i]
		}
		s.put(c, &v)
	}
	return nil
}

// named is a value with the name of its column at the top.
type named struct {
	name string
	*traced
}

// choose finds the column with the image, and the outputs.
func (t *tracer) choose(ctx context.Context, top *scope, o InferenceOptions, path string) (image *traced, outputs, side []named, err error) {
	fail := func(err error) (*traced, []named, []named, error) { return nil, nil, nil, &NodeError{path, err} }
	names := o.Outputs
	if len(names) == 0 {
		names = top.list()
	}
	l, err := top.columns(ctx, names)
	if err != nil {
		return fail(err)
	}
	var candidates []*traced
	for _, is := range []func(s *traced) bool{
		func(s *traced) bool { return s.column == o.Column },
		func(s *traced) bool { return o.Column == "" && s.desc == tensor.Encoded() },
		func(s *traced) bool { return o.Column == "" && s.desc.IsImage() },
	} {
		for _, s := range union(l) {
			if is(s) {
				candidates = append(candidates, s)
			}
		}
		if len(candidates) > 0 {
			break
		}
	}
	switch {
	case len(candidates) == 0 && o.Column != "":
		return fail(defErr("of the columns %q none is made of the source's column %q", names, o.Column))
	case len(candidates) == 0:
		return fail(defErr("of the columns %q maps make none of an image of a source", names))
	case len(candidates) > 1:
		var have []string
		for _, s := range candidates {
			have = append(have, fmt.Sprintf("%s of %s", s.column, s.path))
		}
		return fail(defErr("the graph has one image, and there are %s: choose by Column, or by Outputs that are made of one", strings.Join(have, ", ")))
	}
	image = candidates[0]
	for i, v := range l {
		switch {
		case !slices.Contains(v.sources, image):
			if len(o.Outputs) > 0 {
				return fail(defErr("column %q is not made of the image", names[i]))
			}
			continue
		case v.err != nil:
			return nil, nil, nil, v.err
		case len(v.sources) > 1:
			var others []string
			for _, s := range v.sources {
				if s != image {
					others = append(others, strconv.Quote(s.column))
				}
			}
			return fail(defErr("column %q is made of the image and of the source's %s", names[i], strings.Join(others, ", ")))
		}
		if v.side && len(o.Outputs) == 0 {
			side = append(side, named{names[i], v})
		} else {
			outputs = append(outputs, named{names[i], v})
		}
	}
	if len(outputs) == 0 {
		outputs, side = side, nil
	}
	return image, outputs, side, nil
}

// graphValue is a value of the inference graph.
type graphValue struct {
	name  string
	desc  tensor.Desc
	first int // the step that writes it, -1 for the input
	until int // the last step that reads it
}

// emitter writes the graph.
type emitter struct {
	o      InferenceOptions
	steps  []graphStep
	notes  []Note
	random []error
}

type graphStep struct {
	op      transforms.Op
	in, out []*graphValue
	names   []string // of the outputs in the map's graph
}

// atEnd is the number of a step behind all.
const atEnd = 1 << 30

func (e *emitter) graph(path string, image *traced, outputs, side []named) (*datagraph.Graph, error) {
	var order []*tracedStep
	seen := map[*tracedStep]bool{}
	var visit func(v *traced)
	visit = func(v *traced) {
		if v.by == nil || seen[v.by] {
			return
		}
		seen[v.by] = true
		for _, x := range v.by.in {
			visit(x)
		}
		order = append(order, v.by)
	}
	for _, v := range slices.Concat(outputs, side) {
		visit(v.traced)
	}
	in := &graphValue{name: image.column, desc: image.desc, first: -1}
	values := map[*tracedStep][]*graphValue{}
	at := func(v *traced) *graphValue {
		if v.by == nil {
			return in
		}
		return values[v.by][v.output]
	}
	for _, s := range order {
		var from []*graphValue
		for _, v := range s.in {
			from = append(from, at(v))
		}
		out, err := e.add(s.Op, s.path, from, s.Out)
		if err != nil {
			return nil, err
		}
		values[s] = out
	}
	if len(e.random) > 0 {
		return nil, errors.Join(e.random...)
	}

	g := &datagraph.Graph{Inputs: []datagraph.Column{{Desc: in.desc}}}
	taken := []*graphValue{}
	// An output has its column's name from the step on that makes it.
	for i, v := range slices.Concat(outputs, side) {
		x := at(v.traced)
		if slices.Contains(taken, x) {
			if len(e.o.Outputs) > 0 {
				return nil, fmt.Errorf("dataset: %w", defErr("the outputs %q and %q are the same without the random ops between them", x.name, v.name))
			}
			e.notes = append(e.notes, Note{Path: path, Op: "column", Params: json.RawMessage("{}"), ReplacedBy: []string{}, Text: fmt.Sprintf("%s is left out: it is the same as %s", v.name, x.name)})
			continue
		}
		x.name, x.until = v.name, atEnd
		taken = append(taken, x)
		if i < len(outputs) {
			g.Outputs = append(g.Outputs, v.name)
		} else {
			g.SideOutputs = append(g.SideOutputs, v.name)
		}
	}
	if !slices.Contains(taken, in) {
		in.name = free(in, taken, in.name)
		taken = append(taken, in)
	}
	g.Inputs[0].Name = in.name
	for _, s := range e.steps {
		for j, v := range s.out {
			if !slices.Contains(taken, v) {
				v.name = free(v, taken, s.names[j])
				taken = append(taken, v)
			}
		}
	}
	for _, s := range e.steps {
		g.Then(s.op, valueNames(s.in), valueNames(s.out))
	}
	if _, err := g.Infer(); err != nil {
		var all []string
		for _, n := range e.notes {
			all = append(all, n.String())
		}
		if len(all) > 0 {
			return nil, fmt.Errorf("dataset: the inference graph cannot be: %w (%s)", err, strings.Join(all, "; "))
		}
		return nil, fmt.Errorf("dataset: the inference graph cannot be: %w", err)
	}
	return g, nil
}

func valueNames(l []*graphValue) (names []string) {
	for _, v := range l {
		names = append(names, v.name)
	}
	return names
}

// free is a name that no value has that lives at the same time as v: the wanted one if it can be.
func free(v *graphValue, taken []*graphValue, want string) string {
	name := want
	for i := 2; ; i++ {
		if !slices.ContainsFunc(taken, func(t *graphValue) bool {
			// A value that nobody reads is written all the same.
			return t.name == name && t.first < max(v.until, v.first+1) && v.first < max(t.until, t.first+1)
		}) {
			return name
		}
		name = want + "_" + strconv.Itoa(i)
	}
}

// add appends an op, or what stands in its place.
func (e *emitter) add(op transforms.Op, path string, in []*graphValue, names []string) ([]*graphValue, error) {
	random, ok := op.(transforms.Random)
	if !ok {
		return e.append(op, path, in, names)
	}
	if c, ok := op.(*transforms.Compose); ok { // not random itself
		return e.addAll(c.Ops, path, in, names)
	}
	info := transforms.InfoOf(op)
	var certain []transforms.Op // what is not random about it
	if d, ok := op.(*transforms.RandomCropDecodeResize); ok {
		certain = []transforms.Op{&transforms.Decode{
			Color: d.Color, Alpha: d.Alpha, Gray16: d.Gray16, Refuse: d.Refuse, Orientation: d.Orientation, Damage: d.Damage,
		}}
	}
	replace, replaced := e.o.Replace[info.Name]
	if replaced {
		var err error
		if certain, err = replace(op); err != nil {
			return nil, &NodeError{path, err}
		}
		for _, r := range certain {
			if _, ok := r.(transforms.Random); ok {
				return nil, &NodeError{path, fmt.Errorf("%w %s replaced by another one, %s", ErrRandom, info.Name, transforms.InfoOf(r).Name)}
			}
		}
	} else if e.o.Random == RefuseRandom {
		e.random = append(e.random, &NodeError{path, fmt.Errorf("%w %s: an inference graph has none: drop it, or replace it", ErrRandom, info.Name)})
		// Go on, to name them all.
	}
	note := Note{Path: path, Op: info.Name, ReplacedBy: []string{}}
	var err error
	if note.Params, err = json.Marshal(op); err != nil {
		return nil, &NodeError{path, err}
	}
	note.Text = "left out"
	for _, r := range certain {
		note.ReplacedBy = append(note.ReplacedBy, transforms.InfoOf(r).Name)
	}
	if len(certain) > 0 {
		note.Text = "replaced by " + strings.Join(note.ReplacedBy, ", ")
	}
	out, err := e.addAll(certain, path, in, names)
	if err != nil {
		return nil, err
	}
	if size := lostSize(random, in, out); size != "" && len(e.random) == 0 {
		note.Text += "; the image had " + size + " here in training: state the size for inference by a replacement, or with ops of your own"
	}
	e.notes = append(e.notes, note)
	return out, nil
}

func (e *emitter) addAll(ops []transforms.Op, path string, in []*graphValue, names []string) ([]*graphValue, error) {
	var err error
	for _, op := range ops {
		if in, err = e.add(op, path, in, names); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// append adds an op that is not random.
func (e *emitter) append(op transforms.Op, path string, in []*graphValue, names []string) ([]*graphValue, error) {
	descs := make([]tensor.Desc, len(in))
	for i, v := range in {
		descs[i] = v.desc
		v.until = len(e.steps)
	}
	made := make([]tensor.Desc, len(names))
	if err := op.Infer(made, descs); err != nil && len(e.random) == 0 {
		return nil, &NodeError{path, fmt.Errorf("%s in the inference graph: %w", transforms.InfoOf(op).Name, err)}
	}
	s := graphStep{op: op, in: in, names: names}
	for _, d := range made {
		s.out = append(s.out, &graphValue{desc: d, first: len(e.steps), until: len(e.steps)})
	}
	e.steps = append(e.steps, s)
	return s.out, nil
}

// lostSize is the size that a random op gave to images of any size, if what stands
// in its place does not: "224 x 224".
func lostSize(op transforms.Op, in, out []*graphValue) string {
	have := make([]tensor.Desc, len(in))
	for i, v := range in {
		have[i] = v.desc
	}
	want := make([]tensor.Desc, len(in))
	if err := op.Infer(want, have); err != nil {
		return ""
	}
	for i, w := range want {
		if !w.IsImage() || !out[i].desc.IsImage() || w.Height() == tensor.Unknown || w.Width() == tensor.Unknown {
			continue
		}
		if o := out[i].desc; o.Height() != w.Height() || o.Width() != w.Width() {
			return fmt.Sprintf("%d x %d (height x width)", w.Height(), w.Width())
		}
	}
	return ""
}

// NamedReplacement is a Replacement that many trainings want, for some ops.
type NamedReplacement struct {
	Name string
	For  []string // the random ops that it may replace
	Doc  string
	With Replacement
}

// Replacements are usual evaluations of models that were trained with random crops.
// None is used unless InferenceOptions.Replace says so.
func Replacements() []NamedReplacement {
	return []NamedReplacement{
		{
			Name: "center_crop", For: []string{"random_crop"},
			Doc: "the middle of the image, of the same size",
			With: func(op transforms.Op) ([]transforms.Op, error) {
				o, ok := op.(*transforms.RandomCrop)
				if !ok {
					return nil, notFor("center_crop", op)
				}
				return []transforms.Op{transforms.NewCenterCrop(o.Height, o.Width)}, nil
			},
		},
		{
			Name: "resize_center_crop", For: []string{"random_resized_crop", "random_crop_decode_resize"},
			Doc: "the image scaled to cover 8/7 of the size (256 for 224), and its middle",
			With: resized("resize_center_crop", func(h, w int) []transforms.Op {
				r := &transforms.Resize{Fit: transforms.FitCover, Height: h * 8 / 7, Width: w * 8 / 7}
				if h == w {
					r = &transforms.Resize{Fit: transforms.FitShortest, Edge: h * 8 / 7}
				}
				return []transforms.Op{r, transforms.NewCenterCrop(h, w)}
			}),
		},
		{
			Name: "squash", For: []string{"random_resized_crop", "random_crop_decode_resize"},
			Doc: "the whole image scaled to the size, whatever its aspect",
			With: resized("squash", func(h, w int) []transforms.Op {
				return []transforms.Op{&transforms.Resize{Fit: transforms.FitExact, Height: h, Width: w}}
			}),
		},
	}
}

// resized replaces a random resized crop by ops of which the first is a Resize, which
// gets its arithmetic.
func resized(name string, with func(h, w int) []transforms.Op) Replacement {
	return func(op transforms.Op) ([]transforms.Op, error) {
		var before []transforms.Op
		var c transforms.RandomResizedCrop
		switch o := op.(type) {
		case *transforms.RandomResizedCrop:
			c = *o
		case *transforms.RandomCropDecodeResize:
			before = []transforms.Op{&transforms.Decode{
				Color: o.Color, Alpha: o.Alpha, Gray16: o.Gray16, Refuse: o.Refuse, Orientation: o.Orientation, Damage: o.Damage,
			}}
			c = transforms.RandomResizedCrop{
				Height: o.Height, Width: o.Width, Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
			}
		default:
			return nil, notFor(name, op)
		}
		ops := with(c.Height, c.Width)
		r := ops[0].(*transforms.Resize)
		r.Interpolation, r.Backend, r.NoAntialias = c.Interpolation, c.Backend, c.NoAntialias
		return append(before, ops...), nil
	}
}

func notFor(name string, op transforms.Op) error {
	return paramErr("the replacement %s is not for %s", name, transforms.InfoOf(op).Name)
}
