package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// tracer follows the columns up through a definition.
type tracer struct {
	files  store.Opener
	checks []check
	notes  []Note
}

// check is an error or a note that applies if one of the columns is made of the
// image.
type check struct {
	path    string
	scope   *scope
	columns []string
	err     error // nil: add note
	note    Note
}

// walk returns the columns above a node.
func (t *tracer) walk(ctx context.Context, d *Dataset, above string, depth int) (*scope, error) {
	if d == nil || d.Node == nil {
		return nil, &NodeError{above, defErr("an input is nil")}
	}
	path := above + InfoOf(d.Node).Name
	fail := func(err error) (*scope, error) { return nil, &NodeError{path, err} }
	if depth > maxDepth {
		return fail(defErr("nodes %d deep, want at most %d", depth, maxDepth))
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
	if len(in) == 0 || len(in) > 1 && !traitsOf(d.Node).joins {
		return fail(defErr("%d inputs, want 1", len(in)))
	}
	s := in[0].above(path)
	s.below = in
	switch n := d.Node.(type) {
	case tracing:
		if err := n.trace(ctx, t, s); err != nil {
			return fail(err)
		}
	case op, Sink:
		// It only chooses, orders or keeps samples.
	default:
		return fail(defErr("its effect on a sample is unknown"))
	}
	return s, nil
}

// called returns a function's name for messages.
func called(name string) string {
	if name == "" {
		return "(unnamed)"
	}
	return strconv.Quote(name)
}

// batch puts the effects of a node that stacks samples into s.
func (t *tracer) batch(s *scope, n Node, pad []PadColumn) {
	s.axes++
	params, err := json.Marshal(n)
	if err != nil {
		params = nil
	}
	for _, p := range pad {
		t.checks = append(t.checks, check{path: s.path, scope: s.below[0], columns: []string{p.Column}, note: Note{
			Path: s.path, Op: InfoOf(n).Name, Params: params, ReplacedBy: []string{},
			Text: fmt.Sprintf("left out: it pads the column %s to %v; -1 is the largest of the batch", p.Column, p.Shape),
		}})
	}
}

// computed puts the columns that a user's function makes into s.
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

// traceMap puts the columns that a map makes into s.
func (t *tracer) traceMap(ctx context.Context, s *scope, n *Map) error {
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
			if _, ok := st.Op.(*transforms.PolicyIndex); ok {
				v.sources = nil // it belongs to the training, as a label does
			}
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
		for _, c := range st.Moves {
			bound[c] = &traced{sources: bound[c].sources, err: &NodeError{m.path, defErr("column %q moves with the image, which an inference graph does not support", c)}}
		}
	}
	for i, c := range slices.Concat(g.Outputs, g.SideOutputs) {
		v := *bound[c] // a copy, since c may be an output twice, under two names
		v.side = i >= len(g.Outputs)
		v.batch = datagraph.Batching{}
		for _, b := range g.Batch {
			if b.Column == c {
				v.batch = b.Batching
			}
		}
		if len(n.Out) > 0 {
			c = n.Out[i]
		}
		s.put(c, &v)
	}
	return nil
}

// named is a value and the name of its column at the top.
type named struct {
	name string
	*traced
}

// choose returns the column with the image, and the outputs.
func choose(ctx context.Context, top *scope, o InferenceOptions, path string) (image *traced, outputs, side []named, err error) {
	fail := func(err error) (*traced, []named, []named, error) { return nil, nil, nil, &NodeError{path, err} }
	names := o.Outputs
	if len(names) == 0 {
		names = top.list()
	}
	l, err := top.columns(ctx, names)
	if err != nil {
		return fail(err)
	}
	image, err = chooseImage(names, l, o)
	if err != nil {
		return fail(err)
	}
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

// chooseImage returns the source's column that is the image. l are the values
// of the columns names.
func chooseImage(names []string, l []*traced, o InferenceOptions) (*traced, error) {
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
		return nil, defErr("none of the columns %q is made of the source's column %q", names, o.Column)
	case len(candidates) == 0:
		return nil, defErr("no map makes one of the columns %q of a source's image", names)
	case len(candidates) > 1:
		var have []string
		for _, s := range candidates {
			have = append(have, fmt.Sprintf("%s of %s", s.column, s.path))
		}
		return nil, defErr("the graph takes one image, the definition has %s: set Column, or Outputs that are made of one image", strings.Join(have, ", "))
	}
	return candidates[0], nil
}
